"""What came of a simulated call: judged by its record, by ear, and counted by what hurts."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bench.simulated.ear import outcome_by_ear, replies, says
from bench.simulated.figures import figures
from bench.simulated.held import Held, number_of, with_records
from bench.simulated.judging import outcome_of
from bench.simulated.outcomes import judge_call, onsets
from bench.simulated.page import page
from bench.simulated.plan import Conversation, Expect, Gold, Noise, Turn
from bench.simulated.table import is_worse, lines
from bench.simulated.voices import Cast
from telephony.caller import CallResult, TurnResult

NINE = Gold(Expect.ANSWER, (("9 a.m.",),), ("kb-hours#2",), "q001")
HOURS = "On Saturday the clinic is open from 9 a.m. to 1 p.m."
AT = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)


@pytest.fixture
def passages(clinic):
    return {passage.id: passage for passage in clinic.kb.passages}


def verdict(t_ms=2000.0, decision="answered", say=HOURS, **more):
    cited = ["kb-hours#2"] if decision == "answered" else []
    usual = {
        "reason": "supported",
        "citations": cited,
        "heard": "words",
        "score": 0.6,
        "floor": 0.4,
    }
    return {"event": "verdict", "t_ms": t_ms, "decision": decision, "say": say, **usual, **more}


REFUSED = verdict(decision="refused", say="I'm not sure about that.", reason="below_floor")
WAITS = verdict(decision="conversation", say="Sure, take your time.", reason="wait")


@pytest.mark.parametrize(
    ("gold", "window", "outcome"),
    [
        (NINE, [verdict()], "right"),
        (NINE, [REFUSED, verdict()], "right"),
        (NINE, [verdict(say="It is open to 1 p.m.")], "wrong_fact"),
        (NINE, [verdict(citations=["kb-parking#1"])], "wrong_fact"),
        (NINE, [REFUSED], "over_refused"),
        (NINE, [WAITS], "over_refused"),
        (NINE, [], "unanswered"),
        (Gold(Expect.ANSWER, (("9 a.m.",),)), [verdict()], "right"),
        (Gold(Expect.ANSWER, (("9 a.m.",),)), [verdict(citations=["kb-fees#1"])], "wrong_fact"),
        (Gold(Expect.REFUSE), [REFUSED], "right"),
        (Gold(Expect.REFUSE), [WAITS], "right"),
        (Gold(Expect.REFUSE), [verdict()], "wrongly_answered"),
        (Gold(Expect.REFUSE), [], "unanswered"),
        (Gold(Expect.TALK), [WAITS], "right"),
        (Gold(Expect.TALK), [REFUSED], "over_refused"),
        (Gold(Expect.TALK), [verdict()], "wrongly_answered"),
        (Gold(Expect.PERSON), [verdict(decision="conversation", reason="person")], "right"),
        (Gold(Expect.PERSON), [REFUSED, {"event": "handing_over", "t_ms": 9}], "right"),
        (Gold(Expect.PERSON), [WAITS], "over_refused"),
        (Gold(Expect.GOODBYE), [verdict(decision="conversation", reason="goodbye")], "right"),
        (Gold(Expect.GOODBYE), [WAITS], "over_refused"),
        (Gold(Expect.PROMPT), [{"event": "said", "say": "Still there?", "t_ms": 9}], "right"),
        (Gold(Expect.PROMPT), [REFUSED], "wrongly_answered"),
        (Gold(Expect.PROMPT), [], "unanswered"),
        (Gold(Expect.TYPED), [{"event": "typed", "t_ms": 9}], "right"),
        (Gold(Expect.TYPED), [], "unanswered"),
        (Gold(Expect.ANYTHING), [REFUSED], "right"),
        (Gold(Expect.ANYTHING, (("sure",),)), [REFUSED], "right"),
        (Gold(Expect.ANYTHING, (("9 a.m.",),)), [REFUSED], "wrong_fact"),
        (Gold(Expect.ANYTHING), [], "unanswered"),
        (Gold(Expect.NOTHING), [verdict(decision="conversation", say="")], "right"),
        (Gold(Expect.NOTHING), [REFUSED], "wrongly_answered"),
    ],
)
def test_what_was_done_is_set_against_what_was_right(passages, gold, window, outcome):
    assert outcome_of(gold, window, passages) == outcome


@pytest.mark.parametrize(
    ("fact", "heard", "is_said"),
    [
        ("9 a.m.", "The clinic is open from nine AM to one.", True),
        ("9 a.m.", "from 9 a.m. to 1 p.m.", True),
        ("1 p.m.", "until 11 p.m.", False),
        ("555-0142", "call five five five, oh one four two", True),
        ("12:30 p.m.", "at twelve thirty p m", True),
        ("$30", "It is thirty dollars.", True),
        ("$30", "It is 130 dollars.", False),
        ("20 percent", "20% off", True),
        ("closed", "We are open.", False),
    ],
)
def test_a_fact_is_heard_however_it_is_written(fact, heard, is_said):
    gold = Gold(Expect.ANSWER, ((fact,),))
    assert says(gold, heard) is is_said
    assert (outcome_by_ear(gold, heard) == "right") is is_said


@pytest.mark.parametrize(
    ("expect", "heard", "outcome"),
    [
        (Expect.REFUSE, "I'm not sure about that.", "right"),
        (Expect.REFUSE, "It costs five dollars.", "wrongly_answered"),
        (Expect.REFUSE, "", "unanswered"),
        (Expect.PERSON, "Let me connect you.", "right"),
        (Expect.GOODBYE, "Goodbye.", "right"),
        (Expect.TALK, "I'm not sure about that.", "over_refused"),
        (Expect.NOTHING, "Pardon?", "wrongly_answered"),
        (Expect.PROMPT, "Are you still there?", "right"),
    ],
)
def test_the_ear_knows_a_refusal_by_its_words(expect, heard, outcome):
    assert outcome_by_ear(Gold(expect), heard) == outcome


def spoken(start_s, end_s, size):
    """Silence but for a tone between two times, int16 at 8 kHz."""
    wave = np.zeros(size, np.int16)
    wave[int(start_s * 8000) : int(end_s * 8000)] = 3000
    return wave


def turn_result(start_s, end_s, *, answered=True, reply_s=None):
    latency = (reply_s - end_s) * 1000 if reply_s is not None else None
    return TurnResult("x", answered, latency, 500.0, None, start_s, end_s, reply_s)


NOT_REACHED = TurnResult("x", False, None, None, None, None, None, None)
SATURDAY = Turn(NINE, "What time do you guys open on Saturday?")
PIZZA = Turn(Gold(Expect.REFUSE), "Where can I get a good pizza near here?")


def call_of(*turns, number=1, **more):
    return Conversation(f"call {number}", number, "awb", turns, again=f"--only {number}", **more)


def held(call, results, events, *, agent=None, ended_by="caller", error=None):
    recording = np.zeros((80_000, 2), np.int16)
    if agent is not None:
        recording[:, 1] = agent
    result = CallResult(tuple(results), 500.0, recording, ended_by, error)
    return Held(call, result, "0", AT, events)


STARTED = {"event": "call_started", "t_ms": 0.0}
GREETED = {"event": "reply_started", "t_ms": 400.0, "turn": 0}
ENDED = {"event": "call_ended", "t_ms": 9000.0, "reason": "caller hung up"}


def test_verdicts_belong_to_the_turn_that_they_follow(passages):
    events = [STARTED, GREETED, verdict(1950.0), {**REFUSED, "t_ms": 6000.0}, ENDED]
    results = [turn_result(1.0, 2.0, reply_s=2.4), turn_result(5.0, 5.9, reply_s=6.2)]
    found = judge_call(held(call_of(SATURDAY, PIZZA), results, events), passages)
    assert [turn.outcome for turn in found.turns] == ["right", "right"]
    assert (found.problem, found.not_reached, found.failed) == ("", 0, False)
    assert found.turns[0].latency_ms == pytest.approx(400)


def test_what_was_decided_and_never_heard_is_unanswered(passages):
    results = [turn_result(1.0, 2.0, answered=False)]
    found = judge_call(held(call_of(SATURDAY), results, [STARTED, verdict(), ENDED]), passages)
    assert found.turns[0].outcome == "unanswered"


def test_a_reply_that_was_talked_over_was_heard_all_the_same(passages):
    """The agent says goodbye at a pause of the caller's goodbye, and hangs up over the rest."""
    bye = call_of(Turn(Gold(Expect.GOODBYE), "Have a nice day, bye."), ends="goodbye")
    events = [STARTED, verdict(2000.0, "conversation", "Goodbye.", reason="goodbye"), ENDED]
    results = [turn_result(1.0, 3.0, answered=False)]
    agent = spoken(2.2, 3.0, 80_000)
    found = judge_call(held(bye, results, events, agent=agent, ended_by="agent"), passages)
    assert (found.turns[0].outcome, found.turns[0].crossed) == ("right", True)


