"""The business's rules for a hand-over, apart from what decides by them: settings load fast."""

from __future__ import annotations

from dataclasses import dataclass

NOBODY = "I'm not sure about that. What else can I help you with?"
"""The refusal where there is nobody to hand over to."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The business's rules; see :class:`agent.handover_settings.HandoverSettings`."""

    to: str = ""
    voicemail_to: str = ""
    after_refusals: int = 1
    on_request: bool = True
    closed: str = ""
    unsure: str = NOBODY
    emergency: str = ""
    emergency_to: str = ""
