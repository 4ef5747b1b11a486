"""One journal followed as it grows: what is new of it since it was last looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Tail:
    """Reads whole lines; the part of one that a write has not finished is left for later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def new(self) -> tuple[list[dict[str, Any]], int]:
        """The events behind those that were passed, and the place to pass to once they are kept.

        Raises:
            OSError: the journal cannot be read.
            ValueError: a line of it is no event.
        """
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        events = [json.loads(line) for line in whole.splitlines()]
        return events, self._at + len(whole)

    @property
    def is_at_begin(self) -> bool:
        """Whether nothing was passed yet."""
        return self._at == 0

    def passed(self, at: int) -> None:
        """What is before ``at`` need not be read again."""
        self._at = at
