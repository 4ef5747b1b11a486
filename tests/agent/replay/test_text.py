"""The kept conversations in text: what was heard, through session and answer path."""

import asyncio

import pytest

from agent.replay import replay_text
from rag import Policy
from tests.agent.replay.conversations import NAMES, shown, talk_of


def test_there_are_at_least_forty():
    assert len(NAMES) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_in_text(name, clinic):
    talk = talk_of(name)
    first = asyncio.run(replay_text(talk, clinic, Policy()))
    assert shown(first) == []
    assert first.turns == len(talk.case.turns)
