"""Follow-ups resolved from what a call remembers, and shown as what they became.

``resolve(asr_text, state)`` gives a :class:`Resolution`; ``state.after(resolution, said)`` the
state for the next turn. Pure: the same words and state give the same question.
"""

from __future__ import annotations

from rag.follow_up.guard import foreign_words, only_from_dialogue
from rag.follow_up.names import Names
from rag.follow_up.resolve import Cosine, resolve
from rag.follow_up.state import Change, Resolution, Said, State, Turn

__all__ = [
    "Change",
    "Cosine",
    "Names",
    "Resolution",
    "Said",
    "State",
    "Turn",
    "foreign_words",
    "only_from_dialogue",
    "resolve",
]
