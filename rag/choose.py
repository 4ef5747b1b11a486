"""Which sentence of the passages found would be said: the best one that every check passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rag import answerability, days, facts
from rag.asked import asked_part, is_special_case, traits
from rag.embed import Embedding
from rag.emergency import no_help
from rag.facts import Slots
from rag.index import Index
from rag.namesake import Named
from rag.rewrite import clean
from rag.rivals import differ, log_odds, standing
from rag.speakable import not_for_callers, without_citations
from rag.types import Check, Hit, Passage, Query
from rag.verify import checks

# A sentence that leans on the one before it is spoken with it.
_LEANS = re.compile(r"(?:it|its|they|their|this|these|those|that|he|she|then|otherwise)\b", re.I)

# A sentence that goes on about the same hours, and what it says of a day.
_EXCEPTION = re.compile(
    r"(?:(?:on|but|except|however|only|it|we|they|it's|closed|open|every|and) "
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)"
    r"(?=.*\b(?:closed?|closes|open|opens|until|till|hours|from|start|starts|noon|midnight)\b)",
    re.I,
)
# "Some say that it is free. That is wrong."
_TAKES_BACK = re.compile(
    r"(?:this|that|it|they)(?: is|'s| was| are|'re)? (?:wrong|false|untrue|incorrect|mistaken"
    r"|no longer|not (?:true|so|correct|right|the case|any ?more))\b",
    re.I,
)

# What is known, though not for the day asked, is not answered by something half as likely.
_FAR_BEHIND = 0.5
# Candidates looked at for a rival; what comes after them is far behind.
_MOST_RIVALS = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be the answer: number ``number`` of the index, of the passage ``hit``.

    ``score`` is its answerability from 0 to 1 (:mod:`rag.answerability`); of one that is chosen,
    how it stands against the next best (:mod:`rag.rivals`).
    """

    hit: Hit
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Best:
    """What would be said to a question if there were no floor.

    ``candidate`` is the best one whose ``checks`` all pass; where none does, the best one, with
    the outcomes of its checks; None where nothing was found. ``hits`` are the passages looked at,
    that of the candidate first and then by their best answerability. ``degraded`` names what was
    left out for lack of time.
    """

    candidate: Candidate | None = None
    checks: tuple[Check, ...] = ()
    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The candidate's answerability, what the floor is compared with; 0 without one."""
        return self.candidate.score if self.candidate else 0.0

    @property
    def passed(self) -> bool:
        """Whether there is a candidate that every check passes."""
        return self.candidate is not None and all(check.passed for check in self.checks)


