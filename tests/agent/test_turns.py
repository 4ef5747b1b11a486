"""The turn machine with a fake clock: values, not shapes."""

import random

import pytest

from agent.turns import (
    Action,
    AgentStarted,
    AgentStopped,
    Clock,
    Heard,
    SoundsComplete,
    SpeechStarted,
    SpeechStopped,
    TurnMachine,
    TurnPolicy,
    dangles,
)

POLICY = TurnPolicy()


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
    assert m.deadline_ms == 3200
    assert m.step(Clock(), 3199.9) == []
    assert m.step(Clock(), 3200) == [Action.END_TURN]
    assert m.step(Clock(), 3300) == []


def test_a_late_transcript_ends_the_turn_at_once():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(0.9), 3150)
    assert m.deadline_ms == 3000 + POLICY.cap_ms
    assert m.step(Heard("what time do you open"), 3290) == [Action.END_TURN]


@pytest.mark.parametrize(
    ("probability", "text", "wait"),
    [
        (0.9, "what time do you open", POLICY.settle_ms),
        (0.1, "what time do you open", POLICY.unsure_ms),
        (0.9, "my number is 555 and", POLICY.dangling_ms),
        (0.1, "what about the", POLICY.dangling_ms),
        (0.9, "", POLICY.settle_ms),
    ],
)
def test_patience_follows_the_evidence(probability, text, wait):
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(probability), 3100)
    m.step(Heard(text), 3101)
    assert m.deadline_ms == 3000 + wait


def test_speech_that_goes_on_withdraws_the_pause():
    m = opened()
    m.step(SpeechStopped(96), 3096)
    m.step(SoundsComplete(0.9), 3150)
    assert m.step(SpeechStarted(), 3180) == []
    assert m.deadline_ms is None
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


def test_any_order_of_events_keeps_turns_paired():
    """A turn ends only after it began, and never twice, whatever the wire does."""
    rng = random.Random(7)
    for _ in range(300):
        m, now, is_open = machine(), 0.0, False
        for _ in range(60):
            now += rng.uniform(0, 900)
            event = rng.choice(
                [
                    SpeechStarted(),
                    SpeechStopped(96),
                    SoundsComplete(rng.random()),
                    Heard(rng.choice(["", "what about the", "when do you open"])),
                    AgentStarted(),
                    AgentStopped(),
                    Clock(),
                ]
            )
            for action in m.step(event, now):
                if action is Action.START_TURN:
                    assert not is_open
                    is_open = True
                elif action is Action.END_TURN:
                    assert is_open
                    is_open = False