def test_the_agent_that_begins_in_the_middle_of_a_sentence_crosses_it(passages):
    events = [STARTED, verdict(), ENDED]
    results = [turn_result(1.0, 3.0, reply_s=3.2)]
    for begins_s, crossed in ((2.0, True), (3.2, False)):
        agent = spoken(begins_s, begins_s + 1, 80_000) + spoken(0.1, 0.5, 80_000)
        one = judge_call(held(call_of(SATURDAY), results, events, agent=agent), passages)
        assert one.turns[0].crossed is crossed
    noisy = call_of(SATURDAY, noise=Noise("hum", 10))
    agent = spoken(2.8, 3.8, 80_000)  # the words end at 2.7, and the noise behind them at 3.0
    one = judge_call(held(noisy, results, events, agent=agent), passages)
    assert not one.turns[0].crossed
    assert one.turns[0].latency_ms == pytest.approx(500)


def test_a_reply_has_one_beginning_whatever_pauses_are_in_it():
    agent = spoken(1, 2, 80_000) + spoken(2.2, 3, 80_000) + spoken(4, 5, 80_000)
    assert onsets(agent) == [1.0, 4.0]
    assert onsets(np.zeros(0, np.int16)) == []


CUT = "the call was not over after 7 s"


def test_a_caller_who_drops_the_line_leaves_what_was_not_due_unjudged(passages):
    call = call_of(SATURDAY, PIZZA, SATURDAY, ends="abruptly", hangs_up_s=7.0)
    results = [turn_result(1.0, 2.0, reply_s=2.4), turn_result(5.0, 6.9, answered=False)]
    events = [STARTED, verdict(), ENDED]
    found = judge_call(held(call, [*results, NOT_REACHED], events, error=CUT), passages)
    assert [turn.outcome for turn in found.turns] == ["right"]
    assert (found.not_reached, found.problem) == (2, "")


