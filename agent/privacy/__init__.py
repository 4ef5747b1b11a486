"""What is personal in a call, kept out of records, logs and exported cases.

``docs/privacy.md`` says what is found, how well, and what is kept.
"""

from __future__ import annotations

from agent.privacy.events import Redactor, redact_event
from agent.privacy.kept import kept_values
from agent.privacy.kinds import Found, Kind, Redacted
from agent.privacy.redacting import find, redact
from agent.privacy.stand_in import stand_ins

__all__ = [
    "Found",
    "Kind",
    "Redacted",
    "Redactor",
    "find",
    "kept_values",
    "redact",
    "redact_event",
    "stand_ins",
]
