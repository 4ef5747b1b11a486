"""WebSockets whose far end sends far more than audio, or does not read what it is told.

uvicorn answers each ping at once, whether or not the answers are read: one socket took 200 MB and
four seconds of everybody's time in twelve. It parses all that has come in one go, and it waits for
ever for a peer that reads nothing to let it close.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from telephony.limits import Rate

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent

SLICE_BYTES = 4096
"""Looked at before it is asked whether there was too much of it."""
SMALL_BYTES = 16
"""Of a message that says nothing: any wire's shortest message is longer."""
SMALL_A_MINUTE = 600.0
"""Pings, pieces of messages and messages that say nothing. Wires send a few a minute."""
BYTES_A_MINUTE = 6_000_000.0
"""All at once if they like. Of the widest audio, 16 kHz in JSON, a minute has 3 MB."""
UNREAD_S = 10.0
"""For a far end to read again, once over 64 kB wait for it: eight seconds of a call."""


class GuardedSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol; whoever goes too far loses their own socket, and no other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A handshake is here."""
        super().connection_made(transport)
        self._small = Rate(SMALL_A_MINUTE)
        self._bytes = Rate(BYTES_A_MINUTE)
        self._unread: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Read a slice at a time, and no more of one who is being let go."""
        if not self._bytes.take("", len(data)):
            self._let_go("that sends far more than audio")
        for at in range(0, len(data), SLICE_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[at : at + SLICE_BYTES])
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.close()  # a body, or too many headers: uvicorn would wait for ever

    async def receive(self) -> ASGIReceiveEvent:
        """The next message; where many wait, the other calls have their turn in between."""
        if not self.queue.empty():
            await asyncio.sleep(0)
        return await super().receive()

    def handle_ping(self) -> None:
        """Answer, if they are not too many."""
        if self._is_little():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Take it, if they are not too many."""
        if self._is_little():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Take a piece of a message, if they are not too many."""
        if self._is_little():
            super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        """Take a message."""
        if len(event.data) > SMALL_BYTES or self._is_little():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Take a message."""
        if len(event.data) > SMALL_BYTES or self._is_little():
            super().handle_bytes(event)

    def pause_writing(self) -> None:
        """They have stopped reading: wait a while."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """They read again."""
        self._read_again()
        super().resume_writing()

    def keepalive_timeout(self) -> None:
        """They have not answered our ping: they will not read our goodbye either."""
        super().keepalive_timeout()
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._read_again()
        super().connection_lost(exc)

    def _read_again(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _is_little(self) -> bool:
        """Whether one more frame that says nothing will do; else the socket is no more."""
        if self._small.take(""):
            return True
        self._let_go("with very many frames that say nothing")
        return False

    def _let_go(self, why: str) -> None:
        if not self.transport.is_closing():
            self.logger.warning(f"a socket {why} was closed")
            self.transport.abort()
