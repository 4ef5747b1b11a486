"""The ledger: a chain over all calls of a folder, so that a whole call cannot vanish unseen.

One line a call that ended, with the head of its chain; one more when it is removed, and why.
A call is entered once: what its record becomes later is compared with that, never entered again.
Whoever keeps the ledger's own head elsewhere can tell too if its end was cut off.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.records.chain import GENESIS, Broken, check, digest, sealed
from agent.records.reading import chained

LEDGER = "ledger.chain"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger says of a call."""

    head: str
    events: int
    removed: str = ""
    """Why, if it was."""


class _Known:
    """The lines read so far, and how far that is: a call's end need not read them all again."""

    def __init__(self) -> None:
        self.at = self.lines = 0
        self.last = GENESIS
        self.calls: dict[str, Entry] = {}

    def take(self, data: bytes) -> None:
        """The next whole lines. One that was damaged is passed over; ``check`` names it."""
        for raw in data.splitlines(keepends=True):
            (line,) = chained(raw)[0] or ({},)
            hashed = line.get("hash")
            self.last = hashed if isinstance(hashed, str) else digest(raw)
            self.lines += 1
            self._enter(line)
        self.at += len(data)

    def _enter(self, line: Mapping[str, Any]) -> None:
        call, kind = str(line.get("call")), line.get("event")
        before = self.calls.get(call)
        if kind == "ended" and before is None:
            events = line.get("events")
            number = events if isinstance(events, int) else 0
            self.calls[call] = Entry(str(line.get("head")), number)
        elif kind == "removed":
            before = before or Entry(GENESIS, 0)
            self.calls[call] = Entry(
                before.head, before.events, str(line.get("why") or "") or "no reason"
            )


class Ledger:
    """The ledger of ``folder``; several processes may write it."""

    def __init__(self, folder: Path, key: bytes = b"") -> None:
        self.path = folder / LEDGER
        self._key = key
        self._known = _Known()

    def ended(self, call: str, head: str, events: int) -> None:
        """A call has ended with ``head``; nothing is changed where it was entered before.

        Raises:
            OSError: it could not be written.
        """
        with self._locked() as fd:
            self._read(fd)
            if call not in self._known.calls:
                entry = {"event": "ended", "call": call, "head": head, "events": events}
                self._append(fd, entry)

    def removed(self, call: str, why: str) -> None:
        """A call's record is removed; nothing is changed where it was before.

        Raises:
            OSError: it could not be written.
        """
        with self._locked() as fd:
            self._read(fd)
            entry = self._known.calls.get(call)
            if entry is None or not entry.removed:
                self._append(fd, {"event": "removed", "call": call, "why": why})

    def calls(self, until: int | None = None) -> dict[str, Entry]:
        """What it says of each call, by its first ``until`` lines.

        Raises:
            OSError: it cannot be read.
        """
        known = _Known()
        for raw in self._data().splitlines(keepends=True)[:until]:
            known.take(raw)
        return known.calls

    def check(self) -> Broken | None:
        """The first of its links that does not hold."""
        try:
            lines, problem = chained(self._data())
        except OSError as error:
            return Broken("the ledger", 0, f"cannot be read ({error.strerror})")
        found = check("the ledger", lines, self._key)
        return found or (Broken("the ledger", len(lines), problem) if problem else None)

    @property
    def head(self) -> str:
        """The hash of its last line.

        Raises:
            OSError: it cannot be read.
        """
        known = _Known()
        known.take(self._data())
        return known.last

    def _data(self) -> bytes:
        if not self.path.exists():
            return b""
        with self.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return file.read()

    def _read(self, fd: int) -> None:
        """What others wrote since; a line cut short by a kill is taken out."""
        size = os.fstat(fd).st_size
        if size < self._known.at:  # it was cut, or is another
            self._known = _Known()
        data = os.pread(fd, size - self._known.at, self._known.at)
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.ftruncate(fd, self._known.at + len(whole))
        self._known.take(whole)

    def _append(self, fd: int, entry: Mapping[str, Any]) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        link = {"seq": self._known.lines, "prev": self._known.last, "at": at}
        line, _ = sealed({**link, **entry}, self._key)
        if os.write(fd, line) != len(line):
            os.ftruncate(fd, self._known.at)
            raise OSError("the disk is full")
        self._known.take(line)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)
