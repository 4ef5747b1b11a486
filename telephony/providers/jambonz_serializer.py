"""jambonz' audio WebSocket in Pipecat, which has none: strict, with marks.

Protocol: https://docs.jambonz.org/verbs/verbs/listen, and the media server's side of it,
https://github.com/jambonz/freeswitch-modules/tree/main/mod_audio_fork.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.serializers.base_serializer import FrameSerializer

from frontdesk import WireError
from telephony.guarded import MAX_PAYLOAD_S, Guarded, keypad
from telephony.linear import read_linear, write_linear
from telephony.messages import parse_message, part
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Listener

RATE_HZ = 8000
_MARKED = ("playout", "cleared")


class _JambonzFrameSerializer(FrameSerializer):
    """What Pipecat would have: interruptions and messages out."""

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """``killAudio``, or the message as it is; nothing for other frames."""
        if isinstance(frame, InterruptionFrame):
            return json.dumps({"type": "killAudio"})
        if isinstance(frame, OutputTransportMessageFrame | OutputTransportMessageUrgentFrame):
            return None if self.should_ignore_frame(frame) else json.dumps(frame.message)
        return None


class JambonzSerializer(Guarded, _JambonzFrameSerializer):
    """jambonz' wire format: 16-bit linear audio in binary messages, JSON in the others.

    The verb streams both ways, so jambonz plays what comes, and marks come back with the event
    ``playout``, or ``cleared`` for those that ``clearMarks`` dropped.
    """

    close_is_stop = True

    def __init__(
        self, call: CallStart, listener: Listener, *, max_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        super().__init__()
        self.guard(listener, max_bytes=max_bytes)

    def mark(self, name: str) -> dict[str, Any]:
        """It comes back once everything sent before it was played or dropped."""
        return {"type": "mark", "data": {"name": name}}

    def encode(self, samples: NDArray[np.int16]) -> bytes:
        """The samples."""
        return write_linear(samples)

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``; of an interruption's two, ``killAudio`` goes first."""
        message = await super().serialize(frame)
        if not isinstance(message, str) or not isinstance(frame, InterruptionFrame):
            return message
        if self.send is None:
            return message
        await self.send(message)
        return json.dumps({"type": "clearMarks"})

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says: ``event`` names a key press, ``type`` everything else."""
        if isinstance(data, bytes):
            return self.heard(read_linear(data, int(RATE_HZ * MAX_PAYLOAD_S)))
        message = parse_message(data, self.max_bytes)
        if "callSid" in message:
            raise WireError("second first message")
        event, kind = message.get("event", ""), message.get("type", "")
        if not isinstance(event, str) or not isinstance(kind, str):
            raise WireError("message whose event or type is no name")
        if event == "dtmf":
            return keypad(message.get("dtmf"))
        if kind == "mark":
            await self._marked(part(message, "data"))
        return None

    async def _marked(self, mark: Mapping[str, Any]) -> None:
        name = mark.get("name")
        if not isinstance(name, str):
            raise WireError("mark message without a name")
        if mark.get("event", "playout") in _MARKED:
            await self.listener.played(name)
