"""What became of one request for words: accepted, not asked for, or rejected with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from frontdesk import FrontdeskError
from rag.types import Check, Draft


class Outcome(StrEnum):
    """A closed list: records and metrics compare these values."""

    ACCEPTED = "accepted"
    # the model was not asked
    NOTHING_TO_SAY = "nothing_to_say"
    FAST_PATH = "fast_path"
    # the server failed
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    BUSY = "busy"
    TIMEOUT = "timeout"
    DROPPED = "dropped"
    BUDGET = "budget"
    FAILED = "failed"
    # what it sent is not an answer
    MALFORMED = "malformed"
    TOO_LONG = "too_long"
    NO_ANSWER = "no_answer"
    # it is one, and must not be spoken
    INVENTED_CITATION = "invented_citation"
    CITATION_IN_TEXT = "citation_in_text"
    INSTRUCTION = "instruction"
    NOT_SPEECH = "not_speech"
    UNSUPPORTED_FIGURE = "unsupported_figure"
    CHECK_FAILED = "check_failed"
    # of a question made to stand alone
    FOREIGN_WORD = "foreign_word"
    LOST_WORD = "lost_word"


WORTH_A_RETRY = frozenset(
    {Outcome.UNREACHABLE, Outcome.BUSY, Outcome.TIMEOUT, Outcome.DROPPED, Outcome.MALFORMED}
)
"""A model that lied once is not asked to try again; a line that broke is."""


class GenerationError(FrontdeskError):
    """No draft, and why: ``outcome``, with ``detail`` for the record; the extractive answer stands.

    ``wait_s`` is how long the server asked to be left alone.
    """

    stage = "generation"
    retryable = True

    def __init__(self, outcome: Outcome, detail: str, *, wait_s: float = 0.0) -> None:
        super().__init__(f"{outcome.value}: {detail}")
        self.outcome, self.detail, self.wait_s = outcome, detail, wait_s


@dataclass(frozen=True, slots=True)
class Generated:
    """The draft, or why there is none.

    ``confidence`` is the model's own word, from 0 to 1: recorded, never relied on. ``tries``
    counts requests. ``first_token_ms`` and ``full_ms`` are of the last of them, from its start;
    ``total_ms`` is of everything. ``left_out`` names the passages of which a sentence that speaks
    to a language model was not shown. ``reply`` is what the model sent, whatever became of it.
    """

    outcome: Outcome
    detail: str = ""
    draft: Draft | None = None
    checks: tuple[Check, ...] = ()
    confidence: float | None = None
    tries: int = 0
    first_token_ms: float | None = None
    full_ms: float | None = None
    total_ms: float = 0.0
    left_out: tuple[str, ...] = ()
    reply: str = ""
