"""The conversations of ``tests/calls``, and how they are run in tests."""

from agent.replay import conversation
from tests.isolation import ROOT

CALLS = ROOT / "tests" / "calls"
NAMES = sorted(path.stem for path in CALLS.glob("*.json"))


def talk_of(name):
    """The case ``name``."""
    return conversation(CALLS / f"{name}.json", audio=True)


def shown(result):
    """What changed, for a test that fails: a line each."""
    return [f"turn {c.turn} {c.field}: {c.before!r} -> {c.after!r}" for c in result.changes]
