"""What becomes of the best sentence under a floor: an answer, an offer, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frontdesk import Spoken
from rag import answerability, asked, parts
from rag.choose import Best, Candidate, only_the_day, spoken_form, spoken_sentences
from rag.grounding import as_check
from rag.index import Index
from rag.types import Check, Decision, Draft, Policy, Query, Reason, Verdict

_MOST_DAYS = 2

OTHER_DAY = "I have nothing about {} in particular. What I do have is this:"
"""Begins the offer of what is known for another day than the one asked about."""


def judge(
    query: Query, policy: Policy, best: Best, floor: float, note: str, index: Index
) -> Verdict:
    """What becomes of the best candidate under a ``floor``; ``note`` says what is special of it."""
    chosen = best.candidate
    if chosen is None:
        detail = f"no passage found{note}"
        return refused(query, policy, Reason.BELOW_FLOOR, best, floor, detail=detail)
    is_above = best.score >= floor
    above = Check("above_floor", is_above, f"score {best.score:.3f}, floor {floor:.3f}")
    heard = Check("input", True, f"{len(query.raw.split())} words, at most {policy.max_words}")
    best = replace(best, checks=(heard, *best.checks, above))
    if not is_above:
        detail = f"top score {best.score:.3f} below floor {floor:.3f}{note}"
        return refused(query, policy, Reason.BELOW_FLOOR, best, floor, detail=detail)
    failed = next((check for check in best.checks if not check.passed), None)
    if failed:
        detail = f"{failed.name}: {failed.detail}{note}"
        verdict = refused(query, policy, Reason.CHECK_FAILED, best, floor, detail=detail)
        return _offered(verdict, chosen, index) if only_the_day(best.checks) else verdict
    source = chosen.hit.passage.id
    sentences = spoken_sentences(index, chosen.number)
    draft = Draft(f"{' '.join(sentences)} [{source}]", (source,))
    evidence = spoken_form(chosen.hit.passage.text)
    grounded = as_check(" ".join(sentences), [evidence])
    best = replace(best, checks=(*best.checks, grounded))
    if not grounded.passed:
        detail = f"{grounded.name}: {grounded.detail}{note}"
        return refused(query, policy, Reason.CHECK_FAILED, best, floor, detail=detail)
    say, *more = in_parts(sentences)
    length = Check("length", True, _length(sentences, len(more) + 1))
    return Verdict(
        decision=Decision.ANSWERED,
        reason=Reason.SUPPORTED,
        query=query,
        say=say,
        more=tuple(more),
        score=best.score,
        floor=floor,
        hits=best.hits,
        draft=draft,
        citations=draft.citations,
        answered_by="extractive",
        checks=(*best.checks, length),
        detail=f"score {best.score:.3f}{note}",
        degraded=best.degraded,
    )


def _offered(verdict: Verdict, nearest: Candidate, index: Index) -> Verdict:
    """A refusal that says what is known, as what it is: for another day.

    Of 19 questions of made-up businesses that were refused for such a sentence, it told 13 callers
    what they wanted ("do you do lunch on Saturday").
    """
    days = asked.traits(verdict.query.text).days
    if not days or len(days) > _MOST_DAYS:
        return verdict
    source = nearest.hit.passage.id
    sentences = spoken_sentences(index, nearest.number)
    named = " or ".join(sorted(day.title() for day in days)).replace("'S", "'s")
    opening = OTHER_DAY.format(named)
    first, *more = in_parts(sentences)
    draft = Draft(f"{opening} {' '.join(sentences)} [{source}]", (source,))
    say = Spoken(f"{opening} {first.text}")
    return replace(verdict, say=say, more=tuple(more), draft=draft, citations=draft.citations)


def in_parts(sentences: Sequence[str]) -> tuple[Spoken, ...]:
    """What is said at once, and what is said next if the caller wants more of it."""
    *first, last = parts.parts(sentences)
    return tuple(Spoken.strip(text) for text in (*(f"{one} {parts.OFFER}" for one in first), last))


def _length(sentences: Sequence[str], count: int) -> str:
    words = sum(len(sentence.split()) for sentence in sentences)
    said = f"{len(sentences)} sentence{'s' * (len(sentences) > 1)}, {words} words"
    return said if count == 1 else f"{said}, in {count} parts"


def floor_of(query: Query, index: Index, policy: Policy) -> tuple[float | None, str]:
    """The floor in force, and what is to be said of it: the policy's, a measured one, a default.

    None for a language that has none, with the reason.
    """
    note = answerability.note(index.embedder)
    if policy.floor is not None:
        return policy.floor, note
    measured = index.calibrations.get(query.language)
    if measured:
        return measured.floor, note
    default = answerability.default_floor(index.embedder, query.language)
    if default is None:
        return None, f"no floor for language {query.language!r}"
    return default, f"{note} (default floor, not measured on these documents)"


def refused(
    query: Query,
    policy: Policy,
    reason: Reason,
    best: Best | None = None,
    floor: float | None = None,
    *,
    detail: str,
) -> Verdict:
    """A refusal in the policy's words, with what was found as its evidence."""
    return Verdict(
        decision=Decision.REFUSED,
        reason=reason,
        query=query,
        say=Spoken(policy.refusal),
        score=best.score if best and best.candidate else None,
        floor=floor,
        hits=best.hits if best else (),
        checks=best.checks if best else (),
        detail=detail,
        degraded=best.degraded if best else (),
    )
