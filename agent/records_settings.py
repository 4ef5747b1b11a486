"""``[records]``: what is kept of calls, where, and for how long."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from agent.section import Section, Sentence
from frontdesk import ConfigError, Spoken


class RecordSettings(Section):
    """Call records: a journal a call, a database of them, and perhaps what was heard."""

    folder: Path = Path("calls")
    database_variable: str = Field(
        default="",
        description="the variable of a postgresql:// URL; empty: SQLite in the folder",
    )
    key_variable: str = Field(
        default="",
        description="the variable of a secret that the chain is sealed with; empty: none",
    )
    keep_numbers: bool = Field(default=False, description="callers' numbers in full, not masked")
    keep_days: float = Field(default=90, ge=0, description="then a call is removed; 0: never")
    keep_mb: float = Field(default=0, ge=0, description="then the oldest are removed; 0: no limit")
    redact: bool = Field(
        default=True, description="card and phone numbers, names … of callers are not kept"
    )
    recording: Literal["off", "announced", "on"] = Field(
        default="off",
        description="of both sides; announced: the caller is told before the greeting",
    )
    announcement: Sentence = "This call is recorded."
    silence_audio: bool = Field(
        default=True, description="with redact: what is not kept in words is silenced in sound"
    )

    def announced(self, words: Spoken) -> Spoken:
        """The first words of a call, behind the announcement that it is recorded, if it is."""
        if self.recording != "announced":
            return words
        return replace(words, text=f"{self.announcement} {words.text}".rstrip())

    def key(self) -> bytes:
        """What the chain is sealed with; empty where nothing is set.

        Raises:
            ConfigError: the variable is named but holds nothing.
        """
        return secret(self.key_variable, "records.key_variable").encode()

    def database(self) -> str:
        """The URL of the database.

        Raises:
            ConfigError: the variable is named but holds nothing.
        """
        url = secret(self.database_variable, "records.database_variable")
        if not url:
            return f"sqlite:///{(self.folder / 'records.sqlite3').resolve()}"
        for scheme in ("postgresql://", "postgres://"):
            if url.startswith(scheme):
                return f"postgresql+psycopg://{url.removeprefix(scheme)}"
        raise ConfigError(f"{self.database_variable} takes postgresql://USER:PASSWORD@HOST/NAME")


def secret(variable: str, setting: str) -> str:
    """What ``variable`` holds; empty where none is named.

    Raises:
        ConfigError: it holds nothing.
    """
    value = os.environ.get(variable, "") if variable else ""
    if variable and not value:
        raise ConfigError(f"{setting} names {variable}, which is not set")
    return value
