"""A hand-over from its sentence to its end: pure."""

import pytest

from agent.handover import HandOver, Rule
from agent.handover_machine import HandOverMachine
from tests.agent.handing import CHOKING, DESK, PERSON, PIZZA, SATURDAY, WRITTEN


def replied(talking, machine, *heard, **rules):
    reply = talking(**rules)(*heard)
    return machine.replied(reply.verdict, reply.hand_over)


@pytest.fixture
def telling(talking):
    machine = HandOverMachine()
    assert not replied(talking, machine, PIZZA)
    assert machine.is_telling
    return machine


def test_it_dials_once_when_all_was_heard(telling):
    assert telling.told() == HandOver(DESK, Rule.REFUSALS)
    assert telling.is_dialling
    assert telling.told() is None


@pytest.mark.parametrize("heard", ["okay thanks", "are you a robot", "could you repeat that", ""])
def test_small_talk_does_not_call_it_off(talking, telling, heard):
    assert not replied(talking, telling, heard)
    assert telling.told()


@pytest.mark.parametrize("heard", [SATURDAY, "hold on a second", "goodbye"])
def test_a_question_wait_and_goodbye_call_it_off(talking, telling, heard):
    assert replied(talking, telling, heard)
    assert telling.told() is None


def test_nothing_calls_off_an_emergency_but_goodbye(talking):
    machine = HandOverMachine()
    replied(talking, machine, CHOKING, emergency=WRITTEN, emergency_to="112")
    assert not replied(talking, machine, SATURDAY)
    assert machine.is_telling
    assert replied(talking, machine, "goodbye")


def test_while_it_is_dialled_nothing_that_is_said_matters(talking, telling):
    telling.told()
    assert not replied(talking, telling, "goodbye")
    assert not replied(talking, telling, PERSON)
    assert telling.is_dialling
    telling.failed()
    assert not telling.is_dialling
    assert telling.told() is None


def test_what_it_is_about_does_not_call_off_a_wish(talking):
    machine = HandOverMachine()
    replied(talking, machine, PERSON)
    assert not replied(talking, machine, "It's for a bill.")
    assert replied(talking, machine, SATURDAY)


@pytest.mark.parametrize("emergency", ["", WRITTEN])
def test_nobody_in_danger_loses_the_person_who_was_promised(talking, telling, emergency):
    assert not replied(talking, telling, CHOKING, emergency=emergency)
    assert telling.told()


def test_nothing_takes_the_place_of_an_emergency(talking):
    machine = HandOverMachine()
    replied(talking, machine, CHOKING, emergency=WRITTEN, emergency_to="112")
    assert not replied(talking, machine, PERSON)
    assert machine.told().to == "112"


def test_an_emergency_while_somebody_else_is_dialled_is_next_if_that_fails(talking, telling):
    telling.told()
    replied(talking, telling, CHOKING, emergency=WRITTEN, emergency_to="112")
    assert telling.is_dialling
    telling.failed()
    assert telling.told() == HandOver("112", Rule.EMERGENCY)
    telling.failed()
    assert telling.told() is None, "once"
