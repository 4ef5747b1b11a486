"""SIP over TCP and TLS: connections, and the messages cut out of them (RFC 3261, 18.3)."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from frontdesk import WireError
from telephony.sip.flow import Flow, Kind
from telephony.sip.message import MAX_BYTES

_LENGTH = re.compile(rb"\r\n(?:content-length|l)[ \t]*:((?:[^\r\n]|\r\n[ \t])*)", re.IGNORECASE)
_BARE = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_IDLE_S = 900.0
_MAX_CONNECTIONS = 256
_MAX_UNSENT = 262144


class Streams:
    """The connections of the gate. ``accept`` says of an address whether it may connect."""

    def __init__(
        self, receive: Callable[[bytes, Flow], None], accept: Callable[[str], bool]
    ) -> None:
        self._receive = receive
        self._accept = accept
        self._numbers = count(1)
        self._open: dict[int, asyncio.StreamWriter] = {}
        self._coming = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, kind: Kind, sock: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Take the connections of ``kind`` that come to ``sock``, for ever.

        A stranger's is closed before it can say a word, its hand in TLS included.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                one, peer = await loop.sock_accept(sock)
            except OSError:  # too many open files
                await asyncio.sleep(1)
                continue
            if self._accept(peer[0]) and len(self._open) + self._coming < _MAX_CONNECTIONS:
                self._spawn(self._greet(kind, one, tls))
            else:
                one.close()

    async def _greet(self, kind: Kind, one: socket.socket, tls: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        self._coming += 1
        try:
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol, one, ssl=tls, ssl_handshake_timeout=5 if tls else None
            )
        except OSError:
            one.close()
            return
        finally:
            self._coming -= 1
        self.add(kind, reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    def add(self, kind: Kind, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Flow:
        """Read from a connection until it is closed; its flow."""
        peer = writer.get_extra_info("peername")
        flow = Flow(kind, peer[0], peer[1], next(self._numbers))
        self._open[flow.connection] = writer
        self._spawn(self._read(reader, writer, flow))
        return flow

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def holds(self, flow: Flow) -> bool:
        """Whether ``flow``'s connection is open."""
        return flow.connection in self._open

    def send(self, flow: Flow, data: bytes) -> bool:
        """Send over ``flow``'s connection; False where it is gone or takes nothing."""
        writer = self._open.get(flow.connection)
        if writer is None:
            return False
        if writer.transport.get_write_buffer_size() > _MAX_UNSENT:
            writer.transport.abort()
            return False
        writer.write(data)
        return True

    def close(self) -> None:
        """Close every connection."""
        for writer in self._open.values():
            writer.transport.abort()

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: Flow
    ) -> None:
        try:
            while True:
                async with asyncio.timeout(_IDLE_S):
                    data = await next_message(reader)
                if data == b"\r\n\r\n":
                    writer.write(b"\r\n")  # a keep-alive is answered (RFC 5626, 4.4.1)
                else:
                    self._receive(data, flow)
        except (WireError, OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            pass  # whatever it was, the connection is of no more use
        finally:
            self._open.pop(flow.connection, None)
            with contextlib.suppress(OSError):
                writer.close()


async def next_message(reader: asyncio.StreamReader) -> bytes:
    """The next message, or ``\\r\\n\\r\\n`` for a keep-alive.

    Raises:
        WireError: it is too long, or has no one length, whoever reads it.
        EOFError: the connection is closed.
    """
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.strip():
        return head
    found = _LENGTH.findall(b"\r\n" + head)
    if len(found) != 1 or not found[0].strip().isdigit() or _BARE.search(head):
        raise WireError("SIP message without a length on a stream")
    length = int(found[0][:9])
    if len(head) + length > MAX_BYTES:
        raise WireError("oversized SIP message")
    return head.lstrip(b"\r\n") + await reader.readexactly(length)
