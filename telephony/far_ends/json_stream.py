"""What the far ends of Twilio, Telnyx, Plivo and Exotel share: JSON messages with an ``event``."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from frontdesk import WireError
from telephony.far_end import (
    Clear,
    Dialled,
    FarEnd,
    FromAgent,
    Mark,
    Media,
    Message,
    json_message,
    mark_name,
    media_payload,
    xml_answer,
)


class JsonStream(FarEnd):
    """One call; every message has an event, a number and the stream's id."""

    stream_key: ClassVar[str]
    number_key: ClassVar[str] = "sequenceNumber"
    numbers: ClassVar[type] = str
    agent_names_stream: ClassVar[bool] = True
    """Whether the agent's messages must have the stream's id."""
    audio_event: ClassVar[str] = "media"
    mark_event: ClassVar[str] = "mark"
    clear_event: ClassVar[str] = "clear"
    epoch_ms: ClassVar[int] = 0
    """What the timestamp of the first frame is."""

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._stream_id = str(uuid.uuid4())
        self._sequence = 0

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """A media message."""
        media = {
            "track": "inbound",
            "chunk": self.numbers(frame + 1),
            "timestamp": str(self.epoch_ms + frame * 20),
            "payload": base64.b64encode(payload).decode("ascii"),
        }
        return [self.message("media", media=media)]

    def lost(self) -> None:
        """Its number is used up."""
        self._sequence += 1

    def played(self, names: Sequence[str]) -> list[Message]:
        """The marks come back."""
        return [self.message("mark", mark={"name": name}) for name in names]

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        return [self.message("dtmf", dtmf={"digit": digit})]

    def read(self, data: Message) -> list[FromAgent]:
        """Media, marks and clears of this stream."""
        message = json_message(data)
        unnamed = None if self.agent_names_stream else self._stream_id
        if message.get(self.stream_key, unnamed) != self._stream_id:
            raise WireError("the agent's message names another stream")
        match message.get("event"):
            case self.audio_event:
                return [Media(self.audio(message))]
            case self.mark_event:
                return [Mark(self.mark(message))]
            case self.clear_event:
                return [Clear()]
        taken = f"{self.audio_event}, {self.mark_event} or {self.clear_event}"
        raise WireError(f"the agent sent an event that is not {taken}")

    def audio(self, message: Mapping[str, Any]) -> bytes:
        """The µ-law of the agent's media message."""
        return media_payload(message)

    def mark(self, message: Mapping[str, Any]) -> str:
        """The name in the agent's mark message."""
        return mark_name(message)

    def message(self, event: str, **part: Any) -> str:
        """A message with the next number."""
        self._sequence += 1
        return json.dumps(
            {
                "event": event,
                self.number_key: self.numbers(self._sequence),
                **part,
                self.stream_key: self._stream_id,
            },
            separators=(",", ":"),
        )


def connected_stream(body: str, **due: str) -> Dialled:
    """What the ``<Connect><Stream>`` of an answer says, whose attributes must be those ``due``.

    Raises:
        WireError: there is none.
    """
    stream = xml_answer(body).find("./Connect/Stream")
    if stream is None or any(stream.get(name) != value for name, value in due.items()):
        raise WireError("its answer offers no media stream both ways; the call was refused")
    parameters = {p.get("name", ""): p.get("value", "") for p in stream.findall("Parameter")}
    return Dialled(stream.get("url", ""), parameters)
