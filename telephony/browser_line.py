"""A call from a browser's page, over one WebSocket.

The protocol is our own, and the page's (``agent/web/call.js``): binary messages are 16-bit
little-endian mono PCM at 16 kHz both ways. Text is JSON with a ``type``. To us: ``played``
(``mark``), ``digit`` (``digit``), ``stop``. To the page: ``mark`` (``mark``), ``clear``, and what
the call shows.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from loguru import logger
from numpy.typing import NDArray
from pipecat.frames.frames import (
    AudioRawFrame,
    Frame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from frontdesk import WireError
from telephony.capabilities import Capabilities
from telephony.guarded import MAX_PAYLOAD_S, Guarded, keypad
from telephony.media_socket import MediaSocketTransport
from telephony.messages import parse_message
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Line, Listener

RATE_HZ = 16000
_MAX_AHEAD_S = 5.0
"""Of audio that a page may send before its time; a busy tab sends a second at once."""
_MAX_MARK_CHARS = 64
_MAX_SHOWN = 256
"""Messages that wait for a page which takes none."""

Shown = Callable[[Mapping[str, Any]], dict[str, Any] | None]
"""What a page may see of an event of the call; None for nothing."""


class BrowserSerializer(Guarded):
    """The page's wire format. ``clock`` is seconds of any clock that only goes forward."""

    rate_hz = RATE_HZ

    def __init__(
        self,
        listener: Listener,
        *,
        max_bytes: int = MAX_MESSAGE_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.guard(listener, max_bytes=max_bytes)
        self._clock = clock
        self._began_s: float | None = None
        self._received_s = 0.0

    def mark(self, name: str) -> dict[str, Any]:
        """The page sends it back once everything before it was heard or dropped."""
        return {"type": "mark", "mark": name}

    def encode(self, samples: NDArray[np.int16]) -> bytes:
        """A media message."""
        return samples.tobytes()

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``; None for frames that are none of the page's."""
        if self.stopped or self.error:
            return None
        match frame:
            case AudioRawFrame():
                return await super().serialize(frame)
            case InterruptionFrame():
                return '{"type":"clear"}'
            case OutputTransportMessageFrame() | OutputTransportMessageUrgentFrame():
                return None if self.should_ignore_frame(frame) else json.dumps(frame.message)
        return None

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says."""
        if isinstance(data, bytes):
            return self._media(data)
        message = parse_message(data, self.max_bytes)
        match message.get("type"):
            case "played":
                name = message.get("mark")
                if not isinstance(name, str) or len(name) > _MAX_MARK_CHARS:
                    raise WireError("played message without a mark")
                await self.listener.played(name)
            case "digit":
                return keypad(message.get("digit"))
            case "stop":
                await self.stop()
            case str():
                pass
            case _:
                raise WireError("message without a type")
        return None

    def _media(self, data: bytes) -> Frame | None:
        seconds = len(data) / 2 / RATE_HZ
        if len(data) % 2 or seconds > MAX_PAYLOAD_S or len(data) > self.max_bytes:
            raise WireError("media message of half a sample, or of over a second")
        now = self._clock()
        self._began_s = now if self._began_s is None else self._began_s
        self._received_s += seconds
        if self._received_s > now - self._began_s + _MAX_AHEAD_S:
            raise WireError("audio faster than it can be spoken")
        return self.heard(np.frombuffer(data, "<i2").astype(np.int16, copy=False))


class BrowserLine(Line):
    """One accepted socket of the page. ``shown`` says what of the call goes onto the page."""

    capabilities: ClassVar = Capabilities(
        name="Browser page",
        audio="16-bit linear 16 kHz, binary",
        clear="message",
        marks=True,
        digits_in="message",
        hang_up="closing the socket",
        checked_by="Origin and a token of one use",
        tested="the real peer",
    )
    rate_hz = RATE_HZ

    def __init__(
        self,
        socket: WebSocket,
        start: CallStart,
        listener: Listener,
        *,
        max_bytes: int,
        shown: Shown = lambda event: None,
    ) -> None:
        self.start = start
        self._socket = socket
        self._shown = shown
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_MAX_SHOWN)
        self._showing: asyncio.Task[None] | None = None
        self._serializer = serializer = BrowserSerializer(listener, max_bytes=max_bytes)
        self.transport = MediaSocketTransport(
            socket,
            FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                audio_out_10ms_chunks=4,
                audio_out_end_silence_secs=1,
                audio_out_write_timeout_secs=2.0,
                serializer=serializer,
            ),
        )

        async def closed(*_: object) -> None:
            await listener.gone(cleanly=serializer.stopped)

        self.transport.event_handler("on_client_disconnected")(closed)

    def mark(self, name: str) -> dict[str, Any]:
        """The page's mark message."""
        return self._serializer.mark(name)

    def show(self, event: Mapping[str, Any]) -> None:
        """Send the page what it may see of ``event``, in the order of the calls."""
        message = self._shown(event)
        if message is None or self._serializer.stopped:
            return
        try:
            self._waiting.put_nowait(json.dumps(message))
        except asyncio.QueueFull:
            return  # a page that takes nothing: its audio is timed out before long
        if self._showing is None:
            self._showing = asyncio.create_task(self._show())

    async def hang_up(self) -> None:
        """Close the socket: the page knows what that means."""
        if self._showing is not None:
            self._showing.cancel()
            await asyncio.gather(self._showing, return_exceptions=True)
        if self._socket.application_state is not WebSocketState.CONNECTED:
            return
        try:
            await self._socket.close()
        except (RuntimeError, WebSocketDisconnect) as error:
            logger.debug("socket was closed before us: {}", error)

    async def _show(self) -> None:
        try:
            while self._socket.application_state is WebSocketState.CONNECTED:
                await self._socket.send_text(await self._waiting.get())
        except (RuntimeError, WebSocketDisconnect) as error:
            logger.debug("the page is gone: {}", error)
