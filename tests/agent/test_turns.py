"""The turn machine with a fake clock: values, not shapes."""

import random

import pytest

from agent.patience import dangles, patience_ms
from agent.turns import (
    Action,
    AgentStarted,
    AgentStopped,
    Clock,
    Doubt,
    Heard,
    SoundsComplete,
    SpeechStarted,
    SpeechStopped,
    TurnMachine,
    TurnPolicy,
)

POLICY = TurnPolicy()


@pytest.fixture(autouse=True)
def _plain_patience(monkeypatch):
    """What is worth waiting for is not the machine's: ``test_patience`` has it."""

    def plain(text, probability, policy, **_):
        if text is None or probability is None:
            return policy.cap_ms
        return policy.settle_ms if probability > 0.5 else policy.unsure_ms

    monkeypatch.setattr("agent.turns.patience_ms", plain)


def machine() -> TurnMachine:
    return TurnMachine(POLICY)


def opened(at: float = 1000.0) -> TurnMachine:
    m = machine()
    assert m.step(SpeechStarted(), at) == [Action.INTERRUPT, Action.START_TURN]
    return m


def test_agreeing_signals_end_the_turn_at_settle():
    m = opened()
    assert m.step(SpeechStopped(96), 3096) == [Action.ASK_TURN_MODEL]
    assert m.step(SoundsComplete(0.9), 3150) == []
    assert m.step(Heard("what time do you open"), 3160) == []
    over = 3000 + TurnPolicy().settle_ms
    assert m.deadline_ms == over
    assert m.step(Clock(), over - 0.1) == []
    assert m.step(Clock(), over) == [Action.END_TURN]
    assert m.step(Clock(), 3300) == []


def test_a_late_transcript_ends_the_turn_at_once():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(0.9), 3150)
    assert m.deadline_ms == 3000 + POLICY.cap_ms
    assert m.step(Heard("what time do you open"), 3290) == [Action.END_TURN]


@pytest.mark.parametrize("probability", [0.1, 0.9])
@pytest.mark.parametrize(
    "text", ["what time do you open", "my number is 555 and", "what about the"]
)
def test_patience_follows_the_evidence(probability, text, monkeypatch):
    monkeypatch.setattr("agent.turns.patience_ms", patience_ms)
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(probability), 3100)
    m.step(Heard(text), 3101)
    assert m.deadline_ms == 3000 + patience_ms(text, probability, POLICY)


def test_patience_grows_with_a_caller_who_pauses(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "agent.turns.patience_ms", lambda *_, resumed=0, **__: asked.append(resumed) or 400.0
    )
    m = opened()
    m.step(SpeechStopped(96), 2096)
    m.step(SpeechStarted(), 2300)
    m.step(SpeechStopped(96), 3096)
    assert (asked[0], asked[-1]) == (0, 1)
    assert m.step(Clock(), 3400) == [Action.END_TURN]
    m.step(AgentStarted(), 3500)
    m.step(SpeechStarted(), 3700)  # too soon to have reacted: that turn was not over either
    m.step(SpeechStopped(96), 4096)
    assert asked[-1] == 2
    m.step(Clock(), 4400)
    m.step(AgentStarted(), 4500)
    m.step(SpeechStarted(), 6000)
    m.step(SpeechStopped(96), 6400)
    assert asked[-1] == 1


def test_speech_that_goes_on_withdraws_the_pause():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(0.9), 3150)
    assert m.step(SpeechStarted(), 3180) == []
    assert m.deadline_ms == 3180 + POLICY.wordless_ms
    # A probability about the first pause arrives late; it must not end the second.
    assert m.step(Clock(), 9000) == []
    m.step(SpeechStopped(96), 5096)
    m.step(SoundsComplete(0.9), 5150)
    assert m.step(Heard("what time do you open on sunday"), 5210) == [Action.END_TURN]


def test_a_judgement_of_an_earlier_pause_does_not_end_a_later_one():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SpeechStarted(), 3120)
    assert m.step(SoundsComplete(0.9), 3150) == []
    m.step(SpeechStopped(96), 5096)
    assert m.step(Heard("what time do you open"), 5150) == []
    assert m.deadline_ms == 5000 + POLICY.cap_ms
    m.step(SoundsComplete(0.9), 5160)
    assert m.deadline_ms == 5000 + POLICY.settle_ms


def test_without_evidence_the_cap_ends_the_turn():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    assert m.step(Clock(), 3000 + POLICY.cap_ms) == [Action.END_TURN]


def test_the_caller_interrupts_the_agent():
    m = machine()
    m.step(AgentStarted(), 0)
    assert m.step(SpeechStarted(), 700) == [Action.INTERRUPT, Action.START_TURN]


def speaking(at: float = 0.0) -> TurnMachine:
    m = machine()
    m.step(AgentStarted(), at)
    return m


CUT = [Action.INTERRUPT, Action.START_TURN]
LISTENS = Heard("mhm", takes_turn=False)


