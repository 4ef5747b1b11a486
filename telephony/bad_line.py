"""A bad line, without I/O: what happens to a caller's audio and frames on the way to the agent.

For trying an agent by hand (``frontdesk call --loss 10 --jitter 60``) and for the tests. The same
seed gives the same line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frontdesk import ConfigError
from telephony.far_end import Message
from telephony.g711 import ulaw_decode, ulaw_encode

FRAME_MS = 20
FRAME_SAMPLES = 160
_FULL_SCALE = 32768


@dataclass(frozen=True, slots=True)
class BadLine:
    """How bad the line is. All zeros: a perfect one.

    ``loss_percent`` of the frames never arrive; each of the others arrives up to ``jitter_ms``
    late, never before the one ahead of it, so that they come in bursts. ``gap_ms`` of frames is
    lost at once every two seconds, from the first second on. ``noise_db`` is the level of white
    noise added (dB of full scale, RMS; None for none), ``gain_db`` what the audio is turned up or
    down by before it, ``offset`` a constant added to each sample (of 32,768); what passes full
    scale is clipped.
    """

    loss_percent: float = 0.0
    jitter_ms: float = 0.0
    gap_ms: float = 0.0
    noise_db: float | None = None
    gain_db: float = 0.0
    offset: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a line that cannot be.

        Raises:
            ConfigError: if a number is out of its range.
        """
        if not 0 <= self.loss_percent <= 100:
            raise ConfigError("--loss takes 0 to 100 (percent of the frames)")
        if not 0 <= self.jitter_ms <= 2000 or not 0 <= self.gap_ms <= 1000:
            raise ConfigError("--jitter takes 0 to 2000, --gap 0 to 1000 (milliseconds)")
        if self.noise_db is not None and not -96 <= self.noise_db <= 0:
            raise ConfigError("--noise takes -96 to 0 (dB of full scale)")
        if not -60 <= self.gain_db <= 60:
            raise ConfigError("--gain takes -60 to 60 (dB)")
        if not -_FULL_SCALE < self.offset < _FULL_SCALE:
            raise ConfigError("--offset takes -32767 to 32767")

    @property
    def perfect(self) -> bool:
        """Whether it leaves everything as it is."""
        return self == BadLine(seed=self.seed)

    def heard(self, audio: NDArray[np.int16], frame: int = 0) -> NDArray[np.int16]:
        """``audio`` (int16, one-dimensional) with gain, noise and offset, clipped.

        ``frame`` is its number if it is one, so that no two have the same noise.
        """
        if self.noise_db is None and not self.gain_db and not self.offset:
            return audio
        wave = audio.astype(np.float64) * 10 ** (self.gain_db / 20)
        if self.noise_db is not None:
            level = _FULL_SCALE * 10 ** (self.noise_db / 20)
            wave += np.random.default_rng([self.seed, 1, frame]).normal(0, level, audio.size)
        return np.clip(np.rint(wave + self.offset), -32768, 32767).astype(np.int16)

    def lost(self, frame: int) -> bool:
        """Whether frame number ``frame`` never arrives."""
        if (frame * FRAME_MS + 1000) % 2000 < self.gap_ms:
            return True
        return bool(self._chance(frame, 2) * 100 < self.loss_percent)

    def delay_ms(self, frame: int) -> float:
        """How late frame number ``frame`` is, before those ahead of it are waited for."""
        return self.jitter_ms * self._chance(frame, 3)

    def heard_with_gaps(self, audio: NDArray[np.int16]) -> NDArray[np.int16]:
        """``audio`` with silence for the frames that get lost, where there is no wire."""
        out = self.heard(audio).copy()
        for frame in range(-(-audio.size // FRAME_SAMPLES)):
            if self.lost(frame):
                out[frame * FRAME_SAMPLES : (frame + 1) * FRAME_SAMPLES] = 0
        return out

    def _chance(self, frame: int, what: int) -> float:
        return float(np.random.default_rng([self.seed, what, frame]).random())


class Transit:
    """The frames of one call on their way over a bad line."""

    def __init__(self, line: BadLine) -> None:
        self._line = line
        self._on_the_way: deque[tuple[float, Sequence[Message]]] = deque()
        self._latest_ms = 0.0
        self._carried: dict[int, bytes] = {}

    def carried(self, frame: int, payload: bytes) -> bytes | None:
        """What becomes of the µ-law ``payload`` of frame number ``frame``; None: it is lost."""
        if self._line.lost(frame):
            return None
        payload = ulaw_encode(self._line.heard(ulaw_decode(payload), frame))
        self._carried[frame] = payload
        return payload

    def send(self, frame: int, messages: Sequence[Message], now_ms: float) -> None:
        """Frame number ``frame`` leaves, in ``messages``, at ``now_ms``."""
        self._latest_ms = max(self._latest_ms, now_ms + self._line.delay_ms(frame))
        self._on_the_way.append((self._latest_ms, messages))

    def arrived(self, now_ms: float) -> list[Message]:
        """The messages that have arrived by ``now_ms``, in the order sent, once each."""
        messages: list[Message] = []
        while self._on_the_way and self._on_the_way[0][0] <= now_ms:
            messages += self._on_the_way.popleft()[1]
        return messages

    @property
    def next_ms(self) -> float | None:
        """When the next message arrives."""
        return self._on_the_way[0][0] if self._on_the_way else None

    def recording(self, length: int) -> NDArray[np.int16]:
        """The first ``length`` samples of what was carried: int16, zeros for what was lost."""
        pcm = np.zeros(length, np.int16)
        for frame, payload in self._carried.items():
            start = frame * FRAME_SAMPLES
            pcm[start : start + FRAME_SAMPLES] = ulaw_decode(payload)[: max(0, length - start)]
        return pcm
