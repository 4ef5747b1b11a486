"""The words that pass between the stages of the answer path. All frozen, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
    OTHER_CALLERS = "other_callers"
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
    GO_ON = "go_on"
    EMERGENCY = "emergency"  # the business's own sentence for who is in danger


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph or table row of one document, white space folded: what can be quoted.

    ``id`` is ``kb-topic#1`` upward in file order; ``start`` and ``end`` are character offsets
    into the document's text; ``sha256`` is of ``text``. ``page`` counts from 1 (PDF), ``row`` is
    the table's own row number, ``question`` the one that the source itself sets beside the text.
    """

    id: str
    doc: str
    heading: str
    text: str
    start: int
    end: int
    sha256: str
    page: int | None = None
    row: int | None = None
    question: str | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Query:
    """What was heard (``raw``), and what is looked up (``text``).

    ``focus`` holds the words of ``text`` that a follow-up brought in; they weigh more than what
    it took over from the question before. Empty for a question that stands alone. ``changes`` are
    the rules by which it was resolved (:class:`rag.follow_up.Change`), and ``within`` the passages
    that an answer must come from, if it asks again for what was said; ``document`` is the one that
    a call is about, where each is of a place of its own.
    """

    raw: str
    text: str
    context: str | None = None
    language: str = "en"
    focus: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    document: str = ""

    def allows(self, passage: Passage) -> bool:
        """Whether an answer may come from ``passage``."""
        if self.within:
            return passage.id in self.within
        return not self.document or passage.doc == self.document


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its cosine similarity to the query.

    ``bonus`` is what its place among the hits owes to being in the language of the question; no
    floor sees it.
    """

    passage: Passage
    score: float
    bonus: float = 0.0


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


class Reranker(Protocol):
    """Anything that says how well texts answer a question."""

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One number a text, float32 (texts,): higher is better."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """How one answer is decided.

    ``floor`` overrides the measured one of the index; ``candidates`` is how many of the passages
    closest by cosine are searched for the sentence; ``max_words`` is the length from which an
    utterance is sent back. ``hybrid`` adds passages that only the words find, at most as many
    again, behind those; ``deadline_ms`` is the time for the whole search, after which an optional
    part is left out. ``reranker`` narrows the passages found to the four it thinks best.
    ``leave_out`` holds passage ids that count as absent: for calibration and experiments. With
    ``places`` each document is of a place of its own, and a call goes on about the one it named.
    With ``repair`` a question that is refused is asked again as it may have been misheard.
    """

    refusal: str = REFUSAL
    floor: float | None = None
    candidates: int = 10
    max_words: int = 100
    hybrid: bool = False
    deadline_ms: float = 200.0
    reranker: Reranker | None = None
    leave_out: frozenset[str] = frozenset()
    places: bool = False
    repair: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything about one answer: the decision, its evidence and its cost.

    ``say`` is the only part meant for a voice; for a ``conversation`` verdict the call may
    replace it (``repeat`` says the last words again). ``more`` are the further parts of an answer
    too long to be said at once (:mod:`rag.parts`). ``timings_ms`` is by stage; ``degraded`` names
    what was left out for lack of time.
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
    degraded: tuple[str, ...] = ()
    more: tuple[Spoken, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
