"""Follow-ups as callers of many trades ask them: what must be left alone, what must be resolved.

All made up for this test. ``known_miss`` marks what the rules do not reach.
"""

import json
from pathlib import Path

import pytest

from rag.follow_up import Said, State, resolve

HERE = Path(__file__).parent


def rows(name):
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


QUESTIONS = rows("follow_up_questions.jsonl")
CHAINS = rows("follow_up_chains.jsonl")


def after(question):
    return State().after(resolve(question))


def name_of(row):
    return f"{row['before']} / {row['heard']}"


MISS = pytest.mark.xfail(strict=True, reason="not reached by the rules")


def cases(*, complete):
    return [
        pytest.param(row, id=name_of(row), marks=[MISS] if row.get("known_miss") else [])
        for row in QUESTIONS
        if row["complete"] is complete
    ]


@pytest.mark.parametrize("row", cases(complete=True))
def test_a_complete_question_is_left_alone(row):
    resolution = resolve(row["heard"], after(row["before"]))
    assert resolution.query.text == resolve(row["heard"]).query.text


@pytest.mark.parametrize("row", cases(complete=False))
def test_a_follow_up_gains_what_it_is_about(row):
    resolution = resolve(row["heard"], after(row["before"]))
    words = set(resolution.query.text.split())
    assert set(row["has"]) <= words
    assert not words & set(row.get("lacks", ()))
    assert resolution.changes


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: f"{c['trade']}: {c['turns'][0]['heard']}")
def test_a_chain_of_five(chain):
    state = State()
    for at, turn in enumerate(chain["turns"]):
        resolution = resolve(turn["heard"], state)
        assert resolution.query.text in turn["text"], turn["heard"]
        said = (Said(f"kb-{at}#1", f"kb-{at}", turn["said"]),) if "said" in turn else ()
        state = state.after(resolution, said)


def test_there_are_enough_of_each():
    kinds = [row["complete"] for row in QUESTIONS]
    assert kinds.count(True) >= 80
    assert kinds.count(False) >= 80
    assert len(CHAINS) >= 40
    assert all(len(chain["turns"]) == 5 for chain in CHAINS)


@pytest.mark.parametrize(
    "long",
    ["a" * 10_000, "a'" * 5_000, "9:" * 5_000, "x or " * 2_000, "it is it " * 1_111, "no " * 3_333],
    ids=lambda text: text[:8],
)
def test_what_is_too_long_for_a_question_is_no_follow_up(long):
    """And what comes after it does not pay for its length, as it once did with 44 seconds."""
    before = after("how much is a flu shot")
    resolution = resolve(long, before)
    assert resolution.changes == ()
    state = before.after(resolution, (Said("kb-a#1", "kb-a", long),))
    for heard in ("and the other one", "how much is it", "what did you say the price was"):
        state = state.after(resolve(heard, state))
    assert resolve("do you have parking", state).query.text == "do you have parking"
