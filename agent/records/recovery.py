"""Calls whose process was killed: their journals are closed, and what they hold is kept."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.recording import seal
from agent.records.chain import sealed

KILLED = "process died"
"""The reason of a call that nobody else could end."""


def close_killed(path: Path, key: bytes = b"") -> bool:
    """Close the journal at ``path`` if its process is gone; False where its call goes on.

    A last line cut short by the kill is taken out: it was of an event that was never written. A
    journal that is damaged otherwise is left as it is, for ``calls verify`` to name.

    Raises:
        OSError: it cannot be read or written.
    """
    with _held(path) as fd:
        if fd is None:
            return False
        _close(fd, path, key)
        return True


def goes_on(path: Path) -> bool:
    """Whether a process holds the journal open.

    Raises:
        OSError: it cannot be opened.
    """
    with _held(path) as fd:
        return fd is None


@contextmanager
def _held(path: Path) -> Iterator[int | None]:
    """The journal's file, locked; None where the process of its call has it."""
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield fd
    finally:
        os.close(fd)


def _close(fd: int, path: Path, key: bytes) -> None:
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:  # killed before its first event: there is nothing to keep
        path.unlink()
        return
    events = _events(whole)
    if not events or events[-1]["event"] == "call_ended" or not _is_chained(events[-1]):
        return  # damaged, as it should be, or of an older version: left as it is
    if len(whole) < len(data):
        os.ftruncate(fd, len(whole))
    last = events[-1]
    event = {
        "seq": last["seq"] + 1,
        "t_ms": last["t_ms"],
        "event": "call_ended",
        "reason": KILLED,
    }
    audio = seal(path.with_suffix(".wav"), events)
    if audio is not None:
        event["audio"] = audio
    event["prev"] = last["hash"]
    line, _ = sealed(event, key)
    if os.write(fd, line) != len(line):
        os.ftruncate(fd, len(whole))
        raise OSError("the disk is full")


def _is_chained(event: dict[str, Any]) -> bool:
    seq, found, at = event.get("seq"), event.get("hash"), event.get("t_ms")
    return isinstance(seq, int) and isinstance(found, str) and isinstance(at, (int, float))


def _events(data: bytes) -> list[dict[str, Any]]:
    """All of them; none where a line is damaged."""
    found = []
    for line in data.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(event, dict) or "event" not in event:
            return []
        found.append(event)
    return found
