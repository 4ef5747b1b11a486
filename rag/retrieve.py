"""Which passages are looked at for an answer, within a deadline.

The closest by cosine. Words may widen the pool, never order it: the floors were measured on
questions whose passages came in order of meaning, and on misheard ones words lead astray. A
reranker, where there is one, narrows the pool.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag.deadline import Deadline, Leg
from rag.embed import Vectors
from rag.fusion import widen
from rag.index import Index
from rag.types import Hit, Policy, Query

# Multilingual models place the same text in two languages a little apart (measured: see
# docs/languages.md); a passage in the caller's language is preferred by as much.
_SAME_LANGUAGE = 0.03
_WIDER = 3
_RERANKED, _KEPT = 20, 4

_SPARSE, _RERANK = Leg("sparse"), Leg("rerank")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The passages found, best first, and what was left out on the way."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()


def retrieve(
    query: Query, vector: Vectors, index: Index, policy: Policy, deadline: Deadline
) -> Retrieved:
    """The passages to look for the answer to ``query`` in; ``vector`` (dim,) is its unit vector."""
    wanted = max(policy.candidates, _RERANKED if policy.reranker else 0)
    pool = wanted * _WIDER if len(index.languages) > 1 else wanted
    found = dict(index.nearest_passages(vector, pool + len(policy.leave_out)))
    missing: tuple[str, ...] = ()
    if policy.hybrid and index.words is None:
        missing = ("sparse_leg_not_built",)
    elif policy.hybrid and index.words is not None:
        with deadline.running(_SPARSE) as allowed:
            rows = [int(n) for n in index.words.search(query.text, pool)[1]] if allowed else []
        for number in widen([*found], rows, 2 * pool):
            if number not in found:
                found[number] = index.cosine(vector, number)
    hits = [_hit(index, number, score, query) for number, score in found.items()]
    hits = [hit for hit in hits if hit.passage.id not in policy.leave_out]
    hits.sort(key=lambda hit: -(hit.score + hit.bonus))
    hits = hits[:wanted]
    if policy.reranker and hits:
        with deadline.running(_RERANK) as allowed:
            if allowed:
                scores = policy.reranker.score(query.text, [hit.passage.text for hit in hits])
                order = sorted(range(len(hits)), key=lambda n: -float(scores[n]))
                hits = [hits[n] for n in order[:_KEPT]]
    return Retrieved(tuple(hits[: policy.candidates]), (*missing, *deadline.degraded))


def _hit(index: Index, number: int, score: float, query: Query) -> Hit:
    passage = index.kb.passages[number]
    several = len(index.languages) > 1
    bonus = _SAME_LANGUAGE if several and passage.language == query.language else 0.0
    return Hit(passage, score, bonus)
