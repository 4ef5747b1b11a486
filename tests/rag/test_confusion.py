"""The confusion table, its rates and bounds, on verdicts made by hand."""

import pytest

from frontdesk import Spoken
from rag.calibration import Rate
from rag.confusion import by_group, figures, judged, rate, special_days
from rag.questions import Asked, Question
from rag.types import Check, Decision, Hit, Passage, Query, Reason, Verdict

TEXT = "The pool is open on Saturday. It closes at 9 p.m. A swim costs $5."
HIT = Hit(Passage("kb-pool#1", "kb-pool", "", TEXT, 0, len(TEXT), ""), 0.8)


def question(number, text="when does the pool close", decision="answered", **fields):
    facts = (("9 p.m.",),) if decision == "answered" else ()
    given = {"context": None, "relevant": ("kb-pool#1",), "kind": "near_miss", "heard": {}}
    return Question(
        id=f"q{number}",
        text=text,
        asr="",
        decision=Decision(decision),
        facts=facts,
        **{**given, **fields},
    )


def verdict(decision, say="It closes at 9 p.m.", passed=True):
    is_answer = decision == "answered"
    return Verdict(
        Decision(decision),
        Reason.SUPPORTED if is_answer else Reason.BELOW_FLOOR,
        Query("heard", "looked up"),
        Spoken(say),
        score=0.71234,
        floor=0.5,
        hits=(HIT,),
        citations=("kb-pool#1",) if is_answer else (),
        checks=(Check("asked_day", passed, "saturday"),),
    )


def said(one, done, voice="amy", **fields):
    return Asked(one, voice, Query(one.text, one.text)), verdict(done, **fields)


def table(*verdicts):
    return figures(judged(verdicts))


def test_every_cell_of_the_table():
    answer, refuse, talk = (
        question(1),
        question(2, decision="refused"),
        question(3, decision="conversation"),
    )
    found = table(
        said(answer, "answered"),
        said(answer, "answered", say="A swim costs $5."),
        said(answer, "refused"),
        said(answer, "conversation"),
        said(refuse, "answered"),
        said(refuse, "refused"),
        said(refuse, "refused"),
        said(refuse, "conversation"),
        said(talk, "answered"),
        said(talk, "refused"),
        said(talk, "conversation"),
    )
    columns = ("right_answer", "wrong_answer", "refused", "conversation")
    assert {row: tuple(cells[c] for c in columns) for row, cells in found["confusion"].items()} == {
        "answer": (1, 1, 1, 1),
        "refuse": (0, 1, 2, 1),
        "conversation": (0, 1, 1, 1),
    }
    assert (found["n"], found["right"], found["wrong_fact"]) == (11, 5, 1)
    assert (found["over_refused"], found["wrongly_answered"]) == (3, 2)
    denominators = {
        name: (own["count"], own["asked"], own["of"]) for name, own in found["rates"].items()
    }
    assert denominators == {
        "right": (5, 11, "asked"),
        "over_refused": (2, 4, "answerable"),
        "wrong_fact": (1, 4, "answered"),
        "passed_checks_yet_wrong": (3, 4, "answered"),
        "refused": (2, 4, "unanswerable"),
        "wrongly_answered": (1, 4, "unanswerable"),
        "conversation": (1, 3, "sentences of conversation"),
    }


def test_bounds_count_a_question_once_however_many_voices_asked_it():
    """Four voices agree: that is one trial, not four."""
    voices = ["amy", "ben", "cat", "dan"]
    one, other = question(1), question(2)
    found = judged(
        [said(one, "refused", voice) for voice in voices]
        + [said(other, "answered", voice) for voice in voices[:3]]
        + [said(other, "refused", "dan")]
    )
    own = rate(found, "over_refused")
    wanted = Rate.of(1.25, 2)
    assert (own["count"], own["asked"], own["n"]) == (5, 8, 2)
    assert (own["rate"], own["low"], own["high"]) == (wanted.rate, wanted.low, wanted.high)
    assert (own["any_voice"], own["every_voice"]) == (2, 1)
    of_none = rate(found, "refused")
    assert (of_none["rate"], of_none["low"], of_none["high"], of_none["n"]) == (None, 0, 1, 0)


def test_a_check_that_failed_leaves_nothing_passed_yet_wrong():
    wrong = question(1, decision="refused")
    found = table(said(wrong, "answered"), said(wrong, "answered", passed=False))
    assert (found["wrongly_answered"], found["passed_checks_yet_wrong"]) == (2, 1)


def test_what_a_person_needs_to_see_of_a_wrong_answer():
    one = question(1, "when does the pool close on saturday")
    (row,) = table(said(one, "answered", say="A swim costs $5."))["wrong"]
    assert (row["outcome"], row["say"], row["heard"]) == ("wrong_fact", "A swim costs $5.", "heard")
    assert (row["score"], row["floor"], row["special_day"]) == (0.7123, 0.5, True)
    assert row["passages"] == [{"id": "kb-pool#1", "text": TEXT}]
    assert row["checks"] == [{"name": "asked_day", "passed": True, "detail": "saturday"}]
    assert row["facts"] == [["9 p.m."]]
    (refused,) = table(said(one, "refused"))["wrong"]
    assert refused["passages"] == row["passages"]  # the nearest, where none is cited


def test_answers_of_more_than_two_sentences_are_flagged_even_if_right():
    one = question(1)
    long = table(said(one, "answered", say=TEXT), said(one, "answered"), said(one, "refused"))
    assert long["long"] == [{"id": "q1", "voice": "amy", "say": TEXT}]
    assert long["long_answers"] == 1


@pytest.mark.parametrize(
    ("text", "context", "is_special"),
    [
        ("are you open on saturday", None, True),
        ("are you open on the weekend", None, True),
        ("are you open on christmas eve", None, True),
        ("are you open on holidays", None, True),
        ("and what about sunday", "when does the pool close on monday", True),
        ("and what about the gym", "when does the pool close on saturday", True),
        ("are you open on monday", None, False),
        ("are you open every day", None, False),
        ("how much is a swim", None, False),
    ],
)
def test_questions_about_saturday_sunday_or_a_holiday(text, context, is_special):
    assert special_days([question(1, text, context=context)]) == ({"q1"} if is_special else set())


def test_a_day_that_was_misheard_counts_where_it_was_asked():
    one = question(1, "when does the pool close on saturday", kind="core")
    heard = Asked(one, "amy", Query("when does the pool close on separaties", "…"))
    groups = by_group(judged([(heard, verdict("refused")), said(question(2), "answered")]))
    assert (groups["special_days"]["n"], groups["special_days"]["over_refused"]) == (1, 1)
    assert {name: own["n"] for name, own in groups["by_kind"].items()} == {
        "core": 1,
        "near_miss": 1,
    }
    assert groups["by_voice"]["amy"]["n"] == 2
