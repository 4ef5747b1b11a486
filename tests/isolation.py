"""Where the checkout is, and how a test gets away from the settings of whoever runs it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def away_from_settings(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Work in ``folder``, without the variables and the frontdesk.toml that are set here."""
    for name in list(os.environ):
        if name.startswith("FRONTDESK_"):
            patch.delenv(name)
    patch.chdir(folder)
