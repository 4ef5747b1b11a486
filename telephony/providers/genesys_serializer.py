"""Genesys AudioHook in Pipecat: strict, with marks, ending a call as the protocol has it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from loguru import logger
from numpy.typing import NDArray
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.serializers.genesys import GenesysAudioHookSerializer
from starlette.websockets import WebSocket, WebSocketDisconnect

from frontdesk import WireError
from telephony.g711 import SAMPLE_RATE_HZ, ulaw_decode, ulaw_encode
from telephony.guarded import Guarded, keypad
from telephony.messages import parse_message, part, receive
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Listener

MAX_PAYLOAD_BYTES = SAMPLE_RATE_HZ
_CLOSE_WITHIN_S = 2.0
_MARK = "mark"


class GenesysSerializer(Guarded, GenesysAudioHookSerializer):
    """AudioHook's wire format: µ-law in binary messages, numbered JSON in the others.

    ``open`` and ``opened``, the first message either way, are behind it. There are no marks by
    name: Genesys says when everything it had was played, which settles those that are out; a
    ``barge_in`` drops them. Only Genesys closes a session: we ask it to by ``disconnect``, and
    :meth:`part` waits for its ``close``.
    """

    def __init__(
        self, call: CallStart, listener: Listener, *, max_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        super().__init__()
        self.guard(listener, max_bytes=max_bytes)
        self._session_id = call.stream_id
        self._client_seq = 1
        self._server_seq = 1
        self._is_open = True
        self._marks: list[str] = []
        self._sounding = False
        self._parting = False
        self._complained = False

    def mark(self, name: str) -> dict[str, Any]:
        """A note to ourselves; nothing is sent for it."""
        return {_MARK: name}

    def hand_over(self, to: str, summary: str) -> dict[str, Any]:
        """``disconnect``; the flow in Architect goes on with ``transfer_to`` and ``summary``."""
        self._parting = True
        variables = {"transfer_to": to, "summary": summary}
        return self.create_disconnect_message(output_variables=variables)

    def encode(self, samples: NDArray[np.int16]) -> bytes:
        """The samples in µ-law."""
        self._sounding = True
        return ulaw_encode(samples)

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``: audio, barge-in, ``disconnect`` at the end."""
        if self.stopped or self.error:
            return None
        if isinstance(frame, EndFrame | CancelFrame):
            return self._goodbye()
        if self._parting and not isinstance(frame, OutputTransportMessageUrgentFrame):
            return None  # nothing is played behind a disconnect
        if isinstance(frame, OutputTransportMessageFrame) and _MARK in frame.message:
            await self._mark_reached(frame.message[_MARK])
            return None
        message = await super().serialize(frame)
        if isinstance(frame, InterruptionFrame):
            await self._played()
        return message

    async def part(self, websocket: WebSocket) -> None:
        """Wait for ``close`` and answer it, so that the flow ends as completed, not as broken."""
        if not self._parting:
            return
        with suppress(TimeoutError, WireError, RuntimeError, WebSocketDisconnect):
            async with asyncio.timeout(_CLOSE_WITHIN_S):
                while not (self.stopped or self.error):
                    await self.deserialize(await receive(websocket, "close"))

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says."""
        if isinstance(data, bytes):
            if len(data) > MAX_PAYLOAD_BYTES:
                raise WireError(f"audio message of over {MAX_PAYLOAD_BYTES} bytes")
            return self.heard(ulaw_decode(data))
        message = parse_message(data, self.max_bytes)
        kind = message.get("type")
        if not isinstance(kind, str):
            raise WireError("message without a type")
        self._client_seq = _next_number(message, self._client_seq)
        if message.get("id") != self._session_id:
            raise WireError("message of another session")
        return await self._control(kind, message)

    async def _control(self, kind: str, message: Mapping[str, Any]) -> Frame | None:
        match kind:
            case "dtmf":
                return keypad(part(message, "parameters").get("digit"))
            case "playback_started":
                self._sounding = True
            case "playback_completed":
                await self._played()
            case "paused" | "resumed":
                await self.listener.held(kind == "paused")
            case "ping":
                return await self._reply(self.create_pong_response())
            case "update":
                return await self._reply(self.create_pong_response() | {"type": "updated"})
            case "close":
                answer = await self._reply(self.create_closed_response())
                await self._closed()
                return answer
            case "error":
                self._complain(part(message, "parameters").get("code"))
            case "open":
                raise WireError("second open message")
        return None

    def _complain(self, code: Any) -> None:
        """Log the first error that Genesys reports of us: 429 is too many messages."""
        if not self._complained:
            self._complained = True
            shown = code if isinstance(code, int) and 0 < code < 1000 else "?"
            logger.warning("session {}: Genesys reports error {}", self._session_id, shown)

    def _goodbye(self) -> str | None:
        if self._parting:
            return None
        self._parting = True
        return json.dumps(self.create_disconnect_message(action="finished"))

    async def _closed(self) -> None:
        if self._parting:  # it is we who hung up
            self.stopped = True
        else:
            await self.stop()

    async def _reply(self, message: dict[str, Any]) -> Frame | None:
        """Send ``message`` at once; down the pipeline where nothing else is there to send it."""
        if self.send is None:
            return OutputTransportMessageUrgentFrame(message)
        await self.send(json.dumps(message))
        return None

    async def _mark_reached(self, name: str) -> None:
        if self._sounding:
            self._marks.append(name)
        else:
            await self.listener.played(name)

    async def _played(self) -> None:
        names, self._marks, self._sounding = self._marks, [], False
        for name in names:
            await self.listener.played(name)


def _next_number(message: Mapping[str, Any], last: int) -> int:
    """The message's number, which must be the one after ``last``.

    Raises:
        WireError: it is not.
    """
    number = message.get("seq")
    if isinstance(number, bool) or number != last + 1:
        raise WireError("message out of sequence")
    return last + 1