@pytest.mark.parametrize(
    ("turns", "how", "events", "problem"),
    [
        ([SATURDAY], {"error": CUT}, [ENDED], CUT),
        ([SATURDAY], {"error": "closed with code 1011"}, [ENDED], "closed with code 1011"),
        ([SATURDAY], {}, [verdict()], "its record has no end"),
        ([SATURDAY], {}, None, "the agent has no record of it"),
        ([SATURDAY], {"ended_by": "agent"}, [verdict(), ENDED], "the agent hung up on the caller"),
        (
            [Turn(Gold(Expect.GOODBYE), "Okay, goodbye.")],
            {"ended_by": "caller"},
            [verdict(decision="conversation", reason="goodbye"), ENDED],
            "the agent did not hang up after goodbye",
        ),
        (
            [Turn(Gold(Expect.PERSON), "Can I talk to a person?")],
            {"ended_by": "agent"},
            [{"event": "handing_over", "t_ms": 2000.0}, ENDED],
            "",
        ),
    ],
)
def test_a_call_that_does_not_end_properly_says_how(passages, turns, how, events, problem):
    events = None if events is None else [STARTED, *events]
    found = judge_call(
        held(call_of(*turns), [turn_result(1.0, 2.0, reply_s=2.4)], events, **how), passages
    )
    assert found.problem == problem


def test_without_a_record_the_ear_judges_and_beside_one_it_is_compared(passages):
    results = [turn_result(1.0, 2.0, reply_s=2.4), turn_result(5.0, 5.9, reply_s=6.2)]
    call = call_of(SATURDAY, PIZZA)
    agent = np.arange(80_000).astype(np.int16)
    result = held(call, results, None, agent=agent).result
    heard = replies(call, result, hear=lambda audio: str(audio[0]))
    assert heard == [str(agent[19_200]), str(agent[49_600])], "from each reply's beginning on"
    words = ["It opens at nine a.m.", "It is in Main Street."]
    alone = judge_call(held(call, results, None), passages, words)
    assert [turn.outcome for turn in alone.turns] == ["right", "wrongly_answered"]
    assert alone.problem == ""
    by_ear = figures([alone], Cast({}))
    assert (by_ear["judged_by"], by_ear["by_ear"]) == ("ear", None)
    events = [STARTED, GREETED, verdict(1950.0), {**REFUSED, "t_ms": 6000.0}, ENDED]
    both = judge_call(held(call, results, events), passages, words)
    assert [turn.outcome for turn in both.turns] == ["right", "right"]
    found = figures([both], Cast({}))
    assert found["by_ear"]["as_recorded"]["count"] == 1


