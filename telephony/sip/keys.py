"""Pressed keys among a call's audio packets (RFC 4733), each with an end. No I/O.

The library tells a key when its end arrives. Where all three copies of that got lost, the next
packet of another kind or key shows that it is over, and an end is made for it.
"""

from __future__ import annotations

import struct

_HEAD = struct.Struct("!BBHII")
_END = 0x80
_BESIDE = 320


class Keys:
    """``kind`` is the payload type of keys; None where none was agreed on."""

    def __init__(self) -> None:
        self.kind: int | None = None
        self._open = b""
        """The last packet of a key that has not ended."""
        self._over: int | None = None
        """The timestamp of the key that ended last."""

    def with_ends(self, data: bytes) -> list[bytes]:
        """``data``, behind the end that it shows to be lost; nothing of a key that has ended."""
        if self.kind is None or len(data) < _HEAD.size + 4 or data[0] != 0x80:
            return [data]
        stamp = _stamp(data)
        if data[1] & 0x7F != self.kind:
            # Some send audio beside a key: only what is clearly behind its last packet ends it.
            return [*self._ended(), data] if self._is_behind(data) else [data]
        ends = bool(data[_HEAD.size + 1] & _END)
        if stamp == self._over and not ends:
            return []
        made = self._ended() if self._open and _stamp(self._open) != stamp else []
        if ends:
            self._open, self._over = b"", stamp
        else:
            self._open = data
        return [*made, data]

    def _is_behind(self, data: bytes) -> bool:
        if not self._open:
            return False
        length = int.from_bytes(self._open[_HEAD.size + 2 : _HEAD.size + 4], "big")
        return _BESIDE < (_stamp(data) - _stamp(self._open) - length) & 0xFFFFFFFF < 1 << 31

    def _ended(self) -> list[bytes]:
        last, self._open = self._open, b""
        first, kind, number, stamp, stream = _HEAD.unpack_from(last)
        self._over = stamp
        head = _HEAD.pack(first, kind & 0x7F, (number + 1) & 0xFFFF, stamp, stream)
        body = last[_HEAD.size :]
        return [head + body[:1] + bytes([body[1] | _END]) + body[2:4]]


def _stamp(data: bytes) -> int:
    return int.from_bytes(data[4:8], "big")
