"""The kept conversations from their audio, through the whole pipeline on a simulated clock."""

import pytest

from agent.replay import replay_audio
from tests.agent.replay.conversations import NAMES, shown, talk_of


@pytest.mark.parametrize("name", NAMES)
def test_from_audio(name, ears):
    result = replay_audio(talk_of(name), ears)
    assert shown(result) == []
    assert result.pinned == ()


def test_twice_is_the_same_to_the_event(ears):
    """Times and all: nothing depends on the machine's clock, nor on what ran before."""
    from agent.replay.audio import hear_case

    talk = talk_of("interrupted-answer")
    first, second = (hear_case(talk.case, ears.engines).events for _ in range(2))
    for events in (first, second):
        for event in events:
            event.pop("timings_ms", None)
    assert first == second
