import itertools

import numpy as np
import pytest

from rag import documents
from rag.building import build
from rag.deadline import Deadline
from rag.entry import Recipe
from rag.retrieve import retrieve
from rag.types import Policy, Query
from tests.rag.shop_kb import write_kb
from tests.rag.table_embedder import TableEmbedder

PARKING = "Parking is free."
HINDI = "पार्किंग मुफ़्त है"
BIKES = "Bikes are sold here."
TABLE = {
    PARKING: (1.0, 0.0),
    HINDI: (0.99, 0.14),
    BIKES: (0.5, 0.87),
    "far away": (0.0, 0.0, 1.0),
}
ASKED = np.eye(16, dtype=np.float32)[0]


def index_of(tmp_path, *texts, **recipe):
    folder = write_kb(tmp_path / "kb", a="\n\n".join(texts))
    return build(documents.load(folder), TableEmbedder(TABLE), {}, Recipe(expand=False, **recipe))


def found(index, text="parking", language="en", deadline=None, **policy):
    policy = Policy(**policy)
    query = Query(text, text, language=language)
    return retrieve(query, ASKED, index, policy, deadline or Deadline(policy.deadline_ms))


def test_order_is_by_cosine(tmp_path):
    index = index_of(tmp_path, BIKES, PARKING, "Nothing of that.")
    hits = found(index, candidates=2).hits
    assert [h.passage.text for h in hits] == [PARKING, BIKES]
    assert hits[0].score == pytest.approx(1.0)
    assert [h.bonus for h in hits] == [0.0, 0.0]


def test_a_passage_in_the_language_of_the_question_is_preferred(tmp_path):
    index = index_of(tmp_path, PARKING, HINDI, BIKES)
    assert index.languages == ("en", "hi")
    hits = found(index, language="hi", candidates=2).hits
    assert [h.passage.text for h in hits] == [HINDI, PARKING]
    assert [h.bonus for h in hits] == [0.03, 0.0]
    # The cosine that the floor sees is left as it is.
    assert hits[0].score == pytest.approx(0.99, abs=0.001)
    assert [h.passage.text for h in found(index, language="en").hits][:2] == [PARKING, HINDI]


def test_the_pool_is_three_times_larger_for_it(tmp_path):
    # Three passages are closer than the one in Hindi; with one candidate wanted it still comes up.
    near = {f"Closer {n}.": (1.0, 0.01 * n) for n in (1, 2)}
    index = build(
        documents.load(write_kb(tmp_path / "kb", a="\n\n".join([*near, HINDI]))),
        TableEmbedder({**TABLE, **near}),
        {},
        Recipe(expand=False),
    )
    assert found(index, language="hi", candidates=1).hits[0].passage.text == HINDI


def test_words_widen_the_pool_but_never_order_it(tmp_path):
    texts = [BIKES, "Something else.", "Another one.", "The kiosk sells umbrellas."]
    index = index_of(tmp_path, *texts, sparse=True)
    plain = found(index, "umbrellas at the kiosk", candidates=1)
    wide = found(index, "umbrellas at the kiosk", candidates=4, hybrid=True)
    assert [h.passage.text for h in plain.hits] == [BIKES]
    assert {h.passage.text for h in wide.hits} == set(texts)
    scores = [h.score for h in wide.hits]
    assert scores == sorted(scores, reverse=True)
    assert wide.degraded == ()


def test_a_missing_or_late_leg_says_so(tmp_path):
    index = index_of(tmp_path, PARKING, BIKES)
    result = found(index, hybrid=True)
    assert result.degraded == ("sparse_leg_not_built",)
    assert result.hits[0].passage.text == PARKING
    index = index_of(tmp_path, PARKING, BIKES, sparse=True)
    clock = itertools.count(0, 300_000_000)
    late = found(index, hybrid=True, deadline=Deadline(200, lambda: next(clock)))
    assert late.degraded == ("sparse_leg_skipped_deadline",)
    assert late.hits[0].passage.text == PARKING


class Backwards:
    """Likes the last text best."""

    def score(self, question, texts):
        return np.arange(len(texts), dtype=np.float32)


def test_a_reranker_narrows_the_pool_to_four(tmp_path):
    index = index_of(tmp_path, *(f"Passage {n}." for n in range(9)), PARKING)
    hits = found(index, candidates=3, reranker=Backwards()).hits
    assert len(hits) == 3
    assert PARKING not in [h.passage.text for h in hits]
    clock = itertools.count(0, 300_000_000)
    skipped = found(index, reranker=Backwards(), deadline=Deadline(200, lambda: next(clock)))
    assert skipped.degraded == ("rerank_leg_skipped_deadline",)
    assert skipped.hits[0].passage.text == PARKING


def test_passages_left_out_are_never_found(tmp_path):
    index = index_of(tmp_path, PARKING, BIKES, sparse=True)
    hits = found(index, hybrid=True, leave_out=frozenset({"kb-a#1"})).hits
    assert [h.passage.text for h in hits] == [BIKES]
