"""Scripts of callers: what a business writes is read, and what is wrong with it is named."""

import re

import pytest

from agent.settings import SAMPLE_KB
from bench.recordings import AUDIO
from bench.simulated.plan import EXPECTS, Expect
from bench.simulated.scenarios import read_scenarios
from bench.simulated.scripts import read_script
from bench.simulated.voices import cast_of
from frontdesk import ConfigError
from rag import questions
from tests.isolation import ROOT

EXAMPLE = ROOT / "kb" / "clinic-callers.toml"
QUESTIONS = SAMPLE_KB / questions.QUESTIONS_FILE


@pytest.fixture(scope="module")
def cast():
    return cast_of(QUESTIONS, AUDIO)


@pytest.fixture
def reading(tmp_path, cast):
    rows = questions.read(QUESTIONS)

    def read(text):
        path = tmp_path / "callers.toml"
        path.write_text(text, "utf-8")
        return read_script(path, cast, rows)

    return read


def test_the_example_is_read(cast):
    calls = read_script(EXAMPLE, cast, questions.read(QUESTIONS))
    assert [call.number for call in calls] == list(range(1, len(calls) + 1))
    said = {turn.label: turn.gold for call in calls for turn in call.turns}
    assert said["What time do you guys open on Saturday?"].facts == (("9 a.m.",),)
    assert said["Okay, and what about Sunday?"].relevant == ("kb-hours#3",)
    assert said["[presses 48151623#]"].expect is Expect.TYPED
    assert said["[silent for 11.5 s]"].expect is Expect.PROMPT
    (noisy,) = (call for call in calls if call.noise)
    assert (noisy.voice, noisy.noise.snr_db, noisy.line.loss_percent) == ("gongitsune", 15, 2)
    assert noisy.turns[1].cuts_in_ms == 600
    assert calls[1].ends == "goodbye"
    assert calls[1].turns[0].but.startswith("No, wait")
    assert calls[-1].hangs_up_s == 20


TURN = '[[call]]\n[[call.turn]]\nsays = "hello"\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "call: it is missing"),
        ("[[call]]", "call 1, turn: it is missing"),
        ("call = ", "cannot be read"),
        (TURN, "call 1, turn 1, expect: what is right to do?"),
        (f'{TURN}expect = "answer"', "call 1, turn 1, facts: what must an answer say?"),
        (f'{TURN}expect = "aswer"', "call 1, turn 1: expect = 'aswer'; it is one of answer,"),
        (f'{TURN}expect = "refuse"\nfacts = ["9"]', "facts are of an answer"),
        (f'{TURN}press = "1"\nexpect = "talk"', "this one has says and press"),
        ('[[call]]\n[[call.turn]]\nexpect = "talk"', "this one has none"),
        ('[[call]]\n[[call.turn]]\npress = "12a"\nexpect = "typed"', "press has 'a'"),
        ('[[call]]\n[[call.turn]]\nasks = "q999"', "call 1, turn 1, asks: questions.jsonl has no"),
        ('[[call]]\n[[call.turn]]\naudio = "no.wav"\nexpect = "talk"', "turn 1, audio: no file"),
        (f'{TURN}expect = "talk"\ncutsin = true', "turn 1, cutsin: no such key"),
        (f'{TURN}expect = "talk"\npause_ms = -1', "turn 1, pause_ms: Input should be greater"),
        (TURN.replace("]]\n", ']]\nvoice = "bob"\n', 1), "call 1, voice: no voice 'bob'"),
        (
            TURN.replace("]]\n", ']]\nvoice = "rms"\n', 1) + 'expect = "talk"',
            "call 1, turn 1: voice 'rms' has no recording of 'hello'",
        ),
        (
            TURN.replace("]]\n", ']]\nnoise = { kind = "rain" }\n', 1),
            "call 1, noise: no noise 'rain'; there are hiss",
        ),
        (TURN.replace("]]\n", "]]\nline = { loss = 101 }\n", 1), "call 1, line, loss: "),
        (
            TURN.replace("]]\n", ']]\nends = "abruptly"\n', 1) + 'expect = "talk"',
            "call 1, hangs_up_s: ends",
        ),
    ],
)
def test_what_is_wrong_is_named_by_call_turn_and_key(reading, text, line):
    with pytest.raises(ConfigError, match=re.escape(line)) as error:
        reading(text)
    assert "callers.toml" in str(error.value)
    assert "\n" not in str(error.value) or "cannot be read" in line


def test_a_fact_may_have_several_wordings(reading):
    (call,) = reading(f'{TURN}facts = ["9 a.m.", ["closed", "not open"]]')
    assert call.turns[0].gold.facts == (("9 a.m.",), ("closed", "not open"))
    assert call.turns[0].gold.expect is Expect.ANSWER


def test_the_docs_list_everything_that_can_be_expected():
    page = (ROOT / "docs" / "simulated-callers.md").read_text("utf-8")
    assert [name for name in EXPECTS if f"| `{name}` |" not in page] == []
    assert {one.value for one in Expect} == set(EXPECTS)


PIPECAT = """
name: clinic
user: {modality: audio, speech: {service: kokoro, voice: af_heart}}
scenarios:
  - name: cuts in
    turns:
      - expect: [{event: response}]
      - user: "When do you open on Saturday?"
        expect: [{event: user_stopped_speaking}, {event: response, text_contains: "9 a.m."}]
      - user: ["And", {pause_ms: 400}, "on Sunday?"]
        send_after: {event: bot_started_speaking, delay_ms: 700}
        expect: [{event: response}]
      - dtmf: "012#"
        expect: [{event: response, absent: true}]
"""


def test_a_scenario_file_of_pipecat_is_a_script(tmp_path):
    path = tmp_path / "clinic.yaml"
    path.write_text(PIPECAT, "utf-8")
    (call,) = read_scenarios(path)
    first, second, third = call.turns
    assert (first.words, first.gold.facts) == ("When do you open on Saturday?", (("9 a.m.",),))
    assert (second.words, second.pause_ms, second.but) == ("And", 400, "on Sunday?")
    assert (second.cuts_in_ms, second.gold.expect) == (700, Expect.ANYTHING)
    assert (third.keys, third.gold.expect) == ("012#", Expect.NOTHING)


@pytest.mark.parametrize(
    ("was", "now", "line"),
    [
        ("event: response, absent: true", "event: function_call", "'function_call' is nothing"),
        ('text_contains: "9 a.m."', 'eval: "says nine"', "only text_contains is judged"),
        ("bot_started_speaking", "llm_started", "not 'llm_started'"),
        ('dtmf: "012#"', 'dtmf: "12x"', "invalid keypad entry"),
        ("    turns:", "    persona: p\n    goal: g\n    success: s\n    t:", "language model"),
    ],
)
def test_what_a_telephone_has_not_is_named(tmp_path, was, now, line):
    path = tmp_path / "clinic.yaml"
    path.write_text(PIPECAT.replace(was, now), "utf-8")
    with pytest.raises(ConfigError, match=re.escape(line)):
        read_scenarios(path)
