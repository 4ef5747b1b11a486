"""What came out becomes what a case expects."""

from __future__ import annotations

from os.path import relpath

from agent.replay.case import with_expected, write_case
from agent.replay.inputs import Conversation
from agent.replay.types import Replayed


def has_news(talk: Conversation, result: Replayed) -> bool:
    """Whether ``result`` is not what its case expects, or rests on something else."""
    expects_all = all(turn.expect for turn in talk.case.turns if not turn.earlier)
    return bool(result.changes or result.pinned) or not expects_all


def accept(talk: Conversation, result: Replayed) -> None:
    """Write ``result`` into its case. What was known to be wrong and is another now is not any
    more; a person has to look at it.

    Raises:
        ConfigError: it cannot be written.
    """
    case = with_expected(talk.case, result.results, result.pins)
    audio = "" if case.audio is None else relpath(case.audio, talk.path.parent)
    write_case(case, talk.path, audio)
