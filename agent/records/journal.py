"""A call's journal: one JSON-lines file a call, every event on disk the moment it happened.

Nothing else is waited for: the database is filled from journals (:mod:`agent.records.keeper`), and
can be made again from them.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from loguru import logger

from agent.records.chain import GENESIS, sealed
from agent.records.reading import FORMAT
from frontdesk import ConfigError

Fields = dict[str, Any]


class SoFar(Protocol):
    """A recording that grows with the call."""

    def so_far(self) -> tuple[int, str]:
        """Bytes of audio until now, and the SHA-256 of those since it was last taken."""
        ...

    def taken(self) -> None:
        """An event holds what was said so far."""
        ...


def check_folder(folder: Path) -> None:
    """Make sure that records can be written to ``folder``.

    Raises:
        ConfigError: if they cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"cannot write call records to {folder} ({error.strerror}); set records.folder"
    )


def _made(path: Path) -> int:
    """A new file that is ours alone; locked before it has its name, or recovery might close it."""
    making = path.with_name(f".{path.name}.new")
    fd = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(making, path)
    except OSError:
        os.close(fd)
        raise
    return fd


class CallRecord:
    """The events of one call, in order, each chained to the one before.

    Each event goes to the file with one unbuffered write, so a killed process loses nothing
    that was recorded. ``t_ms`` counts from the start of the call by a clock that never jumps.
    The file is locked while the call lasts, so that others can tell it from one that was killed.

    ``listener`` is the wire's, ``watchers`` are anybody's; both are told each event as it was
    written. ``redact`` makes the fields of an event (its kind, its fields) such as may be kept.
    ``trouble`` says why events were lost, or nothing. What watches must not raise: an event is an
    event of the call.
    """

    listener: Callable[[Fields], None] | None = None
    redact: Callable[[str, Fields], Fields] | None = None
    recording: SoFar | None = None
    wants_passing: Callable[[], bool] = staticmethod(lambda: True)
    """Whether a watcher wants to be told of what passes; it is looked at for each interim."""
    clock: Callable[[], int] = staticmethod(time.perf_counter_ns)
    trouble = ""

    def __init__(
        self,
        folder: Path,
        call_id: str,
        *,
        key: bytes = b"",
        redact: Callable[[str, Fields], Fields] | None = None,
        watcher: Callable[[CallRecord, Fields], None] | None = None,
        **known: Any,
    ) -> None:
        """Open ``folder/<time>-<call id>.jsonl``; ``known`` goes into its first event.

        Raises:
            ConfigError: if the folder cannot be written.
        """
        safe = re.sub(r"[^A-Za-z0-9_-]", "", call_id)[:48] or "call"
        now = datetime.now(UTC)
        self.path = folder / f"{now:%Y%m%dT%H%M%S%f}-{safe}.jsonl"
        self.watchers = [] if watcher is None else [watcher]
        self.head, self._key, self.redact = GENESIS, key, redact
        self._seq = self._size = self._lost = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = _made(self.path)
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._started_ns = self.clock()
        at = now.isoformat(timespec="milliseconds")
        self.event("call_started", id=self.id, call_id=call_id, at=at, format=FORMAT, **known)

    @property
    def id(self) -> str:
        """What the call is known by everywhere: the name of its journal."""
        return self.path.stem

    @property
    def is_open(self) -> bool:
        """Whether the call is still in progress."""
        return self._fd >= 0

    def now_ms(self) -> float:
        """Milliseconds since the call started."""
        return (self.clock() - self._started_ns) / 1e6

    def event(self, kind: str, **fields: Any) -> None:
        """Write one event; after ``close`` it is dropped, since the call is over."""
        if self._fd < 0:
            return
        event = {"seq": self._seq, **self._fields(kind, fields)}
        if self._lost:
            event["events_lost"] = self._lost
        if self.recording is not None:
            event["audio"] = list(self.recording.so_far())
        event["prev"] = self.head
        line, head = sealed(event, self._key)
        if self._write(kind, line):
            self.head = event["hash"] = head
            self._seq, self._lost = self._seq + 1, 0
            if self.recording is not None:
                self.recording.taken()
        self._tell(event)

    def passing(self, kind: str, **fields: Any) -> None:
        """Tell of what is gone a moment later, and write nothing."""
        if self._fd < 0:
            return
        if self.listener is not None or (self.watchers and self.wants_passing()):
            self._tell(self._fields(kind, fields))

    def close(self, reason: str) -> None:
        """Write ``call_ended`` once and let go of the file."""
        if self._fd >= 0:
            self.event("call_ended", reason=reason)
            os.close(self._fd)
            self._fd = -1

    def _fields(self, kind: str, fields: Fields) -> Fields:
        kept = fields if self.redact is None else self.redact(kind, fields)
        return {"t_ms": round(self.now_ms(), 1), "event": kind, **kept}

    def _tell(self, event: Fields) -> None:
        if self.listener is not None:
            self.listener(event)
        for watcher in tuple(self.watchers):
            watcher(self, event)

    def _write(self, kind: str, line: bytes) -> bool:
        """Whether all of ``line`` is in the file; a part of it is taken out again."""
        try:
            written = os.write(self._fd, line)
            if written == len(line):
                self._size += written
                return True
            problem = "the disk is full"
            os.ftruncate(self._fd, self._size)
        except OSError as error:  # a full disk must not end the call
            problem = error.strerror or str(error)
        self._lost += 1
        self.trouble = problem
        logger.error("call record {} lost {}: {}", self.path.name, kind, problem)
        return False
