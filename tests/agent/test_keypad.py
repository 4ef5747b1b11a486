"""Keys: the machine with a clock that the test moves, and the grounded answer over it."""

import asyncio

import pytest
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    InputDTMFFrame,
    InterruptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.handover import Standing
from agent.handover_rules import Rules
from agent.keypad import Again, Ask, Keypad, KeyPolicy, Person, Typed, Unknown
from agent.replay import Models, replay
from agent.turns import Action, AgentStopped, Clock, Heard, SignOfLife, TurnMachine, TurnPolicy
from frontdesk import ConfigError
from rag import Policy
from tests.agent.desk import ON_SATURDAY, REFILL, SATURDAY, Desk, text
from tests.agent.one_processor import events, settle, within

MENU = {"1": SATURDAY, "2": REFILL}
REPEAT = "could you repeat that"


def typed(keys, policy=None, gap_ms=300.0):
    """What ``keys``, ``gap_ms`` apart, and then silence do, each with when it was done."""
    keypad = Keypad(policy or KeyPolicy(menu=MENU))
    now, done = 0.0, []
    for key in keys:
        deadline = keypad.deadline_ms
        if deadline is not None and deadline <= now:
            done += [(action, deadline) for action in keypad.clock(deadline)]
        done += [(action, now) for action in keypad.press(key, now)]
        now += gap_ms
    while (deadline := keypad.deadline_ms) is not None:
        assert keypad.clock(deadline - 1) == []
        done += [(action, deadline) for action in keypad.clock(deadline)]
    return done


def test_one_key_and_silence_is_a_key_of_the_menu():
    assert typed("1") == [(Ask("1", SATURDAY), 1200)]
    assert typed("0") == [(Person("0"), 1200)]
    assert typed("7") == [(Unknown("7"), 3000)]


def test_more_keys_are_a_number():
    assert typed("1042") == [(Typed("1042"), 3 * 300 + 3000)]
    assert typed("11") == [(Typed("11"), 300 + 3000)]


def test_who_presses_the_key_for_a_person_again_and_again_wants_one():
    assert typed("000") == [(Person("0"), 2 * 300 + 1200)]
    assert typed("00#") == [(Person("0"), 2 * 300)]
    assert typed("0042#") == [(Typed("0042"), 4 * 300)]
    assert typed("00", KeyPolicy(person="")) == [(Typed("00"), 300 + 3000)]


def test_pound_ends_a_number_or_a_key_at_once():
    assert typed("1042#") == [(Typed("1042"), 4 * 300)]
    assert typed("1#") == [(Ask("1", SATURDAY), 300)]
    assert typed("#") == []


def test_a_second_key_after_the_silence_is_another_key():
    assert typed("12", gap_ms=1300) == [
        (Ask("1", SATURDAY), 1200),
        (Ask("2", REFILL), 1300 + 1200),
    ]


def test_star_repeats_and_in_a_number_starts_again():
    assert typed("*") == [(Ask("*", REPEAT), 0)]
    assert typed("12*34#") == [(Again(), 600), (Typed("34"), 5 * 300)]


def test_where_no_number_is_wanted_a_key_acts_at_once():
    policy = KeyPolicy(menu=MENU, numbers=False)
    assert typed("10#", policy) == [(Ask("1", SATURDAY), 0), (Person("0"), 300)]


def test_keys_can_be_switched_off():
    policy = KeyPolicy(person="", repeat="", numbers=False)
    assert typed("0*", policy) == [(Unknown("0"), 0), (Unknown("*"), 300)]


def test_double_digits_are_two_however_close():
    assert typed("4422#", gap_ms=0) == [(Typed("4422"), 0)]


def test_what_is_longer_than_any_number_is_asked_for_again():
    assert typed("9" * 20 + "#", gap_ms=1) == [(Typed("9" * 20), 20)]
    assert typed("9" * 5000 + "#", gap_ms=1) == [(Again(), 5000)]


def test_only_a_key_that_does_something_stops_the_agent():
    keypad = Keypad(KeyPolicy(menu={"1": SATURDAY}, numbers=False))
    assert [key for key in "0123456789*#" if keypad.means(key)] == ["0", "1", "*"]
    keypad = Keypad(KeyPolicy())
    assert [key for key in "0123456789*#" if keypad.means(key)] == list("0123456789*")
    keypad.press("4", 0)
    assert keypad.means("#")


