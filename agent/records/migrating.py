"""The database brought to this version's shape, by Alembic's steps.

Alembic is imported only where there is a step to take: most starts find nothing to do.
"""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from frontdesk import FrontdeskError

VERSION = "0001"
"""The newest step in ``migrations/versions``."""
_STEPS = Path(__file__).resolve().parent / "migrations"
_LOCK = 0x46726F6E  # "Fron": one at a time, of the processes that share a PostgreSQL

_ONE_AT_A_TIME = threading.Lock()  # Alembic's context is the process's


class NewerDatabaseError(FrontdeskError):
    """The database was made by a newer version: nothing of it is touched."""

    stage = "records"
    retryable = False


def migrate(engine: Engine) -> None:
    """Take the steps that are left. All of them are taken, or none.

    Raises:
        NewerDatabaseError: there is nothing here that could read it.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be read or written.
    """
    with engine.connect() as connection:
        if _version(connection) == VERSION:
            return
    with _ONE_AT_A_TIME, engine.connect() as connection:
        if connection.dialect.name == "sqlite":  # else each CREATE commits what is before it
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        found = _version(connection)  # another process may have been faster
        if found > VERSION:
            raise NewerDatabaseError(
                f"the database of calls is of version {found}, made by a newer Frontdesk; "
                f"this one knows {VERSION}"
            )
        if found < VERSION:
            _upgrade(connection)
        connection.commit()


def _version(connection: Connection) -> str:
    """As text; '' where there is nothing yet."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return str(found or "")


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
