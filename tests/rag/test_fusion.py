"""Reciprocal rank fusion, and the pool made by it."""

from rag.fusion import rrf


def test_the_sum_of_reciprocal_ranks_decides():
    # 7: 1/61 + 1/63 = 0.03227; 3: 1/62 + 1/62 = 0.03226; 5: 1/61; 9: 1/63.
    assert rrf([[7, 3, 9], [5, 3, 7]]) == [7, 3, 5, 9]


def test_k_sets_how_much_the_first_rank_counts():
    # With k 0: 1 has 1/1; 2 has 1/2 + 1/3 = 0.83. With k 60: 1/61 against 1/62 + 1/63.
    assert rrf([[1, 2], [3, 4, 2]], k=0) == [1, 3, 2, 4]
    assert rrf([[1, 2], [3, 4, 2]]) == [2, 1, 3, 4]


def test_ties_go_to_the_better_rank_then_to_the_lower_row():
    assert rrf([[9], [4]]) == [4, 9]
    # With k 1, 1/3 for 6, once second, and 1/6 twice for 5, twice fifth.
    fused = rrf([[1, 6], [2, 3, 4, 8, 5], [2, 3, 4, 8, 5]], k=1)
    assert fused.index(6) < fused.index(5)


def test_the_order_of_the_rankings_does_not_matter():
    rankings = [[1, 2, 3, 4, 5], [5, 1, 4], [2, 5, 9, 1], [9, 3]]
    expected = rrf(rankings)
    assert sorted(expected) == [1, 2, 3, 4, 5, 9]
    for turn in range(1, 4):
        assert rrf(rankings[turn:] + rankings[:turn]) == expected
    assert rrf(rankings[::-1]) == expected


def test_a_row_named_twice_by_one_ranking_counts_once():
    assert rrf([[1, 1, 1, 2], [2]]) == [2, 1]


def test_nothing_fuses_to_nothing():
    assert rrf([]) == []
    assert rrf([[], []]) == []
