"""Which passages are looked at for an answer, within a deadline.

The closest by cosine, in that order. Words may add passages behind them: the floors were measured
on questions whose passages came in order of meaning, and on misheard ones words lead astray. A
reranker, where there is one, narrows the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.deadline import Deadline, Leg
from rag.embed import Vectors
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
    """The passages to look for the answer to ``query`` in; ``vector`` (dim,) is its unit vector.

    The ``policy.candidates`` closest, and behind them, in order of cosine too, as many at the most
    that the words alone brought in.
    """
    wanted = policy.candidates
    pool = max(wanted, _RERANKED if policy.reranker else 0)
    looked_at = pool * _WIDER if len(index.languages) > 1 else pool
    cosines = dict(index.nearest_passages(vector, looked_at + len(policy.leave_out)))
    rows, missing = _by_words(query, index, policy, deadline)
    cosines |= {row: index.cosine(vector, row) for row in rows if row not in cosines}
    hits = {number: _hit(index, number, score, query) for number, score in cosines.items()}
    hits = {n: hit for n, hit in hits.items() if hit.passage.id not in policy.leave_out}
    order = sorted(hits, key=lambda n: -(hits[n].score + hits[n].bonus))
    by_words = [row for row in rows if row in hits][:wanted]
    kept = order[:wanted] + [n for n in order[wanted:] if n in by_words]
    if policy.reranker and kept:
        wider = [*kept, *(n for n in order if n not in kept)]
        kept = _reranked(query, hits, wider[: max(pool, len(kept))], policy, deadline) or kept
    return Retrieved(tuple(hits[n] for n in kept), (*missing, *deadline.degraded))


def _by_words(
    query: Query, index: Index, policy: Policy, deadline: Deadline
) -> tuple[list[int], tuple[str, ...]]:
    """The passages that words find, best first, and what is missing for it."""
    if not policy.hybrid:
        return [], ()
    if index.words is None:
        return [], ("sparse_leg_not_built",)
    with deadline.running(_SPARSE) as allowed:
        if not allowed:
            return [], ()
        wanted = policy.candidates + len(policy.leave_out)
        return index.words.search(query.text, wanted)[1].tolist(), ()


def _reranked(
    query: Query,
    hits: Mapping[int, Hit],
    pool: Sequence[int],
    policy: Policy,
    deadline: Deadline,
) -> list[int]:
    """The best of ``pool`` by the reranker, best first; none if there is no time for it."""
    with deadline.running(_RERANK) as allowed:
        if not allowed or policy.reranker is None:
            return []
        scores = policy.reranker.score(query.text, [hits[n].passage.text for n in pool])
        order = sorted(range(len(pool)), key=lambda at: -float(scores[at]))
        return [pool[at] for at in order[: min(_KEPT, policy.candidates)]]


def _hit(index: Index, number: int, score: float, query: Query) -> Hit:
    passage = index.kb.passages[number]
    several = len(index.languages) > 1
    bonus = _SAME_LANGUAGE if several and passage.language == query.language else 0.0
    return Hit(passage, score, bonus)
