"""What a change of the documents changes: past questions asked of the old ones and of the new.

Pure: questions and two indexes in, the answers that differ out, the most asked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from agent.insight.contradicting import Said, contradiction
from agent.insight.past_questions import Past
from rag import Decision, Index, Policy, Verdict, answer
from rag.speakable import without_citations

Kind = Literal["contradicted", "gone", "changed", "appeared"]
KINDS: tuple[Kind, ...] = ("contradicted", "gone", "changed", "appeared")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a question, all its parts, and on what ground."""

    decision: str
    reason: str
    say: str
    score: float | None
    floor: float | None
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that is answered otherwise; ``detail`` says in what it contradicts.

    ``gone`` is answered by the old documents only, ``appeared`` by the new ones only.
    """

    kind: Kind
    question: str
    heard: str
    context: str | None
    times: int
    calls: int
    detail: str
    old: Answer
    new: Answer

    def as_json(self) -> dict[str, Any]:
        """It as JSON has it."""
        return asdict(self)


def differences(
    past: Sequence[Past],
    old: Index,
    new: Index,
    policies: tuple[Policy, Policy],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Difference]:
    """The questions of ``past`` that ``new`` answers otherwise than ``old``, the most asked first.

    Each is decided on its own floors under its own policy; ``progress`` is told how many are done.
    """
    found = []
    for number, one in enumerate(past):
        progress(number, len(past))
        verdicts = answer(one.query, old, policies[0]), answer(one.query, new, policies[1])
        kind, detail = _kind(one, *verdicts, old, new)
        if kind:
            before, after = (_answer(verdict) for verdict in verdicts)
            found.append(
                Difference(kind, one.question, one.heard, one.query.context, one.times,
                           one.calls, detail, before, after)
            )  # fmt: skip
    progress(len(past), len(past))
    return sorted(found, key=lambda one: (-one.times, KINDS.index(one.kind), one.question))


def fails(found: Iterable[Difference], kinds: frozenset[str]) -> bool:
    """Whether one is of ``kinds``; what contradicts is changed too."""
    own = kinds | ({"contradicted"} if "changed" in kinds else set())
    return any(one.kind in own for one in found)


def _kind(
    past: Past, before: Verdict, after: Verdict, old: Index, new: Index
) -> tuple[Kind | None, str]:
    was, is_now = (one.decision is Decision.ANSWERED for one in (before, after))
    if was != is_now:
        return ("gone", after.detail) if was else ("appeared", before.detail)
    if _whole(before) == _whole(after):
        return None, ""
    if not was:
        return "changed", ""  # what is said with a refusal
    detail = contradiction(past.question, _said(before, old), _said(after, new))
    return ("contradicted", detail) if detail else ("changed", "")


def _answer(verdict: Verdict) -> Answer:
    return Answer(
        verdict.decision, verdict.reason, _whole(verdict), verdict.score, verdict.floor,
        verdict.citations,
    )  # fmt: skip


def _whole(verdict: Verdict) -> str:
    """All that would be said, its further parts too."""
    return without_citations(verdict.draft.text) if verdict.draft else verdict.say.text


def _said(verdict: Verdict, index: Index) -> Said:
    passages = index.kb.passages
    cited = [passages[index.passage_number(name)] for name in verdict.citations]
    return Said(_whole(verdict), " ".join(one.question or "" for one in cited).strip())
