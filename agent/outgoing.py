"""What the agent says in a call that it has placed, before there is a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from frontdesk import Spoken


@dataclass(frozen=True, slots=True)
class Outgoing:
    """``greeting`` is for a person who has answered, ``message`` for a voicemail after its beep.

    ``who`` is told to a screening service: who calls, and why.
    """

    greeting: Spoken
    message: Spoken
    who: Spoken