def test_what_the_caller_cut_short_is_not_judged_by_ear(passages):
    cuts = replace(PIZZA, cuts_in_ms=400.0)
    call = call_of(SATURDAY, cuts, ends="abruptly", hangs_up_s=7.0)
    results = [turn_result(1.0, 2.0, reply_s=2.4), turn_result(2.8, 4.0, reply_s=6.8)]
    one = held(call, results, None, error=CUT)
    heard = replies(call, one.result, hear=lambda audio: "On")
    assert heard == [None, None], "by the next turn, by the end"
    assert judge_call(one, passages, heard).turns == ()
    recorded = replace(one, events=[STARTED, verdict(2100.0), {**REFUSED, "t_ms": 6500.0}, ENDED])
    judged = judge_call(recorded, passages, heard)
    assert [turn.by_ear for turn in judged.turns] == [None, None]
    assert [turn.outcome for turn in judged.turns] == ["right", "right"]


def record(folder, name, caller, at):
    events = [
        {"event": "call_started", "t_ms": 0.0, "at": at.isoformat(), "caller": caller},
        {"event": "call_ended", "t_ms": 1.0, "reason": name},
    ]
    text = "".join(json.dumps(event) + "\n" for event in events)
    (folder / f"{name}.jsonl").write_text(text, "utf-8")


def test_a_record_is_found_by_the_number_in_full_masked_or_by_the_time(tmp_path):
    calls = [call_of(SATURDAY, number=n) for n in (1, 2, 101, 3)]
    placed = [
        Held(call, CallResult((), None, np.zeros((0, 2), np.int16), "caller"), "0", AT + n * SECOND)
        for n, call in enumerate(calls)
    ]
    assert number_of(calls[0])[-4:] == number_of(calls[2])[-4:] == "0101"
    record(tmp_path, "full", number_of(calls[1]), AT + SECOND)
    record(tmp_path, "first", "…01", AT + 0.1 * SECOND)
    record(tmp_path, "later", "…01", AT + 2.1 * SECOND)
    record(tmp_path, "nameless", "", AT + 3.2 * SECOND)
    record(tmp_path, "of yesterday", "…01", AT - timedelta(days=1))
    (tmp_path / "broken.jsonl").write_text("{", "utf-8")
    found = [one.events[-1]["reason"] for one in with_records(placed, tmp_path)]
    assert found == ["first", "full", "later", "nameless"]


SECOND = timedelta(seconds=1)


def many(passages, good, bad):
    """Calls from a quiet place that go well, and from a noisy one that do not."""
    calls = []
    for number in range(good + bad):
        noise = Noise("babble", 5) if number >= good else None
        call = call_of(SATURDAY, number=number, noise=noise)
        events = [STARTED, REFUSED if noise else verdict(), ENDED]
        results = [turn_result(1.0, 2.0, reply_s=2.4)]
        calls.append(judge_call(held(call, results, events), passages))
    return figures(calls, Cast({}))


def test_the_figures_say_what_hurts(passages):
    found = many(passages, good=12, bad=6)
    assert found["right"] | {"rate": 0} == {
        "count": 12, "n": 18, "rate": 0, "low": 0.4375, "high": 0.8372,
    }  # fmt: skip
    assert found["outcomes"]["over_refused"] == 6
    noise = found["factors"]["noise"]
    assert [(name, row["right"]["count"], row["right"]["n"]) for name, row in noise.items()] == [
        ("babble", 0, 6),
        ("none", 12, 12),
    ]
    assert is_worse("babble", noise)
    assert not is_worse("none", noise)
    assert not is_worse("first", found["factors"]["turn"]), "there is nothing to compare it with"
    shown = "\n".join(lines({**found, "callers_late_p95_ms": 90.0}, 1))
    assert "too busy: callers' audio left up to 90 ms late" in shown
    assert "12 of 18" in shown
    assert "calls to look at (1 of 6)" in shown
    assert "again: frontdesk eval calls --only 12" in shown
    assert "gold   answer: 9 a.m." in shown


def test_the_page_shows_what_failed_and_nothing_of_it_is_markup(passages):
    call = call_of(SATURDAY)
    events = [STARTED, {**REFUSED, "heard": "<script>alert(1)</script>"}, ENDED]
    one = judge_call(held(call, [turn_result(1.0, 2.0, reply_s=2.4)], events), passages)
    html = page("Calls", figures([one], Cast({})), {"call 1": ["call-0001.wav", "call-0001.jsonl"]})
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "frontdesk eval calls --only 1" in html
    assert "src='call-0001.wav'" in html
