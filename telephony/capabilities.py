"""What each wire can do, in one shape; ``docs/wires.md`` is generated from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One wire's row. Strings are shown to people as they stand.

    ``audio`` names the formats in both directions; ``clear`` is what drops audio that the far end
    has queued (empty: nothing does, the agent paces); ``marks`` whether the far end says what it
    has played; ``hang_up`` and ``transfer`` are by what they are done (empty: not at all);
    ``summary`` whether the person who takes a transferred call hears one; ``checked_by`` is what
    proves that the far end is who it says; ``tested`` against what, here.
    """

    name: str
    audio: str
    clear: str = ""
    marks: bool = False
    digits_in: str = ""
    digits_out: str = ""
    hang_up: str = ""
    transfer: str = ""
    summary: bool = False
    dials: str = ""
    caller_number: bool = False
    checked_by: str = ""
    tested: Literal["the real peer", "our fake of it"] = "our fake of it"
