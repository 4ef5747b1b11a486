"""The Voice API's WebSocket in Pipecat: strict, with marks, in messages of exactly 20 ms.

Pipecat's own serializer is for Vonage's Video API, whose messages are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pipecat.frames.frames import Frame, InterruptionFrame, OutputTransportMessageFrame
from pipecat.serializers.vonage import VonageFrameSerializer

from frontdesk import WireError
from telephony.guarded import MAX_PAYLOAD_S, Guarded, keypad
from telephony.linear import read_linear, write_linear
from telephony.marks import MarksOut
from telephony.messages import parse_message
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Listener

RATE_HZ = 16000
MESSAGE_SAMPLES = RATE_HZ // 50
"""Vonage takes messages of 20 ms only: 320 samples, 640 bytes."""


class VonageSerializer(Guarded, VonageFrameSerializer):
    """Vonage's wire format: 16-bit linear audio in binary messages, JSON in the others.

    A clear is confirmed once, by ``websocket:cleared``: the marks before it count as played then.
    """

    rate_hz = RATE_HZ
    close_is_stop = True

    def __init__(
        self, call: CallStart, listener: Listener, *, max_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        super().__init__(VonageFrameSerializer.InputParams(vonage_sample_rate=RATE_HZ))
        self.guard(listener, max_bytes=max_bytes)
        self._marks = MarksOut()

    def mark(self, name: str) -> dict[str, Any]:
        """A ``notify``; Vonage returns its payload once everything before it was played."""
        return {"action": "notify", "payload": {"mark": name}}

    def encode(self, samples: NDArray[np.int16]) -> bytes:
        """The samples, with silence to whole messages behind them."""
        return write_linear(samples, MESSAGE_SAMPLES)

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``; marks and clears are noted as they leave."""
        message = await super().serialize(frame)
        if message is not None and isinstance(frame, InterruptionFrame):
            self._marks.clear_sent()
        elif message is not None and isinstance(frame, OutputTransportMessageFrame):
            name = _mark_in(frame.message.get("payload"))
            if name is not None:
                self._marks.sent(name)
        return message

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says."""
        if isinstance(data, bytes):
            return self.heard(read_linear(data, int(RATE_HZ * MAX_PAYLOAD_S)))
        message = parse_message(data, self.max_bytes)
        match message.get("event"):
            case "websocket:dtmf":
                return keypad(message.get("digit"))
            case "websocket:notify":
                await self._notified(message.get("payload"))
            case "websocket:cleared":
                for name in self._marks.cleared():
                    await self.listener.played(name)
            case "websocket:connected":
                raise WireError("second websocket:connected message")
            case str():
                pass
            case _:
                raise WireError("message without an event name")
        return None

    async def _notified(self, payload: Any) -> None:
        name = _mark_in(payload)
        if name is None:
            raise WireError("websocket:notify message without our mark")
        if self._marks.reached(name):
            await self.listener.played(name)


def _mark_in(payload: Any) -> str | None:
    """The mark that a payload carries."""
    name = payload.get("mark") if isinstance(payload, dict) else None
    return name if isinstance(name, str) else None
