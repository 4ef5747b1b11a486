import numpy as np
import pytest

from rag import make_query
from rag.choose import Candidate, Checker, against_rivals
from rag.facts import read
from rag.rivals import MOST, MOST_AHEAD, differ, log_odds, seen, standing

WEIGHTS = np.array([0.5, 0.5, 0.0])


@pytest.mark.parametrize(
    ("one", "other", "are_rivals"),
    [
        ("A flu shot costs $30.", "A tetanus shot costs $50.", True),
        ("A flu shot costs $30.", "For adults a flu shot is $30.", False),
        ("We open at 9 a.m.", "Doors open at 9 a.m. and close at 6 p.m.", True),
        ("Dogs are welcome.", "Parking is behind the house.", True),
    ],
)
def test_sentences_with_the_same_values_are_no_rivals(one, other, are_rivals):
    assert differ(read(one), read(other)) is are_rivals


def test_a_score_falls_the_nearer_its_rival_is():
    alone, ahead, level = (standing(WEIGHTS, 2.0, rival) for rival in (-9.0, 0.0, 2.0))
    assert alone > ahead > level


def test_what_is_beyond_the_most_tells_nothing_more():
    assert seen(99.0, -99.0) == (MOST, MOST_AHEAD, 1.0)
    assert standing(WEIGHTS, 3.0, -3.0) == standing(WEIGHTS, 3.0, -8.0)


def test_log_odds():
    assert log_odds(0.5) == 0
    assert standing(np.array([1.0, 0.0, 0.0]), log_odds(0.8), 0.0) == pytest.approx(0.8)
    assert np.isfinite([log_odds(0.0), log_odds(1.0)]).all()


@pytest.fixture
def helmets(index):
    """The two helmets as candidates, and a check of a question about helmets."""
    hit = index.search(index.embedder.embed("helmet").vector, 1)[0]
    texts = [sentence.text for sentence in index.sentences]
    adult, child = (
        Candidate(hit, texts.index(text), score)
        for text, score in (
            ("A helmet for an adult costs $60.", 0.9),
            ("A helmet for a child costs $35.", 0.8),
        )
    )

    def score(chosen, found, question="how much is a helmet"):
        query = make_query(question)
        asked = index.embedder.embed(query.text)
        return against_rivals(chosen, found, Checker.of(query, asked, [hit], index)).score

    return adult, child, score


def test_only_what_comes_after_is_a_rival(helmets):
    adult, child, score = helmets
    # The adults' was ahead, and failed a check: it takes nothing from the children's.
    assert score(child, [adult, child]) == score(child, [child])
    assert score(adult, [adult, child]) < score(adult, [adult])


def test_what_fails_a_check_is_no_rival(helmets):
    adult, child, score = helmets
    of_adults = "how much is a helmet for an adult"
    assert score(adult, [adult, child], of_adults) == score(adult, [adult], of_adults)


def test_a_special_case_is_no_rival_of_the_general_one(index):
    texts = [sentence.text for sentence in index.sentences]
    hits = index.search(index.embedder.embed("open").vector, 10)
    by_id = {hit.passage.id: hit for hit in hits}
    weekdays = Candidate(
        by_id["kb-hours#1"],
        texts.index("On weekdays the bike shop is open from 8 a.m. to 6 p.m."),
        0.9,
    )
    saturday = Candidate(
        by_id["kb-hours#2"],
        texts.index("On Saturday the bike shop is open from 9 a.m. to 1 p.m."),
        0.8,
    )
    query = make_query("what time do you open")
    check = Checker.of(query, index.embedder.embed(query.text), hits, index)
    assert against_rivals(weekdays, [weekdays, saturday], check) == against_rivals(
        weekdays, [weekdays], check
    )