def candidates(
    query: Query, asked: Embedding, hits: Sequence[Hit], index: Index
) -> list[Candidate]:
    """Every sentence of the passages ``hits``, best first; ``asked`` is of ``query.text``."""
    scores = answerability.score(query, asked, hits, index)
    return [
        Candidate(hits[scores.hits[n]], int(scores.numbers[n]), float(scores.values[n]))
        for n in np.argsort(-scores.values, kind="stable")
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Checker:
    """Every check of a candidate sentence for one question: called, it gives their outcomes.

    ``retrieved`` are the ids of the passages found, ``part`` is what of the question a day may be
    asked for in, ``slots`` is what its facts must have.
    """

    query: Query
    asked: Embedding
    retrieved: frozenset[str]
    index: Index
    part: str
    slots: Slots
    _kept: dict[str, Mapping[int, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, query: Query, asked: Embedding, retrieved: Sequence[Hit], index: Index) -> Checker:
        """The checks for ``query``, of which ``asked`` is the embedding."""
        # A question that was put together has its parts in no order that could be read.
        whole = query.text if query.changes else query.raw.lower()
        part = query.text if query.changes else clean(asked_part(query.raw), frozenset())
        return cls(
            query,
            asked,
            frozenset(hit.passage.id for hit in retrieved),
            index,
            days.by_holiday(part),
            facts.slots(days.by_holiday(whole)),
        )

    def __call__(self, candidate: Candidate) -> tuple[Check, ...]:
        """The outcomes, in the order in which they are shown."""
        query, index, passage = self.query, self.index, candidate.hit.passage
        numbers = self._sentences(passage)
        spoken = _spoken_of(numbers, candidate.number)
        texts = [numbers[n] for n in spoken]
        say = " ".join(map(spoken_form, texts))
        found = (
            *checks(
                query.text,
                say,
                passage.id,
                self.retrieved,
                passage.text,
                passage.question,
                day_question=self.part,
            ),
            _facts_check(self.slots, spoken, passage.question, index),
            _for_callers(texts),
        )
        if why := self._exception(numbers, spoken):
            found = (*found, Check("no_exception", False, why))
        if why := no_help(query, say):
            found = (*found, Check("emergency", False, why))
        if query.focus:
            missed = _new_missed(query, self.asked, candidate, index)
            found = (*found, Check("follow_up_found", not missed, missed))
        return found

    def _sentences(self, passage: Passage) -> Mapping[int, str]:
        """The sentences of a passage by number; asked for by each candidate of it."""
        if passage.id not in self._kept:
            self._kept[passage.id] = _sentences_of(self.index, passage)
        return self._kept[passage.id]

    def _exception(self, numbers: Mapping[int, str], spoken: Sequence[int]) -> str:
        """Why a sentence that only covers the day asked does not hold on it, or ''.

        "Open daily from 10 to 6. On Mondays we are closed": of Monday the second sentence tells.
        """
        named = traits(self.part).days
        if not named or any(named & days.singled_out(numbers[n]) for n in spoken):
            return ""
        for other, text in numbers.items():
            there = named & days.singled_out(text) if other not in spoken else None
            if there and _EXCEPTION.match(text):
                return f"another sentence of the passage tells of {min(there)}"
        return ""


def first_that_passes(
    found: Sequence[Candidate], check: Callable[[Candidate], tuple[Check, ...]]
) -> tuple[Candidate, tuple[Check, ...]]:
    """The best candidate whose checks all pass, with them; the first one if none does.

    Sentences far behind one that fails for its day alone are not tried: what is asked has been
    found, but not for that day.
    """
    for_first: tuple[Check, ...] = ()
    lowest = 0.0
    for candidate in found:
        if candidate.score < lowest:
            continue
        outcomes = check(candidate)
        if all(one.passed for one in outcomes):
            return candidate, outcomes
        if only_the_day(outcomes):
            lowest = max(lowest, candidate.score * _FAR_BEHIND)
        for_first = for_first or outcomes
    return found[0], for_first


def against_rivals(
    chosen: Candidate,
    found: Sequence[Candidate],
    check: Checker,
) -> Candidate:
    """``chosen`` with the score that is left of it beside those that come after it in ``found``.

    Of these the first rival counts: one that says something else and passes every check, and is
    no special case where ``chosen`` is the general one.
    """
    index, question = check.index, check.query.text
    weights = answerability.weights_of(index.embedder)
    if weights is None:
        return chosen
    stated = index.facts[chosen.number]
    is_general = not is_special_case(question, index.sentences[chosen.number].text)
    rival = 0.0
    for one in found[found.index(chosen) + 1 :][:_MOST_RIVALS]:
        if not differ(stated, index.facts[one.number]):
            continue
        if is_general and is_special_case(question, index.sentences[one.number].text):
            continue
        if all(outcome.passed for outcome in check(one)):
            rival = one.score
            break
    score = standing(weights.standing, log_odds(chosen.score), log_odds(rival))
    return replace(chosen, score=score)


def only_the_day(outcomes: Sequence[Check]) -> bool:
    """Whether what failed is the day alone: what is asked is known, but not for that day."""
    failed = {check.name: check.detail for check in outcomes if not check.passed}
    return "asked_day" in failed and all(
        name == "asked_day" or (name == "facts" and detail.startswith("day:"))
        for name, detail in failed.items()
    )


def _facts_check(slots: Slots, spoken: Sequence[int], own: str | None, index: Index) -> Check:
    """Whether a fact of what is spoken has the slots of what is asked.

    ``own`` is the question that the source sets beside the passage.
    """
    if own and facts.same_slots(slots, facts.slots(own)):
        return Check("facts", True, f"its source sets it beside {own!r}")
    stated = [fact for n in spoken for fact in index.facts[n]]
    fit = facts.fits(slots, stated, index.contrasts)
    return Check("facts", fit.ok, fit.detail)


def _for_callers(texts: Sequence[str]) -> Check:
    """Whether all that is spoken is meant for a caller's ear, and is all there."""
    why = next(filter(None, map(not_for_callers, texts)), "")
    if not why and texts[-1].rstrip().endswith(":"):
        why = "what comes after the colon is in no sentence of this passage"
    return Check("for_callers", not why, why)


def _new_missed(query: Query, asked: Embedding, candidate: Candidate, index: Index) -> str:
    sentence = index.sentences[candidate.number]
    near = asked.piece_vectors @ index.piece_vectors[sentence.start : sentence.end].T
    if not near.size:
        return ""
    beside = candidate.hit.passage.question or ""
    return Named.of(asked.pieces, query.focus).new_missed(near, beside)


def spoken_text(index: Index, number: int) -> str:
    """A sentence word for word; with the one before it if it starts with "it", "this", ….

    Citations in it are left away; other square brackets become round.
    """
    return " ".join(spoken_sentences(index, number))


def spoken_sentences(index: Index, number: int) -> list[str]:
    """The sentences of :func:`spoken_text`."""
    numbers = _sentences_of(index, index.kb.passages[index.sentences[number].passage])
    return [spoken_form(numbers[n]) for n in _spoken_of(numbers, number)]


def spoken_form(text: str) -> str:
    """What is said of a text: no citation, and no square bracket, which would be one."""
    return without_citations(text).replace("[", "(").replace("]", ")")


def _sentences_of(index: Index, passage: Passage) -> dict[int, str]:
    numbers = index.sentence_numbers(index.passage_number(passage.id))
    ends = index.sentence_rows[numbers.start : numbers.stop, :2].tolist()
    return {n: passage.text[a:b] for n, (a, b) in zip(numbers, ends, strict=True)}


def _spoken_of(numbers: Mapping[int, str], number: int) -> list[int]:
    """The sentence, and what it cannot be said without, in the order of the passage.

    Of several "it … it …" the one that says what "it" is; and one behind that takes it back.
    """
    first = number
    while _LEANS.match(numbers[first]) and first - 1 in numbers:
        first -= 1
    spoken = [first, number] if first < number else [number]
    if number + 1 in numbers and _TAKES_BACK.match(numbers[number + 1]):
        spoken.append(number + 1)
    return spoken
