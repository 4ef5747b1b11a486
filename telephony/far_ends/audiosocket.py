"""Asterisk's side of AudioSocket. Protocol: see ``telephony.audiosocket``."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from frontdesk import WireError
from telephony.asterisk_formats import FORMATS
from telephony.audiosocket import Kind, Reader, packed
from telephony.far_end import FarEnd, FromAgent, HangUp, Media, Message
from telephony.g711 import ulaw_decode, ulaw_encode

_LINEAR = FORMATS["slin"]


class AudioSocketFarEnd(FarEnd):
    """One connection of the application ``AudioSocket()``; ``call_id`` is a UUID in some form."""

    name = "audiosocket"
    path = ""

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._packets = Reader()

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """The UUID."""
        return [packed(Kind.UUID, uuid.UUID(self.call_id).bytes)]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """The frame, 16-bit linear."""
        return [packed(Kind.AUDIO_8, _LINEAR.encode(ulaw_decode(payload)))]

    def press(self, digit: str) -> list[Message]:
        """One byte."""
        return [packed(Kind.DTMF, digit.encode("ascii"))]

    def hang_up(self) -> list[Message]:
        """Asterisk just closes; this is what closing means."""
        return [packed(Kind.HANG_UP)]

    def read(self, data: Message) -> list[FromAgent]:
        """Audio and the hang-up, in any number of bytes of the stream.

        Raises:
            WireError: a kind that Asterisk takes for an error.
        """
        if isinstance(data, str):
            raise WireError("the agent sent text")
        asked: list[FromAgent] = []
        for packet in self._packets.feed(data):
            if packet.kind == Kind.HANG_UP:
                asked.append(HangUp())
            elif packet.kind != Kind.AUDIO_8:
                raise WireError("the agent sent a packet other than audio and hang-up")
            elif len(packet.payload) < 2 or len(packet.payload) % 2:
                raise WireError("the agent sent audio of half a sample")
            else:
                asked.append(Media(ulaw_encode(_LINEAR.decode(packet.payload))))
        return asked