def test_a_number_is_in_no_repr():
    assert "1042" not in repr(typed("1042#"))


def test_a_key_is_a_sign_of_life():
    policy = TurnPolicy(prompt_after_ms=1000, prompts=1)
    machine = TurnMachine(policy)
    machine.step(AgentStopped(), 0)
    assert machine.step(Clock(), 1000) == [Action.PROMPT]
    machine.step(SignOfLife(), 1500)
    assert machine.step(Clock(), 2000) == []
    assert machine.step(Clock(), 2500) == [Action.PROMPT], "not the goodbye"
    assert machine.step(Heard("hello"), 2600) == []


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"menu": {"12": "when do you open"}}, "no key of a telephone"),
        ({"menu": {"A": "when do you open"}}, "no key of a telephone"),
        ({"menu": {"1": " "}}, "asks nothing"),
        ({"person": "00"}, "pattern"),
        ({"pause_s": 0}, "greater than 0"),
        ({"menu": {"0": "when do you open"}}, "menu.0: key 0 is keys.person"),
        ({"person": "*"}, "repeat: key [*] is keys.person"),
        ({"person": "#"}, "person: key # ends a number"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, keys, says):
    with pytest.raises(ConfigError, match=says):
        settings(keys=keys)


# --- in the pipeline ---------------------------------------------------------------------------


@pytest.fixture
def keyed(clinic, tmp_path):
    """``keyed(numbers=…)``: a desk whose keys act at once, or after 20 ms."""

    def make(**policy):
        policy = KeyPolicy(menu=MENU, alone_ms=20, pause_ms=20, **policy)
        return Desk(clinic, tmp_path, Standing(Rules()), keys=policy)

    return make


async def press(desk, keys):
    for key in keys:
        await desk.send(InputDTMFFrame(KeypadEntry(key)))


async def waited(desk, count):
    """Silence, until the agent has said ``count`` things."""
    desk.record.at_ms += 5000
    await desk.down.wait_for(TTSSpeakFrame, count)


async def test_a_key_of_the_menu_is_answered_as_if_it_were_said(keyed):
    async with keyed(numbers=False) as desk:
        await press(desk, "1")
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.spoken == [ON_SATURDAY]
        (verdict,) = events(desk.record, "verdict")
        assert (verdict["heard"], verdict["key"]) == (SATURDAY, "1")
        assert verdict["citations"] == ["kb-hours#2"]
        await desk.turn("and what about sunday")
        assert "sunday" in desk.spoken[1].lower()


async def test_a_key_over_the_agent_stops_it_and_acts_once(keyed):
    async with keyed(numbers=False) as desk:
        await desk.turn(SATURDAY)
        await desk.plays(1000)
        await press(desk, "2")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert len(desk.down.of(InterruptionFrame)) == 1
        assert desk.heard() == [SATURDAY, REFILL]
        (cut,) = events(desk.record, "interrupted")
        assert cut["say"] == ON_SATURDAY
        await settle()
        assert len(desk.spoken) == 2


async def test_a_key_that_means_nothing_does_not_stop_it(keyed):
    async with keyed(numbers=False) as desk:
        await desk.turn(SATURDAY)
        await desk.plays(1000)
        await press(desk, "#")
        await settle()
        assert not desk.down.of(InterruptionFrame)
        assert desk.spoken == [ON_SATURDAY]


async def test_a_stray_key_that_cut_a_reply_lets_it_go_on(keyed):
    async with keyed() as desk:
        await desk.turn(SATURDAY)
        await desk.plays(1000)
        await press(desk, "7")
        await waited(desk, 2)
        assert desk.spoken == [ON_SATURDAY, ON_SATURDAY]
        assert events(desk.record, "resumed")


async def test_a_stray_key_in_silence_is_told(keyed):
    async with keyed() as desk:
        await press(desk, "7")
        await waited(desk, 1)
        assert desk.spoken == ["That key does nothing here. What can I help you with?"]


