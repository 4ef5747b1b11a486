"""The test caller's WebSocket: it owns the socket and the clock of one call."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from frontdesk import WireError
from telephony.caller_protocol import CallerProtocol
from telephony.far_end import Dialled

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_MAX_MESSAGE_BYTES = 1 << 20


async def over_websocket(where: Dialled, call: CallerProtocol, open_timeout_s: float) -> None:
    """Hold ``call`` on the media socket ``where``.

    Raises:
        OSError: it cannot be reached.
        websockets.exceptions.WebSocketException: it did not accept.
    """
    # No compression: deflating 50 messages a second costs either side more than the whole call.
    async with (
        connect(
            where.url,
            compression=None,
            max_size=_MAX_MESSAGE_BYTES,
            open_timeout=open_timeout_s,
            close_timeout=1,
            additional_headers=dict(where.headers),
            subprotocols=[Subprotocol(name) for name in where.subprotocols] or None,
            proxy=None if urlsplit(where.url).hostname in LOCAL_HOSTS else True,
        ) as socket,
        asyncio.TaskGroup() as group,
    ):
        listener = group.create_task(_listen(socket, call))
        await _talk(socket, call)
        if not call.over:  # a send failed: the listener reads what is left, then the close
            await listener
        listener.cancel()


async def _talk(socket: ClientConnection, call: CallerProtocol) -> None:
    """Send on the call's schedule until it is over or the socket is closed."""
    try:
        for message in call.begin(time.monotonic()):
            await socket.send(message)
        while not call.over:
            await asyncio.sleep(max(0.0, call.next_due - time.monotonic()))
            for message in call.tick(time.monotonic()):
                await socket.send(message)
    except ConnectionClosed:
        return


async def _listen(socket: ClientConnection, call: CallerProtocol) -> None:
    """Hand over what arrives until the agent closes."""
    try:
        async for message in socket:
            for answer in call.receive(message, time.monotonic()):
                await socket.send(answer)
    except ConnectionClosed:
        pass  # the close code below says how
    except WireError as error:
        call.fail(str(error), time.monotonic())
        return
    call.closed(time.monotonic(), socket.close_code)
