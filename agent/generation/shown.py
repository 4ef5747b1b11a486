"""Passages as a model is shown them: data, without the sentences that speak to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag import guard
from rag.readers.instructions import instruction
from rag.sentences import split_sentences
from rag.speakable import not_for_callers
from rag.types import Hit, Policy, Reason, Verdict

# Characters of a passage that are shown; a chunk is far shorter, a whole row of a table may not be.
_LONGEST = 4000
_ANY_LENGTH = Policy(max_words=_LONGEST)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model sees of a passage, and all that its words are judged by.

    A number in a sentence that was left out supports nothing. ``is_whole`` is false where one was.
    """

    id: str
    text: str
    heading: str = ""
    question: str = ""
    is_whole: bool = True


def shown_of(verdict: Verdict, most: int) -> tuple[Shown, ...]:
    """The passages from which ``verdict`` may be put into words, those that it cites first."""
    hits = [hit for hit in verdict.hits if verdict.query.allows(hit.passage)]
    return shown(hits, verdict.citations, most)


def shown(hits: Sequence[Hit], cited: Sequence[str], most: int) -> tuple[Shown, ...]:
    """The passages of ``hits``, those of ``cited`` first; those of which nothing is left."""
    ordered = sorted(hits, key=lambda hit: hit.passage.id not in cited)
    kept = (_shown(hit) for hit in ordered[:most])
    return tuple(one for one in kept if one.text)


def speaks_to_a_model(text: str) -> bool:
    """Whether ``text`` holds words that steer a language model, or hides some."""
    if not text:
        return False
    guarded = guard.check(text, _ANY_LENGTH)
    is_steering = guarded is not None and guarded.reason is Reason.INSTRUCTION
    return is_steering or bool(instruction(text))


def _shown(hit: Hit) -> Shown:
    passage = hit.passage
    sentences = split_sentences(passage.text[:_LONGEST])
    kept = [
        sentence
        for sentence in sentences
        if not speaks_to_a_model(sentence) and not not_for_callers(sentence)
    ]
    text = " ".join(kept)
    if speaks_to_a_model(text):  # over the end of a sentence
        text = ""
    heading, question = _harmless(passage.heading), _harmless(passage.question or "")
    is_whole = len(kept) == len(sentences) and (heading, question) == (
        passage.heading,
        passage.question or "",
    )
    return Shown(passage.id, text, heading, question, is_whole and bool(text))


def _harmless(text: str) -> str:
    return "" if speaks_to_a_model(text) else text
