"""What a replay finds: the fields of turns that came out differently, and what stands behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent.replay.case import Pins

Mode = Literal["text", "audio"]


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one turn that came out differently.

    ``why`` is what is known to stand behind it: a floor, a passage, or a rule that is another now.
    """

    turn: int
    heard: str
    field: str
    before: Any
    after: Any
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """One conversation's outcome.

    ``pinned`` are the models, floors and documents that are others now, each in one line; alone
    they are no change. ``known`` maps the turns that are known to be wrong to why, ``new`` are
    those of which nothing was expected. ``seconds`` is how long the call lasts, ``took_s`` how much
    of one core's time the replay takes. ``results`` are the turns as they came out, in the shape
    of a case's, ``pins`` what they rest on.
    """

    path: Path
    turns: int
    changes: tuple[Change, ...]
    mode: Mode = "text"
    pinned: tuple[str, ...] = ()
    known: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0
    took_s: float = 0.0
    new: tuple[int, ...] = ()
    results: tuple[dict[str, Any], ...] = ()
    pins: Pins = field(default_factory=Pins)
