"""Call records: one JSON-lines file a call, every event on disk the moment it happened."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loguru import logger

from frontdesk import ConfigError


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


class CallRecord:
    """The events of one call, in order.

    Each event goes to the file with one unbuffered write, so a killed process loses nothing
    that was recorded. ``t_ms`` counts from the start of the call. ``listener`` is told each event.
    """

    listener: Callable[[dict[str, Any]], None] | None = None

    def __init__(self, folder: Path, call_id: str, **known: Any) -> None:
        """Open ``folder/<time>-<call id>.jsonl``; ``known`` goes into its first event.

        Raises:
            ConfigError: if the folder cannot be written.
        """
        safe = re.sub(r"[^A-Za-z0-9_-]", "", call_id)[:48] or "call"
        now = datetime.now(UTC)
        self.path = folder / f"{now:%Y%m%dT%H%M%S%f}-{safe}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._started_ns = time.perf_counter_ns()
        at = now.isoformat(timespec="milliseconds")
        self.event("call_started", call_id=call_id, at=at, **known)

    def now_ms(self) -> float:
        """Milliseconds since the call started."""
        return (time.perf_counter_ns() - self._started_ns) / 1e6

    def event(self, kind: str, **fields: Any) -> None:
        """Write one event; after ``close`` it is dropped, since the call is over."""
        if self._fd < 0:
            return
        line = {"t_ms": round(self.now_ms(), 1), "event": kind, **fields}
        text = json.dumps(line, ensure_ascii=False) + "\n"
        try:
            os.write(self._fd, text.encode("utf-8", "backslashreplace"))
        except OSError as error:  # a full disk must not end the call
            logger.error("call record {} lost {}: {}", self.path.name, kind, error.strerror)
        if self.listener is not None:
            self.listener(line)

    def passing(self, kind: str, **fields: Any) -> None:
        """Tell ``listener`` of what is gone a moment later, and write nothing."""
        if self._fd >= 0 and self.listener is not None:
            self.listener({"t_ms": round(self.now_ms(), 1), "event": kind, **fields})

    def close(self, reason: str) -> None:
        """Write ``call_ended`` once and let go of the file."""
        if self._fd >= 0:
            self.event("call_ended", reason=reason)
            os.close(self._fd)
            self._fd = -1


def read_record(path: Path) -> list[dict[str, Any]]:
    """The events of a record; a last line cut short by a kill is left out.

    Raises:
        ConfigError: if the file cannot be read or is not a call record.
    """
    try:
        return list(_events(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"{path} is not a call record ({error})") from None


# What a reader may count on.
_FIELDS = {
    "said": {"say"},
    "verdict": {"heard", "say", "decision", "reason", "score", "citations"},
    "call_ended": {"reason"},
}


def _events(text: str) -> Iterator[dict[str, Any]]:
    lines = text.rstrip("\n").split("\n") if text else []  # a transcript may hold U+2028
    if not lines:
        raise ValueError("it is empty")
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines) and number > 1:
                return
            raise ValueError(f"line {number} is not JSON") from None
        if not _is_event(event):
            raise ValueError(f"line {number} is not an event")
        missing = _FIELDS.get(event["event"], set()) - event.keys()
        if missing:
            raise ValueError(f"line {number} lacks {', '.join(sorted(missing))}")
        yield event


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("event"), str) and isinstance(value.get("t_ms"), (int, float))
