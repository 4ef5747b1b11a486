"""What the console's tests share."""

from contextlib import asynccontextmanager

import pytest

from tests.agent.console.serving import console


@pytest.fixture
def desk(settings, clinic, tmp_path):
    """``async with desk() as one``: a console on a free port, logged in; settings may be given."""

    @asynccontextmanager
    async def make(talk=(), **overrides):
        chosen = {"port": 0, **overrides.pop("console", {})}
        if database := overrides.pop("records_database", ""):
            records = {"folder": tmp_path / "calls", "database_variable": database}
            overrides["records"] = records
        async with console(settings(console=chosen, **overrides), clinic, talk) as served:
            yield served

    return make
