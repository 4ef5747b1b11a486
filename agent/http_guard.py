"""HTTP connections that ask for nothing: bounded in time, in size and in number.

uvicorn waits for ever for the first line of a request and for a peer that does not read its
answers, takes headers of any size, and reads requests on while the first is being answered: one
connection that did not wait for its answers took 3 GB in two minutes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from telephony.limits import Bursts
from telephony.redaction import without_secrets

MAX_HEAD_BYTES = 32_768
"""Of a request's first line and headers. Providers send up to 4 kB, Genesys with its signature."""
MAX_IDLE = 256
"""Connections without a request. Over it the oldest is closed: one that means to ask has asked."""
MAX_WAITING = 8
"""Requests of one connection behind the one that is being answered. No provider sends any so."""


class GuardedHttp(HttpToolsProtocol):
    """uvicorn's protocol. Make one class a server with :func:`guarded_http`."""

    head_timeout_s = 10.0
    idle: OrderedDict[GuardedHttp, None]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone connects, and has said nothing yet."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._busy()
        self._read_again()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless what came is all headers and no end of them."""
        if self in self.idle and self._timer is None:  # kept alive, and asking again
            self._start_timer()
        super().data_received(data)
        if self in self.idle:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._give_up()

    def on_headers_complete(self) -> None:
        """A request is here.

        Raises:
            ValueError: it is too large, or one too many; uvicorn answers 400 and closes.
        """
        if len(self.url) + sum(len(n) + len(v) for n, v in self.headers) > MAX_HEAD_BYTES:
            raise ValueError("headers too large")
        if len(self.pipeline) >= MAX_WAITING:
            raise ValueError("too many requests at once")
        self._busy()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """They have stopped reading: wait a while."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.head_timeout_s, self._give_up)

    def resume_writing(self) -> None:
        """They read again."""
        self._read_again()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """It is answered; the connection may ask again."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait(timed=False)  # uvicorn's own timer runs until the next request begins

    def _wait(self, *, timed: bool = True) -> None:
        self._head_bytes = 0
        self.idle[self] = None
        if timed:
            self._start_timer()
        if len(self.idle) > MAX_IDLE:
            next(iter(self.idle))._give_up()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.head_timeout_s, self._give_up)

    def _busy(self) -> None:
        self.idle.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read_again(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        self._busy()
        self.transport.abort()


def guarded_http(head_timeout_s: float) -> type[GuardedHttp]:
    """The protocol for one server, with its own list of who is idle."""
    return type(
        "ServerHttp", (GuardedHttp,), {"head_timeout_s": head_timeout_s, "idle": OrderedDict()}
    )


class QuietLines(logging.Filter):
    """Has uvicorn say each thing once a burst, with no number, token or traceback in it."""

    def __init__(self) -> None:
        super().__init__()
        self._bursts = Bursts()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to say it; what is said is altered in place."""
        said = self._bursts.line(str(record.msg))
        if said is None:
            return False
        record.msg, record.args = without_secrets(record.getMessage()), ()
        if record.levelno < logging.CRITICAL and _is_a_far_end_s(record.exc_info):
            record.exc_info = None
        return True


def keep_quiet() -> None:
    """Put the filter on uvicorn's logger, in place of an earlier server's."""
    uvicorn = logging.getLogger("uvicorn.error")
    for one in [one for one in uvicorn.filters if isinstance(one, QuietLines)]:
        uvicorn.removeFilter(one)
    uvicorn.addFilter(QuietLines())


def _is_a_far_end_s(exc_info: Any) -> bool:
    return bool(exc_info) and isinstance(exc_info[1], UnicodeDecodeError)
