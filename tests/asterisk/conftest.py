"""Real calls through a real Asterisk with our ``deploy/asterisk``: ``make test-asterisk``.

``ASTERISK_CHROOT`` names the folder that ``tools/asterisk-chroot`` made.
"""

import os
from pathlib import Path

import pytest

CHROOT = os.environ.get("ASTERISK_CHROOT", "")
if not CHROOT:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def pbx():
    """Asterisk, for all tests."""
    from tests.asterisk.pbx import Pbx

    with Pbx(Path(CHROOT)) as running:
        yield running


@pytest.fixture
def phone(pbx, tmp_path):
    """``phone(201, …)``: a real baresip, registered; see ``tests.asterisk.phone``."""
    from tests.asterisk.phone import Phone

    phones = []

    def make(number, **how):
        folder = tmp_path / f"phone{len(phones)}"
        phones.append(Phone(pbx, number, folder, **how))
        return phones[-1]

    yield make
    for one in phones:
        one.stop()
