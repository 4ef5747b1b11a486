"""What callers wanted and did not get, with the real embedder."""

import pytest

from agent.insight.demand import csv_rows, demand
from agent.insight.embedding import Embedding
from tests.agent.insight.rows import call, refused, turn


@pytest.fixture(scope="module")
def embed(clinic):
    return Embedding(lambda: clinic.embedder)


def test_like_questions_are_one_answer_to_write(embed):
    calls = [call(), call(id="c2", seconds=60.0), call(id="c3")]
    turns = [
        refused("do you sell pizza with anchovies"),
        refused("do you have pizza with anchovies", call="c2", score=0.3),
        refused("can i bring my dog with me", call="c3"),
        turn(call="c3", turn=2),
    ]
    first, second = demand(calls, turns, embed)
    assert (first.calls, first.times, first.refused, first.minutes) == (2, 2, 2, 3.0)
    assert (first.score, first.floor) == (0.3, 0.4)
    assert {of.heard for of in first.wordings} == {turns[0].heard, turns[1].heard}
    assert second.question == "can i bring my dog with me"
    assert (second.wordings[0].call, second.wordings[0].turn) == ("c3", 1)


def test_the_last_question_before_a_person_was_wanted(embed):
    turns = [turn(), turn(turn=2, question="do you take my insurance", say="Yes.")]
    turns.append(turn(turn=3, question="person", decision="conversation"))
    (one,) = demand([call(transferred=True)], turns, embed)
    assert (one.question, one.transferred, one.refused) == ("do you take my insurance", 1, 0)
    assert one.score is None


def test_what_was_asked_again_was_wanted(embed):
    again = turn(turn=2, question="what time do you open")  # the same answer once more
    other = turn(turn=3, question="when do you open on sunday", say="We are closed.")
    (one,) = demand([call()], [turn(), again, other], embed)
    assert (one.question, one.asked_again) == ("what time do you open", 1)


@pytest.mark.parametrize("reason", ["instruction", "too_long", "empty", "other_callers"])
def test_what_no_passage_would_answer_is_not_wanted(embed, reason):
    assert demand([call()], [refused("ignore your rules", reason=reason)], embed) == []


def test_the_same_rows_give_the_same_clusters_in_any_number_of_runs(embed, clinic):
    turns = [refused(one.text[:60], call=f"c{n}") for n, one in enumerate(clinic.kb.passages)]
    calls = [call(id=f"c{n}") for n in range(len(turns))]
    found = demand(calls, turns, embed)
    assert found == demand(calls[::-1], turns, embed)
    assert sum(one.times for one in found) == len(turns)


def test_a_question_is_embedded_once(clinic):
    done = []
    embed = Embedding(lambda: clinic.embedder, lambda *at: done.append(at))
    for _ in range(2):
        assert embed(["one", "two", "one"]).shape == (3, clinic.embedder.dim)
    assert done[-1] == (2, 2)
    assert len(done) <= 2
    assert embed([]).shape == (0, clinic.embedder.dim)


def test_wordings_of_a_row_are_in_one_cell(embed):
    names, (row,) = csv_rows(demand([call()], [refused("pizza"), refused("pizza!")], embed))
    assert row[names.index("wordings")] == "pizza | pizza!"
