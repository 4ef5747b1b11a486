"""Audio between a peer and the library: one relay a call, each packet from where it should be.

Strangers' packets are dropped. A peer behind NAT is answered where its packets come from
(symmetric RTP, RFC 4961). Packets that got lost are made up for, so that time stays true.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
import socket
import struct
import time
from collections.abc import Callable

from telephony.sip.keys import Keys
from telephony.sip.sdp import Audio

_MAX_PACKET = 1500
_LARGEST_GAP = 3
"""Packets made up for at most: 60 ms, as ``telephony.gaps`` has it."""
_REORDERED = 50
"""A packet that comes later than this many others begins anew."""
_SILENCE = {0: 0xFF, 8: 0xD5}
"""µ-law and A-law."""
_RTCP = range(192, 224)


class Relay:
    """One call's two RTP sockets with RTCP beside them; ``allowed`` tells its trunk's addresses.

    Raises:
        OSError: no pair of ports is free.
    """

    def __init__(
        self,
        outer_host: str,
        inner_host: str,
        ports: range,
        allowed: Callable[[str], bool],
    ) -> None:
        self._allowed = allowed
        self._loop = asyncio.get_running_loop()
        self._outer, self.outer_port = _pair(outer_host, ports)
        try:
            self._inner, self.inner_port = _pair(inner_host, range(0))
        except OSError:
            _close(self._outer)
            raise
        self._said: tuple[str, int] | None = None
        self._signalling = ""
        self._peer: list[tuple[str, int] | None] = [None, None]
        self._sure = False
        self._library: tuple[str, int] | None = None
        self._fill, self._keys = _Fill(), Keys()
        self._secure = False
        self._last = time.monotonic()
        self.strangers = 0
        self._closed = False
        for channel in (0, 1):
            self._loop.add_reader(self._outer[channel], self._from_peer, channel)
            self._loop.add_reader(self._inner[channel], self._from_library, channel)

    def peer_at(self, audio: Audio, signalling: str) -> None:
        """The peer's SDP: whoever was locked on to stays, unless the SDP names another place."""
        said = (audio.host, audio.port)
        self._signalling, self._secure = signalling, audio.secure
        if ipaddress.ip_address(audio.host).is_unspecified:
            return  # held in the old way
        if said != self._said:
            self._said, self._sure, self._peer = said, False, [None, None]
            self._fill = _Fill()

    def library_at(self, audio: Audio) -> None:
        """The library's SDP."""
        if not ipaddress.ip_address(audio.host).is_unspecified:
            self._library, self._keys.kind = (audio.host, audio.port), audio.keys

    def idle_s(self, now: float) -> float:
        """Seconds since a packet of the peer passed."""
        return now - self._last

    def close(self) -> None:
        """Let go of the ports. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for each in (*self._outer, *self._inner):
            self._loop.remove_reader(each)
        _close(self._outer)
        _close(self._inner)

    def _from_peer(self, channel: int) -> None:
        for data, source in _waiting(self._outer[channel]):
            if not self._is_peer(channel, source):
                self.strangers += 1
                continue
            self._last = time.monotonic()
            if self._library is None:
                continue
            to = (self._library[0], self._library[1] + channel)
            packets = [data]
            if not channel and not self._secure:
                packets = [
                    p for each in self._keys.with_ends(data) for p in self._fill.with_lost(each)
                ]
            for packet in packets:
                _send(self._inner[channel], packet, to)

    def _from_library(self, channel: int) -> None:
        for data, source in _waiting(self._inner[channel]):
            if self._library is None or source != (self._library[0], self._library[1] + channel):
                continue
            peer = self._peer[channel]
            if peer is None and self._said is not None and self._is_sane(self._said[0]):
                peer = (self._said[0], self._said[1] + channel)
            if peer is not None:
                _send(self._outer[channel], data, peer)

    def _is_sane(self, host: str) -> bool:
        """Whether audio may go to ``host`` because an SDP says so: no groups, not our own programs.

        A peer on this machine may mean this machine.
        """
        address = ipaddress.ip_address(host)
        if address.is_loopback:
            return ipaddress.ip_address(self._signalling).is_loopback
        return not (address.is_multicast or str(address) == "255.255.255.255")

    def _is_peer(self, channel: int, source: tuple[str, int]) -> bool:
        """Whether a packet from ``source`` is the peer's; the first that may be is locked on to.

        The very address of the SDP takes over from one that was only likely.
        """
        if source == self._peer[channel]:
            return True
        if self._said is None:
            return False
        if source == (self._said[0], self._said[1] + channel):
            self._peer[channel] = source
            self._sure = self._sure or not channel
            return True
        if self._sure or self._peer[channel] is not None:
            return False
        if source[0] in (self._said[0], self._signalling) or self._allowed(source[0]):
            self._peer[channel] = source
            return True
        return False


class _Fill:
    """Stands in for packets that got lost: the one before again, then silence."""

    def __init__(self) -> None:
        self._at: tuple[int, int, int] | None = None
        self._payload = b""

    def with_lost(self, data: bytes) -> list[bytes]:
        """``data``, behind what was lost before it; nothing where it comes too late."""
        told = _payload(data)
        if not told or data[1] in _RTCP:
            return [data]
        kind, number, stamp, stream = struct.unpack_from("!BHII", data, 1)
        kind &= 0x7F
        before, self._at = self._at, (number, stamp, stream)
        if before is None or before[2] != stream or kind not in _SILENCE:
            self._payload = told if kind in _SILENCE else b""
            return [data]
        step = (number - before[0]) & 0xFFFF
        if step == 0 or step > 0x10000 - _REORDERED:  # late or twice: its place is filled
            self._at = before
            return []
        payload, self._payload = self._payload, told
        size = len(payload)
        if not 1 < step <= _LARGEST_GAP + 1 or (stamp - before[1]) & 0xFFFFFFFF != step * size:
            return [data]
        return [*self._made(payload, kind, before, step, stream), data]

    @staticmethod
    def _made(
        payload: bytes, kind: int, before: tuple[int, int, int], step: int, stream: int
    ) -> list[bytes]:
        silence = bytes([_SILENCE[kind]]) * len(payload)
        return [
            struct.pack(
                "!BBHII",
                0x80,
                kind,
                (before[0] + lost) & 0xFFFF,
                (before[1] + lost * len(payload)) & 0xFFFFFFFF,
                stream,
            )
            + (payload if lost == 1 else silence)
            for lost in range(1, step)
        ]


def _payload(data: bytes) -> bytes:
    """What an RTP packet carries (RFC 3550, 5.1); empty where it is none or carries nothing."""
    if len(data) < 12 or data[0] >> 6 != 2:
        return b""
    begin, end = 12 + 4 * (data[0] & 15), len(data)
    if data[0] & 0x10:  # an extension: its length is in words
        begin += 4 + 4 * int.from_bytes(data[begin + 2 : begin + 4], "big")
    if data[0] & 0x20:  # padding: the last byte says how much
        end -= data[-1]
    return data[begin:end]


def _pair(host: str, ports: range) -> tuple[tuple[socket.socket, socket.socket], int]:
    """Sockets on an even port and the next; of ``ports``, or any where that is empty.

    Raises:
        OSError: none is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    some = list(ports[::2]) or [0] * 50
    random.shuffle(some)  # a port is not taken again at once, for what still comes to it
    for port in some:
        first = socket.socket(family, socket.SOCK_DGRAM)
        second = socket.socket(family, socket.SOCK_DGRAM)
        try:
            first.bind((host, port))
            taken = first.getsockname()[1]
            if taken % 2 == 0:
                second.bind((host, taken + 1))
                first.setblocking(False)
                second.setblocking(False)
                return (first, second), taken
        except OSError:
            pass
        _close((first, second))
    raise OSError("no pair of UDP ports is free")


def _close(pair: tuple[socket.socket, socket.socket]) -> None:
    for each in pair:
        each.close()


def _waiting(sock: socket.socket) -> list[tuple[bytes, tuple[str, int]]]:
    """What has arrived, at most 32 packets, so that no flood of one call holds up the others."""
    found = []
    for _ in range(32):
        try:
            data, source = sock.recvfrom(_MAX_PACKET)
        except (BlockingIOError, ConnectionError):
            break
        found.append((data, (str(source[0]), int(source[1]))))
    return found


def _send(sock: socket.socket, data: bytes, to: tuple[str, int]) -> None:
    try:
        sock.sendto(data, to)
    except OSError:  # a full buffer or an unreachable peer: a packet lost, as networks lose them
        return
