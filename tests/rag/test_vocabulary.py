"""The words that a recogniser leans towards."""

from rag.vocabulary import vocabulary


def test_rare_words_weigh_more_than_common_ones(clinic):
    words = vocabulary(clinic.kb)
    assert words["tetanus"] == words["Medicare"] == 1.0
    assert words["day"] == words["first"] == 0.5
    assert "the" not in words
    assert list(words) == sorted(words)
