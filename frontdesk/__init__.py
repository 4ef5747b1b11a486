"""What every other package shares: errors, the words a voice may say, and model files.

This package imports none of the others. ``rag``, ``speech`` and ``telephony`` import only this
one; ``agent`` composes them all.
"""

from frontdesk.errors import (
    ConfigError,
    EmbedderError,
    ForbiddenError,
    FrontdeskError,
    KnowledgeBaseError,
    ModelFileError,
    SpeechError,
    TransferError,
    WireError,
)
from frontdesk.spoken import CitationInSpeechError, Spoken

__all__ = [
    "CitationInSpeechError",
    "ConfigError",
    "EmbedderError",
    "ForbiddenError",
    "FrontdeskError",
    "KnowledgeBaseError",
    "ModelFileError",
    "SpeechError",
    "Spoken",
    "TransferError",
    "WireError",
]