def test_who_only_listened_is_done_at_settle_however_it_sounds():
    m = speaking()
    assert m.step(SpeechStarted(), 1000) == CUT
    m.step(SpeechStopped(96), 1396)
    m.step(SoundsComplete(0.1), 1450)
    assert m.step(LISTENS, 1460) == []
    assert m.deadline_ms == 1300 + POLICY.settle_ms
    assert m.step(Clock(), 1500) == [Action.END_TURN]


def test_a_noise_that_goes_on_gives_the_turn_back_and_words_in_it_take_it():
    m = speaking()
    m.step(SpeechStarted(), 1000)
    m.step(AgentStopped(), 1010)
    m.step(Heard("", provisional=True), 1500)
    assert m.deadline_ms == 1000 + POLICY.noise_ms
    assert m.step(Clock(), 2000) == [Action.END_TURN]
    m.step(AgentStarted(), 2100)
    assert m.doubt is Doubt.WORDLESS
    assert m.step(Heard("", provisional=True), 2300) == []
    assert m.step(Heard("what about sunday", provisional=True), 2600) == CUT


def test_a_noise_that_ends_without_words_leaves_no_turn_behind():
    m = speaking()
    m.step(SpeechStarted(), 1000)
    m.step(Heard("", provisional=True), 1500)
    m.step(Clock(), 2000)
    assert m.step(SpeechStopped(96), 2596) == []
    assert m.step(Heard(""), 2650) == [Action.IGNORE]
    assert not m.is_open


@pytest.mark.parametrize("doubt", [Doubt.ECHO, Doubt.QUIET])
def test_a_doubted_sound_does_not_cut_the_agent(doubt):
    m = speaking()
    assert m.step(SpeechStarted(doubt), 1000) == []
    assert m.doubt is doubt
    assert m.step(Heard("on saturday", provisional=True, takes_turn=False), 1400) == []
    assert m.step(SpeechStopped(96), 2096) == []
    assert m.step(Heard("on saturday the clinic", takes_turn=False), 2150) == [Action.IGNORE]
    assert m.deadline_ms is None


def test_the_words_of_an_echo_take_no_turn_however_they_are_heard():
    m = speaking()
    m.step(SpeechStarted(Doubt.ECHO), 1000)
    assert m.step(Heard("how can i help you", provisional=True), 1400) == []
    m.step(SpeechStopped(96), 2096)
    assert m.step(Heard("thanks for calling the gymnast"), 2150) == [Action.IGNORE]


def test_a_doubted_sound_nobody_recognises_is_forgotten():
    m = speaking()
    m.step(SpeechStarted(Doubt.ECHO), 1000)
    m.step(SpeechStopped(96), 2096)
    assert m.step(Clock(), 2000 + POLICY.cap_ms) == [Action.IGNORE]


def test_words_of_a_doubted_sound_take_the_turn_and_end_it():
    m = speaking()
    m.step(SpeechStarted(Doubt.QUIET), 1000)
    m.step(SpeechStopped(96), 1396)
    assert m.step(Heard("stop"), 1450) == CUT
    assert m.step(Clock(), 1300 + POLICY.settle_ms) == [Action.END_TURN]


def test_a_doubt_that_goes_is_a_caller():
    m = speaking()
    m.step(SpeechStarted(Doubt.ECHO), 1000)
    assert m.step(SpeechStarted(), 1500) == [Action.IGNORE, *CUT]
    quiet = speaking()
    quiet.step(SpeechStarted(Doubt.QUIET), 1000)
    assert quiet.step(SpeechStarted(), 1060) == CUT, "what was said softly belongs to the turn"


def test_a_far_voice_has_the_turn_once_the_agent_is_done():
    m = speaking()
    m.step(SpeechStarted(Doubt.QUIET), 1000)
    assert m.step(AgentStopped(), 1300) == CUT


def test_only_an_echo_is_doubted_while_the_agent_is_silent():
    assert machine().step(SpeechStarted(Doubt.QUIET), 1000) == CUT
    assert machine().step(SpeechStarted(Doubt.ECHO), 1000) == []


def test_sound_without_new_words_does_not_keep_a_turn_open():
    m = opened(1000)
    m.step(Heard("what time", provisional=True), 1500)
    m.step(Heard("what time", provisional=True), 4000)
    assert m.deadline_ms == 1500 + POLICY.wordless_ms
    m.step(Heard("what time do", provisional=True), 5000)
    assert m.step(Clock(), 5000 + POLICY.wordless_ms) == [Action.END_TURN]


def test_no_turn_is_longer_than_the_longest():
    m, now = opened(1000), 1000.0
    while now < 1000 + POLICY.longest_ms:
        assert m.step(Heard(f"word {now}", provisional=True), now) == []
        now += 5000
    assert m.step(Clock(), now) == [Action.END_TURN]


def test_noise_does_not_put_the_goodbye_off():
    m, now = machine(), 0.0
    for expected in (Action.PROMPT, Action.PROMPT, Action.GIVE_UP):
        m.step(SpeechStarted(), now + 1000)
        m.step(SpeechStopped(96), now + 1396)
        m.step(Heard(""), now + 1450)
        assert m.step(Clock(), now + 1300 + POLICY.cap_ms) == [Action.END_TURN]
        now += 1300 + POLICY.cap_ms + POLICY.prompt_after_ms
        assert m.step(Clock(), now) == [expected]


