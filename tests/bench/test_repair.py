"""The bench of recogniser repair: what is asked, what counts, and which rule is chosen."""

import json
from dataclasses import replace

import pytest

from bench import misheard, repair
from bench.misheard import Case
from bench.repair import Asked, Found
from rag import Passage, make_query
from rag.questions import Question
from rag.repair import Change, Repaired, Rule
from rag.rewrite import default_fillers
from rag.types import Decision

PARKING = Passage("kb-parking#1", "kb-parking", "Parking", "Parking costs $2.", 0, 17, "")
QUESTION = Question(
    "q1", "How much is parking?", "", None, (PARKING.id,), Decision.ANSWERED, (("$2",),), "", {}
)
HEARD = make_query("how much is parting")
REPAIRED = Repaired(make_query("how much is parking"), (Change("parting", "parking", ""),))
RULE = Rule(0.35, 0.2, 0.2, 2.0)


def asked(first, second, *, must_refuse=False, said=None, passed=True):
    case = Case("heard", "q1", HEARD, must_refuse, None if must_refuse else QUESTION)
    answers = [Found(score, passed, PARKING.text, PARKING) for score in (first, second)]
    keys = dict.fromkeys((rule.farthest, rule.farthest_english) for rule in repair.RULES)
    heard_right = None if said is None else Found(said, True, PARKING.text, PARKING)
    return Asked(case, answers[0], heard_right, dict.fromkeys(keys, (REPAIRED, answers[1])))


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (asked(0.4, 0.9), "gained"),
        (asked(0.4, 0.9, must_refuse=True), "lifted"),
        (asked(0.4, 0.9, must_refuse=True, said=0.9), "lifted_as_heard_right"),
        (asked(0.4, 0.9, must_refuse=True, said=0.2), "lifted"),
        (asked(0.3, 0.65), None),
        (asked(0.1, 0.9), None),
        (asked(0.65, 0.75), None),
        (asked(0.8, 1.0), None),
        (asked(0.4, 0.9, passed=False), None),
    ],
)
def test_what_the_second_query_changes(one, what):
    assert repair.outcome(one, RULE, floor=0.7) == what


def test_an_answer_without_the_facts_is_a_wrong_gain():
    one = asked(0.4, 0.9)
    question = replace(QUESTION, facts=(("$9",),))
    assert repair.outcome(replace(one, case=replace(one.case, question=question)), RULE, 0.7) == (
        "gained_wrong"
    )


def test_the_margin_chosen_is_a_step_wider_than_what_was_seen():
    seen = [asked(0.4, 0.95), asked(0.4, 0.75, must_refuse=True)]
    assert repair.choose(seen, floor=0.7).margin == 3.0
    assert repair.choose([asked(0.4, 0.85), seen[1]], floor=0.7) == repair.NEVER


def test_the_rule_chosen_lifts_nothing_and_is_the_strictest_that_gains_as_much():
    chosen = repair.choose([asked(0.4, 0.9), asked(0.15, 0.95, must_refuse=True)], floor=0.7)
    assert (chosen.least, chosen.margin) == (0.3, 2.5)
    chosen = repair.choose([asked(0.25, 0.9), asked(0.15, 0.95, must_refuse=True)], floor=0.7)
    assert chosen.least == 0.2
    nothing = repair.choose([asked(0.4, 0.9), asked(0.4, 0.95, must_refuse=True)], floor=0.7)
    assert nothing == repair.NEVER
    assert repair.total([(asked(0.4, 0.95, must_refuse=True), nothing, 0.7)])["lifted"] == 0


def test_cases_are_heard_misheard_left_out_and_out_of_scope(tmp_path):
    words = {"pizza": "pisa", "parking": "parkin", "to": "too"}
    confusions = [{"a": said, "b": heard} for said, heard in words.items()]
    rows = [
        {"id": "oos-1", "text": "bake me a pizza", "label": "out_of_scope"},
        {"id": "bye-1", "text": "goodbye", "label": "goodbye"},
    ]
    for name, lines in zip(misheard.FILES, (confusions, rows), strict=True):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    cases = list(misheard.cases_of(tmp_path, default_fillers()))
    found = {case.group: case for case in cases}
    assert set(found) == {
        "heard answerable", "heard unanswerable", "passage left out", "misheard answerable",
        "misheard unanswerable", "out of scope", "misheard out of scope",
    }  # fmt: skip
    assert found["misheard out of scope"].query.text == "bake me a pisa"
    assert found["misheard out of scope"].said.text == "bake me a pizza"
    assert found["passage left out"].policy.leave_out
    assert all(case.must_refuse for case in cases if case.group == "passage left out")
    assert {case.is_held_out for case in cases} == {True, False}
    folds = {(case.id, case.fold) for case in cases}
    assert len(folds) == len({case.id for case in cases})
    assert {fold for _, fold in folds} == set(range(misheard.FOLDS))


def test_missing_data_is_named(tmp_path, capsys):
    assert repair.main(["--data", str(tmp_path)]) == 2
    assert "asr_word_confusions.jsonl and clinc_oos.jsonl" in capsys.readouterr().out
