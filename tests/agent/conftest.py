"""What the tests of calls share."""

import pytest

from tests.agent.desk import Desk
from tests.agent.handing import talking_to
from tests.agent.live import Lines


@pytest.fixture
def lines():
    """What is logged during the test, at INFO or above."""
    with Lines() as kept:
        yield kept


@pytest.fixture
def desk(clinic, tmp_path):
    """The grounded answer, to be entered with ``async with``."""
    return Desk(clinic, tmp_path)


@pytest.fixture
def talking(clinic):
    """A conversation with somebody to hand over to: see :func:`tests.agent.handing.talking_to`."""
    return talking_to(clinic)
