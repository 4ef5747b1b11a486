"""The words that pass between the stages of the answer path. All frozen, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from frontdesk import Spoken


class Decision(StrEnum):
    """What was decided about one utterance."""

    ANSWERED = "answered"
    REFUSED = "refused"
    CONVERSATION = "conversation"


class Reason(StrEnum):
    """Why. A closed list: records, metrics and replay compare these values."""

    # answered
    SUPPORTED = "supported"
    # refused
    BELOW_FLOOR = "below_floor"
    CHECK_FAILED = "check_failed"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    INSTRUCTION = "instruction"
    RETRIEVAL_FAILED = "retrieval_failed"
    # conversation: the everyday sentences of a call
    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    REPEAT = "repeat"
    LOUDER = "louder"
    SLOWER = "slower"
    ARE_YOU_A_ROBOT = "are_you_a_robot"
    PERSON = "person"
    WAIT = "wait"
    ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph of one document, white space folded.

    ``id`` is ``kb-topic#1`` upward in file order; ``start`` and ``end`` are character offsets
    into the source file; ``sha256`` is of ``text``.
    """

    id: str
    doc: str
    heading: str
    text: str
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Query:
    """What was heard (``raw``), and what is looked up (``text``).

    ``focus`` holds the words of ``text`` that a follow-up brought in; they weigh more than what
    it took over from the question before. Empty for a question that stands alone.
    """

    raw: str
    text: str
    context: str | None = None
    language: str = "en"
    focus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its cosine similarity to the query."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Check:
    """One verification step and its outcome."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that still carries its ``[kb-id]`` citations; never given to a voice."""

    text: str
    citations: tuple[str, ...]


REFUSAL = "I'm not sure about that. Let me connect you to the front desk."


@dataclass(frozen=True, slots=True)
class Policy:
    """How one answer is decided.

    ``floor`` and ``support_floor`` override the measured ones of the index (both cosines);
    ``candidates`` is how many passages are searched for the sentence; ``max_words`` is the length
    from which an utterance is sent back.
    """

    refusal: str = REFUSAL
    floor: float | None = None
    support_floor: float | None = None
    candidates: int = 10
    max_words: int = 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything about one answer: the decision, its evidence and its cost.

    ``say`` is the only part meant for a voice; for a ``conversation`` verdict the call may
    replace it (``repeat`` says the last words again). ``timings_ms`` is by stage.
    """

    decision: Decision
    reason: Reason
    query: Query
    say: Spoken
    score: float | None = None
    floor: float | None = None
    hits: tuple[Hit, ...] = ()
    draft: Draft | None = None
    citations: tuple[str, ...] = ()
    answered_by: str | None = None
    checks: tuple[Check, ...] = ()
    detail: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
