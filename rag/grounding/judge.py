"""Whether what would be said stands in the passages it cites.

In this order, and no further than is needed: a sentence quoted word for word stands; one with a
number that is nowhere in the evidence, with the opposite of what is there, or with hardly a word of
it, does not; then the words decide (overlap by rarity, negation, names, word order), and where they
cannot, the embedder's vectors of both beside them. Each of the last two is a logistic model over
named numbers; its weights and limits are measured by ``tools/fit_grounding.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from frontdesk.odds import probability
from rag.grounding.closeness import Reads
from rag.grounding.evidence import Evidence, evidence_of, sentence_of, stated
from rag.grounding.features import Seen, by_embedding, seen
from rag.grounding.types import Grounding
from rag.grounding.weights import Weights, weights

_END = re.compile(r"[.!?…।:;]['\")]*$")
_RULES = ("number_lacking", "opposite")


def grounded(
    said: str,
    evidence: Sequence[str],
    embedder: Reads | None = None,
    *,
    around: str = "",
    limit: float | None = None,
) -> Grounding:
    """Whether every sentence of ``said`` stands in ``evidence``, the texts of passages.

    ``around`` is what stands beside them (headings, questions): its words are known, though they
    support nothing. Sentences that ask are passed over; a text that states nothing, or has no
    evidence, does not stand. Without an ``embedder``, or with one that the weights were not
    fitted for, the words decide alone. ``limit`` takes the place of the measured one.
    """
    if is_quoted(said, evidence):
        return Grounding(True, 1.0, None, 0.0, _limit(limit), "quoted")
    claims = stated(said)
    known = evidence_of(tuple(evidence), around)
    if not claims or not known.sentences:
        why = "there is no evidence" if claims else "states nothing that can be compared"
        return Grounding(False, 0.0, None, 1.0, _limit(limit), "rules", why, said)
    worst: Grounding | None = None
    for claim in claims:
        one = _judged(claim, known, evidence, embedder, limit)
        if worst is None or (one.ok, -one.doubt) < (worst.ok, -worst.doubt):
            worst = one
        if not worst.ok:
            break
    assert worst is not None
    return worst


def is_quoted(said: str, evidence: Sequence[str]) -> bool:
    """Whether ``said`` is a run of whole sentences of one passage, word for word."""
    text = _folded(said)
    if not text:
        return False
    for passage in evidence:
        whole = _folded(passage)
        at = whole.find(text)
        while at >= 0:
            before, after = whole[:at].rstrip(), whole[at + len(text) :]
            starts = not before or bool(_END.search(before))
            if starts and (not after.strip() or (_END.search(text) and after[0] == " ")):
                return True
            at = whole.find(text, at + 1)
    return False


def _folded(text: str) -> str:
    # Square brackets are spoken as round ones: they mark citations.
    return " ".join(text.replace("[", "(").replace("]", ")").split()).lower()


def _judged(
    claim: str,
    known: Evidence,
    evidence: Sequence[str],
    embedder: Reads | None,
    limit: float | None,
) -> Grounding:
    if is_quoted(claim, evidence):
        return Grounding(True, 1.0, None, 0.0, _limit(limit), "quoted", sentence=claim)
    one = seen(sentence_of(claim), known)
    by_words, both = weights("words"), weights("embedding")
    is_strange = one.values["overlap"] < by_words.least_overlap
    if is_strange or any(one.values[rule] for rule in _RULES):
        return _grounding(one, one.values, None, 1.0, _limit(limit), "rules")
    doubt = doubt_of(by_words, one.values)
    fits = embedder is not None and embedder.hash == both.embedder
    if not fits or not by_words.sure_yes < doubt < by_words.sure_no:
        own = by_words.limit if limit is None else limit
        return _grounding(one, one.values, None, doubt, own, "words")
    assert embedder is not None
    values = {**one.values, **by_embedding(one, embedder)}
    return _grounding(
        one, values, values["similarity"], doubt_of(both, values), _limit(limit), "embedding"
    )


def doubt_of(model: Weights, values: Mapping[str, float]) -> float:
    """0 for what stands in its evidence, 1 for what does not."""
    total = model.bias + sum(weight * values[name] for name, weight in model.weights.items())
    return probability(total)


def _grounding(
    one: Seen,
    values: Mapping[str, float],
    similarity: float | None,
    doubt: float,
    limit: float,
    decided_by: str,
) -> Grounding:
    ok = doubt < limit
    return Grounding(
        ok,
        values["overlap"],
        similarity,
        doubt,
        limit,
        decided_by,
        "" if ok else one.reason,
        one.said.text,
        values,
    )


def _limit(given: float | None) -> float:
    return weights("embedding").limit if given is None else given
