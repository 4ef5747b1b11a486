"""The test caller over TCP, as AudioSocket is: it owns the socket and the clock of one call."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

from frontdesk import WireError
from telephony.caller_protocol import CallerProtocol
from telephony.far_end import Dialled, Message

_READ_BYTES = 4096


async def over_tcp(where: Dialled, call: CallerProtocol, open_timeout_s: float) -> None:
    """Hold ``call`` on a connection to ``where`` (``tcp://HOST:PORT``).

    Raises:
        OSError: it cannot be reached.
        WireError: the address has no port.
    """
    parts = urlsplit(where.url)
    if not parts.port:
        raise WireError("tcp: addresses need a port")
    async with asyncio.timeout(open_timeout_s):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(_listen(reader, writer, call))
            try:
                await _talk(writer, call)
            except ConnectionError:
                await listener  # it reads what is left, then the end
            listener.cancel()
    finally:
        writer.close()


async def _talk(writer: asyncio.StreamWriter, call: CallerProtocol) -> None:
    await _send(writer, call.begin(time.monotonic()))
    while not call.over:
        await asyncio.sleep(max(0.0, call.next_due - time.monotonic()))
        await _send(writer, call.tick(time.monotonic()))


async def _listen(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, call: CallerProtocol
) -> None:
    try:
        while data := await reader.read(_READ_BYTES):
            await _send(writer, call.receive(data, time.monotonic()))
    except ConnectionError:
        pass  # the agent hung up on what we were sending
    except WireError as error:
        call.fail(str(error), time.monotonic())
        return
    call.closed(time.monotonic())


async def _send(writer: asyncio.StreamWriter, messages: list[Message]) -> None:
    for message in messages:
        writer.write(message if isinstance(message, bytes) else message.encode())
    if messages:
        await writer.drain()
