"""AudioSocket, Asterisk's audio over TCP, without I/O: packets in and out.

A packet is one byte of kind, two of length (big-endian), and the payload. The agent paces its own
audio: Asterisk hands on what comes, and nothing flushes there.

Protocol: https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket/ and
``res/res_audiosocket.c`` of Asterisk 22.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from frontdesk import WireError


class Kind(IntEnum):
    """What a packet is; audio is signed 16-bit mono, least significant byte first."""

    HANG_UP = 0x00
    UUID = 0x01
    DTMF = 0x03
    AUDIO_8 = 0x10
    AUDIO_12 = 0x11
    AUDIO_16 = 0x12
    AUDIO_24 = 0x13
    AUDIO_32 = 0x14
    AUDIO_44 = 0x15
    AUDIO_48 = 0x16
    AUDIO_96 = 0x17
    AUDIO_192 = 0x18
    ERROR = 0xFF


RATES_HZ = {Kind.AUDIO_8: 8000, Kind.AUDIO_16: 16000}
"""Of the kinds of audio that are served."""
KINDS = {rate: kind for kind, rate in RATES_HZ.items()}
AUDIO_KINDS = frozenset(kind for kind in Kind if Kind.AUDIO_8 <= kind <= Kind.AUDIO_192)
MAX_PAYLOAD_BYTES = 32000
"""A second of 16 kHz; Asterisk sends 20 ms."""
_HEAD_BYTES = 3


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet; ``kind`` is a plain number where it is no :class:`Kind`."""

    kind: int
    payload: bytes


class Reader:
    """Cuts a stream of bytes into packets, however it was cut on its way."""

    def __init__(self, max_payload_bytes: int = MAX_PAYLOAD_BYTES) -> None:
        self._max = max_payload_bytes
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Packet]:
        """The packets that ``data`` completes.

        Raises:
            WireError: one is longer than it may be.
        """
        self._rest += data
        while len(self._rest) >= _HEAD_BYTES:
            length = int.from_bytes(self._rest[1:3], "big")
            if length > self._max:
                raise WireError(f"a packet of over {self._max} bytes")
            if len(self._rest) < _HEAD_BYTES + length:
                return
            packet = Packet(self._rest[0], bytes(self._rest[_HEAD_BYTES : _HEAD_BYTES + length]))
            del self._rest[: _HEAD_BYTES + length]
            yield packet


def packed(kind: Kind, payload: bytes = b"") -> bytes:
    """The packet of ``kind``, as it goes over the wire."""
    return bytes((kind,)) + len(payload).to_bytes(2, "big") + payload


def call_id_of(packet: Packet) -> str:
    """The call's UUID, which the first packet holds.

    Raises:
        WireError: it is another packet.
    """
    if packet.kind != Kind.UUID or len(packet.payload) != 16:
        raise WireError("the first packet holds no UUID")
    return str(uuid.UUID(bytes=packet.payload))
