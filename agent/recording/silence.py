"""Sound that is taken out of a recording again, so that the record still proves the rest.

The event ``silenced`` says from which byte to which (of the sound, behind the file's header) the
caller is silent, and the new hashes of the spans that earlier events had hashed:
``{"from": 8000, "to": 24000, "spans": [{"from": 0, "to": 16000, "sha256": "…"}, …]}``. The agent's
side stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agent.recording.wave import CALLER, ROW_BYTES
from telephony.g711 import ULAW_SILENCE


class Span(NamedTuple):
    """Bytes ``low`` to ``high`` of the sound, and their hash when they are silent."""

    low: int
    high: int
    sha256: str


@dataclass(frozen=True)
class Silence:
    """Bytes ``low`` to ``high`` of the sound are about to be silent; ``spans`` were hashed."""

    low: int
    high: int
    spans: list[Span]
    _overwrite: Callable[[int, int], None]

    @property
    def fields(self) -> dict[str, Any]:
        """What the event says."""
        spans = [{"from": one.low, "to": one.high, "sha256": one.sha256} for one in self.spans]
        return {"from": self.low, "to": self.high, "spans": spans}

    def done(self) -> None:
        """Overwrite the sound in the file."""
        self._overwrite(self.low, self.high)


def blanked(data: bytes, begin: int, low: int, high: int) -> bytes:
    """``data``, the sound's bytes from ``begin`` on, with the caller silent in [low, high)."""
    rows = np.frombuffer(data, np.uint8).copy()
    first, last = max(low - begin, 0), min(max(high - begin, 0), rows.size)
    rows[first + CALLER : last : ROW_BYTES] = ULAW_SILENCE
    return rows.tobytes()