def test_an_interim_does_not_decide_how_long_to_wait():
    m = opened()
    m.step(Heard("what time do you open", provisional=True), 2000)
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(0.9), 3150)
    assert m.deadline_ms == 3000 + POLICY.cap_ms, "its last words may be missing"


def test_silence_is_prompted_twice_and_then_given_up():
    m = machine()
    m.step(AgentStarted(), 0)
    assert m.deadline_ms is None
    m.step(AgentStopped(), 2000)
    due = 2000 + POLICY.prompt_after_ms
    assert m.deadline_ms == due
    assert m.step(Clock(), due) == [Action.PROMPT]
    m.step(AgentStarted(), due + 100)
    m.step(AgentStopped(), due + 1100)
    assert m.step(Clock(), due + 1100 + POLICY.prompt_after_ms) == [Action.PROMPT]
    assert m.step(Clock(), due + 1100 + 2 * POLICY.prompt_after_ms) == [Action.GIVE_UP]


def test_yes_right_after_the_prompt_is_a_turn():
    m = machine()
    assert m.step(Clock(), POLICY.prompt_after_ms) == [Action.PROMPT]
    m.step(AgentStarted(), 12_100)
    m.step(AgentStopped(), 13_100)
    assert m.step(SpeechStarted(), 13_300) == CUT
    m.step(SpeechStopped(96), 13_696)
    m.step(SoundsComplete(0.9), 13_740)
    m.step(Heard("yes"), 13_760)
    assert m.step(Clock(), 13_600 + POLICY.settle_ms) == [Action.END_TURN]
    assert m.step(Clock(), 13_800 + POLICY.prompt_after_ms) == [Action.PROMPT], "the first again"


def test_speech_forgives_the_silence_before_it():
    m = machine()
    assert m.step(Clock(), POLICY.prompt_after_ms) == [Action.PROMPT]
    m.step(SpeechStarted(), 13000)
    m.step(SpeechStopped(96), 14096)
    m.step(SoundsComplete(0.9), 14100)
    assert m.step(Heard("hello"), 14300) == [Action.END_TURN]
    assert m.step(Clock(), 14300 + POLICY.prompt_after_ms) == [Action.PROMPT]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what time do you open and", True),
        ("What time do you open?", False),
        ("my number is um", True),
        ("I want to", True),
        ("what is that for", False),
        ("when do you open on", False),
        ("how much is the", True),
        ("Do you?", True),
        ("um, can I", True),
        ("What do you", True),
        ("Who are you?", False),
        ("How are you?", False),
        ("Do you take walk-ins?", False),
        ("What are your hours?", False),
        ("", False),
        ("and", True),
    ],
)
def test_dangling(text, expected):
    assert dangles(text) is expected


def any_event(rng):
    return rng.choice(
        [
            SpeechStarted(),
            SpeechStarted(rng.choice(list(Doubt))),
            SpeechStopped(96),
            SoundsComplete(rng.random()),
            Heard(
                rng.choice(["", "what about the", "when do you open"]),
                provisional=rng.random() < 0.5,
                takes_turn=rng.random() < 0.5,
            ),
            AgentStarted(),
            AgentStopped(),
            Clock(),
        ]
    )


def test_any_order_of_events_keeps_turns_paired():
    """A turn ends only after it began, and never twice, whatever the wire does."""
    rng = random.Random(7)
    for _ in range(300):
        m, now, is_open = machine(), 0.0, False
        for _ in range(60):
            now += rng.uniform(0, 900)
            for action in m.step(any_event(rng), now):
                if action is Action.START_TURN:
                    assert not is_open
                    is_open = True
                elif action is Action.END_TURN:
                    assert is_open
                    is_open = False


def test_the_text_of_a_turn_that_ended_in_noise_opens_none():
    m = opened(1000)
    m.step(Heard("what time do you open", provisional=True), 1500)
    assert m.step(Clock(), 1500 + POLICY.wordless_ms) == [Action.END_TURN]
    assert m.doubt is Doubt.WORDLESS
    assert m.step(Heard("what time do you open", over=True), 11_600) == []
    assert not m.is_open


def test_whatever_came_before_a_silent_line_is_hung_up_on():
    """No order of events leaves a call that waits for ever."""
    rng = random.Random(11)
    for _ in range(200):
        m, now = machine(), 0.0
        for _ in range(30):
            now += rng.uniform(0, 900)
            m.step(any_event(rng), now)
        if rng.random() < 0.5:
            m.step(SpeechStopped(96), now)
        m.step(AgentStopped(), now)
        done = []
        for _ in range(10):
            if Action.GIVE_UP in done:
                break
            assert m.deadline_ms is not None
            now = max(now, m.deadline_ms)
            done = m.step(Clock(), now)
            assert done
            if Action.PROMPT in done:
                m.step(AgentStarted(), now)
                m.step(AgentStopped(), now)
        assert Action.GIVE_UP in done
