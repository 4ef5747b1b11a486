"""What the tests of calls share."""

import pytest

from tests.agent.live import Lines


@pytest.fixture
def lines():
    """What is logged during the test, at INFO or above."""
    with Lines() as kept:
        yield kept
