"""Calls in progress, to whoever watches: each event as it comes, and never at a call's cost.

A call's thread only hands its event over. Each watcher has a queue of its own; one whose queue is
full reads too slowly and is let go.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.console.live_lines import lines_of, state_after

MAX_QUEUE = 256
"""Messages that a watcher may be behind: half a minute of sixteen busy calls."""
MAX_WATCHERS = 32
_MAX_LINES = 400
_MAX_CALLS = 500


class TooMany(Exception):
    """As many watch as may."""


@dataclass(slots=True)
class _Live:
    """One call as it stands."""

    id: str
    known: dict[str, Any]
    state: str = "listening"
    log: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MAX_LINES))

    def shown(self) -> dict[str, Any]:
        return {"id": self.id, **self.known, "state": self.state, "log": list(self.log)}


class Watcher:
    """One who watches: ``queue`` has messages as JSON; None after the last."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str | None] = asyncio.Queue(MAX_QUEUE + 1)
        self.too_slow = False

    def tell(self, message: str) -> bool:
        """Queue ``message``; False if there was no room, and there is no more of it."""
        if self.queue.qsize() >= MAX_QUEUE:
            self.too_slow = True
            self.queue.put_nowait(None)
            return False
        self.queue.put_nowait(message)
        return True


class Live:
    """The calls in progress and their watchers. All of it in the loop that made it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: dict[str, _Live] = {}
        self._watchers: set[Watcher] = set()

    @property
    def many(self) -> int:
        """Calls in progress."""
        return len(self._calls)

    @property
    def is_watched(self) -> bool:
        """Whether anybody looks."""
        return bool(self._watchers)

    def hear(self, call: str, event: Mapping[str, Any]) -> None:
        """An event of ``call`` happened, in whatever thread; takes microseconds."""
        try:
            self._loop.call_soon_threadsafe(self._take, call, event)
        except RuntimeError:  # the loop is closed: nobody watches any more
            return

    def watch(self) -> Watcher:
        """Begin to watch; the first message has the calls as they stand.

        Raises:
            TooMany: 32 do already.
        """
        if len(self._watchers) >= MAX_WATCHERS:
            raise TooMany
        watcher = Watcher()
        calls = [call.shown() for call in self._calls.values()]
        watcher.tell(_text({"type": "calls", "calls": calls}))
        self._watchers.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """Watch no more."""
        self._watchers.discard(watcher)

    def close(self) -> None:
        """Let every watcher go."""
        for watcher in self._watchers:
            if watcher.queue.full():
                watcher.queue.get_nowait()
            watcher.queue.put_nowait(None)
        self._watchers.clear()

    def _take(self, call: str, event: Mapping[str, Any]) -> None:
        live = self._calls.get(call)
        started: dict[str, Any] | None = None
        if live is None:
            if event.get("event") == "call_ended" or len(self._calls) >= _MAX_CALLS:
                return
            started = _known(event)
            live = self._calls[call] = _Live(call, started)
        if event.get("event") == "ready" and not live.known["wire"]:
            started = live.known
            started["wire"] = str(event.get("wire", ""))
        live.state = state_after(event, live.state)
        lines = lines_of(event)
        live.log.extend(line for line in lines if line["kind"] != "hearing")
        told: list[dict[str, Any] | None] = list(lines)
        if not told and (started or event.get("event") in _TOLD):
            told = [None]
        for line in told:
            message = {"type": "line", "call": call, "state": live.state, "line": line}
            self._tell(message | ({"started": started} if started else {}))
            started = None
        if event.get("event") == "call_ended":
            del self._calls[call]
            self._tell({"type": "ended", "call": call, "reason": str(event.get("reason", ""))})

    def _tell(self, message: dict[str, Any]) -> None:
        if not self._watchers:
            return
        text = _text(message)
        for watcher in [one for one in self._watchers if not one.tell(text)]:
            self._watchers.discard(watcher)


_TOLD = frozenset({"reply_started", "reply_ended", "resumed"})  # only the call's state changes


def _known(event: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "call_id": str(event.get("call_id", "")),
        "wire": str(event.get("wire", "")),
        "caller": str(event.get("caller", "")),
        "started_at": str(event.get("at", "")),
    }


def _text(message: dict[str, Any]) -> str:
    return json.dumps(message, separators=(",", ":"))  # ASCII: half a surrogate pair is no UTF-8
