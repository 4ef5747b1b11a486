"""A SIP telephone's audio: RTP packets (RFC 3550) of µ-law, keys as events in them (RFC 4733).

Its signalling is in ``telephony.sip.caller``, which tells of a REFER by a text message.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping

from telephony.far_end import FarEnd, FromAgent, HandOver, Media, Message, Press

PCMU = 0
EVENT = 101
_KEYS = "0123456789*#ABCD"
_SILENCE = frozenset(b"\xff\x7f")
_EVENT_UNITS = 800
"""100 ms."""


class SipFarEnd(FarEnd):
    """One telephone."""

    name = "sip"
    path = ""

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._stream = random.getrandbits(32)
        self._number = random.getrandbits(15)
        self._stamp = 0
        self._pressed_at: int | None = None

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """The call stands: audio may come."""
        return []

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """One packet."""
        self._stamp = frame * 160
        return [self._packet(PCMU, self._stamp, payload, begins=frame == 0)]

    def lost(self) -> None:
        """Its sequence number is used up."""
        self._number += 1

    def press(self, digit: str) -> list[Message]:
        """An event of 100 ms: its begin, and its end three times."""
        if digit not in _KEYS:
            return []
        code = _KEYS.index(digit)
        begin = struct.pack("!BBH", code, 10, _EVENT_UNITS // 2)
        end = struct.pack("!BBH", code, 0x80 | 10, _EVENT_UNITS)
        return [
            self._packet(EVENT, self._stamp, payload, begins=i == 0)
            for i, payload in enumerate((begin, end, end, end))
        ]

    def read(self, data: Message) -> list[FromAgent]:
        """Audio and keys of a packet; what is neither is ignored, as telephones do.

        Digital silence is no audio: a telephone plays nothing either.
        """
        if isinstance(data, str):
            asked, _, to = data.partition(" ")
            return [HandOver(to)] if asked == "REFER" else []
        if len(data) < 13 or data[0] >> 6 != 2:
            return []
        stamp = struct.unpack_from("!I", data, 4)[0]
        payload = data[12 + 4 * (data[0] & 15) :]
        kind = data[1] & 0x7F
        if kind == PCMU and payload and not _SILENCE.issuperset(payload):
            return [Media(payload)]
        if kind == EVENT and len(payload) >= 4 and stamp != self._pressed_at:
            self._pressed_at = stamp
            return [Press(_KEYS[payload[0]])] if payload[0] < len(_KEYS) else []
        return []

    def _packet(self, kind: int, stamp: int, payload: bytes, *, begins: bool = False) -> bytes:
        head = struct.pack(
            "!BBHII",
            0x80,
            kind | (0x80 if begins else 0),
            self._number & 0xFFFF,
            stamp & 0xFFFFFFFF,
            self._stream,
        )
        self._number += 1
        return head + payload