async def test_star_says_it_again(keyed):
    async with keyed() as desk:
        await desk.turn(SATURDAY)
        await desk.plays(4000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await press(desk, "*")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, ON_SATURDAY]


async def test_a_typed_number_is_masked_everywhere_and_kept_for_the_person(keyed, lines):
    async with keyed() as desk:
        await press(desk, "83729164#")
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.spoken == [
            "Thank you. I have a number ending in 6 4. What can I help you with?"
        ]
        await desk.turn(SATURDAY)
        session = desk.answer._session
        assert "8 3 7 2 9 1 6 4" in session.summary("key", whole=True)
        assert desk.asked == [SATURDAY], "a number is never looked up"
    record = desk.record.path.read_text()
    assert [e["number"] for e in events(desk.record, "typed")] == ["a number ending in 6 4"]
    assert [e["key"] for e in events(desk.record, "key")] == ["digit"] * 8 + ["#"]
    for hidden in ("83729164", "8 3 7 2", "8372"):
        assert hidden not in record
        assert not [line for _, line in lines.all if hidden in line]


async def test_a_number_is_masked_where_none_is_wanted_too(keyed):
    async with keyed(numbers=False) as desk:
        await press(desk, "8359#")
        await settle()
    assert [e["key"] for e in events(desk.record, "key")] == ["digit"] * 4 + ["#"]


async def test_a_number_ends_with_a_pause_too(keyed):
    async with keyed() as desk:
        await press(desk, "1042")
        await settle()
        assert desk.spoken == []
        await waited(desk, 1)
        assert "ending in 4 2" in desk.spoken[0]


async def test_a_key_is_not_joined_to_what_was_said_before(keyed):
    async with keyed(numbers=False) as desk:
        await desk.turn("How long does it take?")
        await press(desk, "1")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await desk.turn(REFILL)
        assert desk.heard()[1:] == [SATURDAY, REFILL]


async def test_a_key_takes_the_place_of_an_answer_that_is_not_there_yet(keyed):
    async with keyed(numbers=False) as desk:
        desk.may_decide.clear()
        await desk.send(UserStartedSpeakingFrame(), text(REFILL), UserStoppedSpeakingFrame())
        await within(5, lambda: desk.asked)
        await press(desk, "1")
        desk.may_decide.set()
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert desk.spoken == [ON_SATURDAY]


async def test_a_key_that_waited_takes_the_place_of_what_was_said_since(keyed):
    async with keyed() as desk:
        await press(desk, "1")
        desk.may_decide.clear()
        await desk.send(UserStartedSpeakingFrame(), text(REFILL), UserStoppedSpeakingFrame())
        await within(5, lambda: desk.asked == [REFILL])
        desk.record.at_ms += 5000
        await within(5, lambda: desk.asked == [REFILL, SATURDAY])
        desk.may_decide.set()
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert desk.spoken == [ON_SATURDAY]


async def test_no_task_outlives_a_key_that_waits(keyed):
    before = asyncio.all_tasks()
    async with keyed() as desk:
        await press(desk, "12")
        assert len(asyncio.all_tasks() - before) > 1
        await desk.cancel()
    await settle()
    assert asyncio.all_tasks() - before == set()


async def test_keys_after_the_goodbye_do_nothing(keyed):
    async with keyed(numbers=False) as desk:
        await desk.turn("goodbye")
        await press(desk, "1")
        await settle()
        assert desk.spoken == ["Thank you for calling. Goodbye."]


async def test_a_call_by_keys_replays_without_a_change(keyed, clinic):
    async with keyed(numbers=False) as desk:
        for keys, count in (("1", 1), ("*", 2), ("0", 3)):
            await press(desk, keys)
            await desk.down.wait_for(TTSSpeakFrame, count)
            await desk.plays(3000)
            await desk.send(BotStoppedSpeakingFrame(), upstream=True)
    assert desk.spoken[2].startswith("I'm sorry, I can't connect you")
    path = desk.record.path
    event = '{"t_ms": 0, "event": "desk", "can_transfer": true, "is_open": true}\n'
    first, rest = path.read_text().split("\n", 1)
    path.write_text(f"{first}\n{event}{rest}")
    done = await replay(path, clinic, Policy(), Models(rules=Rules()))
    assert (done.turns, done.changes) == (3, ())
