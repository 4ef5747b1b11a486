import math

import pytest

from rag.ranking import figures, hit_at, ndcg, recall_at, reciprocal_rank

RANKED = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("relevant", "at_1", "at_3"),
    [({"a"}, 1.0, 1.0), ({"a", "c"}, 0.5, 1.0), ({"c", "x"}, 0.0, 0.5), ({"x"}, 0.0, 0.0)],
)
def test_recall_is_the_share_found(relevant, at_1, at_3):
    assert recall_at(RANKED, relevant, 1) == at_1
    assert recall_at(RANKED, relevant, 3) == at_3


def test_a_hit_is_any_within_the_depth():
    assert hit_at(RANKED, {"c", "d"}, 3) == 1.0
    assert hit_at(RANKED, {"d"}, 3) == 0.0


def test_the_first_relevant_one_gives_the_reciprocal_rank():
    assert reciprocal_rank(RANKED, {"c", "d"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, {"d"}, k=3) == 0.0


def test_gain_is_discounted_by_rank():
    assert ndcg(RANKED, {"a", "b"}) == pytest.approx(1.0)
    assert ndcg(RANKED, {"b"}) == pytest.approx(1 / math.log2(3))
    # Two relevant at ranks 1 and 3: (1 + 1/2) / (1 + 1/log2(3)).
    assert ndcg(RANKED, {"a", "c"}) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    # More relevant than the depth: the best ranking has as many as fit.
    assert ndcg(RANKED, {"a", "b", "x"}, k=2) == pytest.approx(1.0)


def test_figures_are_means_over_questions_with_something_relevant():
    found = figures([(RANKED, {"a"}), (RANKED, {"b"}), (RANKED, set())])
    assert found == {
        "recall_at_1": 0.5,
        "recall_at_3": 1.0,
        "hit_at_10": 1.0,
        "mrr": 0.75,
        "ndcg": round((1 + 1 / math.log2(3)) / 2, 4),
        "n": 2,
    }
    assert figures([]) == dict.fromkeys(found, 0)
