"""Asterisk's ``chan_websocket`` in Pipecat: control as JSON or plain text, audio as it is.

Protocol: see ``telephony.asterisk_control``. Asterisk paces what it plays itself. What a flush
drops there comes back as no mark, so those are told here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from loguru import logger
from numpy.typing import NDArray
from pipecat.frames.frames import (
    AudioRawFrame,
    Frame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
)

from frontdesk import WireError
from telephony.asterisk_control import command, read_event
from telephony.asterisk_formats import FORMATS
from telephony.guarded import MAX_PAYLOAD_S, Guarded, keypad
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Listener

MAX_HELD_S = 1.5
"""How long one message waits for Asterisk's queue to shrink (it plays 20 s ahead at most); under
Pipecat's time limit for a write, which ends the call."""
_MARK = "MARK_MEDIA"


class AsteriskSerializer(Guarded):
    """One ``chan_websocket`` channel. It hangs up by closing the socket."""

    close_is_stop = True

    def __init__(
        self,
        start: CallStart,
        listener: Listener,
        *,
        max_bytes: int = MAX_MESSAGE_BYTES,
        max_held_s: float = MAX_HELD_S,
    ) -> None:
        super().__init__()
        self.guard(listener, max_bytes=max_bytes)
        self._call_id = start.call_id
        self._format = FORMATS[start.parameters["format"]]
        self._plain = start.parameters["control"] == "plain"
        self._max_held_s = max_held_s
        self._marks: deque[str] = deque()
        self._flows = asyncio.Event()
        self._flows.set()
        self.rate_hz = self._format.rate_hz

    def mark(self, name: str) -> dict[str, Any]:
        """Asterisk says when it has played everything sent before it."""
        return {"command": _MARK, "correlation_id": name}

    def encode(self, samples: NDArray[Any]) -> bytes:
        """Whole frames of 20 ms: Asterisk drops the rest of a message."""
        return self._format.padded(self._format.encode(samples))

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """Audio once Asterisk takes it, a flush on an interruption, a mark; None for others."""
        if self.stopped or self.error:
            return None
        if isinstance(frame, AudioRawFrame):
            await self._wait_for_room()
        if isinstance(frame, InterruptionFrame):
            return await self._flush()
        if isinstance(frame, OutputTransportMessageFrame | OutputTransportMessageUrgentFrame):
            return self._command(frame.message)
        return await super().serialize(frame)

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says."""
        if isinstance(data, bytes):
            return self._media(data)
        message = read_event(data, self.max_bytes, plain=self._plain)
        match message["event"]:
            case "MEDIA_START":
                raise WireError("second MEDIA_START message")
            case "DTMF_END":
                return keypad(message.get("digit"))
            case "MEDIA_MARK_PROCESSED":
                await self._played(message.get("correlation_id"))
            case "MEDIA_XOFF":
                self._flows.clear()
            case "MEDIA_XON":
                self._flows.set()
            case "ERROR":
                logger.warning("call {}: Asterisk did not take a command", self._call_id)
        return None

    def _media(self, payload: bytes) -> Frame | None:
        if len(payload) % len(self._format.silence):
            raise WireError("media of half a sample")
        if len(payload) > MAX_PAYLOAD_S * self.rate_hz * len(self._format.silence):
            raise WireError(f"media of over {MAX_PAYLOAD_S:g} s in one message")
        return self.heard(self._format.decode(payload))

    async def _played(self, name: Any) -> None:
        if not isinstance(name, str):
            raise WireError("mark message without a name")
        if name in self._marks:  # else a flush overtook it, and it was told
            while self._marks.popleft() != name:
                pass
            await self.listener.played(name)

    async def _flush(self) -> str:
        names = list(self._marks)
        self._marks.clear()
        self._flows.set()
        for name in names:
            await self.listener.played(name)
        return command("FLUSH_MEDIA", plain=self._plain)

    def _command(self, message: Any) -> str | None:
        name = message.get("command") if isinstance(message, dict) else None
        if not isinstance(name, str):
            return None
        correlation_id = message.get("correlation_id", "")
        if name == _MARK:
            self._marks.append(correlation_id)
        return command(name, correlation_id, plain=self._plain)

    async def _wait_for_room(self) -> None:
        if self._flows.is_set():
            return
        try:
            async with asyncio.timeout(self._max_held_s):
                await self._flows.wait()
        except TimeoutError:
            logger.debug("call {}: Asterisk's queue is full for {} s", self._call_id, MAX_HELD_S)
