"""A SIP telephone to be used by hand: dials, sends what it is told to, keeps what comes."""

from __future__ import annotations

import asyncio
import random
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.sip.caller import Datagrams, SipAddress, Telephone, signalling


class Phone:
    """One call's telephone. ``lines`` are the start lines that came, ``asked`` its REFERs."""

    def __init__(self, uri: str, call_id: str | None = None, number: str = "+15555550100") -> None:
        self.from_number = number
        self.to = SipAddress.of(uri)
        self.call_id = call_id or f"{random.getrandbits(64):x}@phone"
        self.packets: list[tuple[float, bytes]] = []
        self.lines: list[str] = []
        self.asked: list[str] = []
        self._number, self._passed, self._stream = 0, 0, random.getrandbits(32)

    async def open(self) -> None:
        """Take the sockets."""
        loop = asyncio.get_running_loop()
        _, self.rtp = await loop.create_datagram_endpoint(
            lambda: Datagrams(lambda d: self.packets.append((time.monotonic(), d))),
            local_addr=("127.0.0.1", 0),
        )
        self.telephone = Telephone(
            self.to, self.call_id, self.from_number, self.rtp.local[1], self.asked.append
        )
        self.telephone.wire = self._wire = await signalling(self.to, "127.0.0.1", self._received)

    def _received(self, data: bytes) -> None:
        self.lines.append(data.split(b"\r\n", 1)[0].decode())
        self.telephone.received(data)

    async def dial(self, timeout_s: float = 5) -> tuple[str, int]:
        """Call; where the agent wants the audio.

        Raises:
            WireError: it was refused, or nobody answered.
        """
        self.rtp.to = await self.telephone.dial(timeout_s)
        return self.rtp.to

    def close(self) -> None:
        """Hang up, if that is still to be done."""
        self.telephone.hang_up()
        self._wire.close()
        self.rtp.close()

    def packet(self, samples: NDArray[np.int16], *, lost: bool = False) -> None:
        """The next packet of 160 samples."""
        head = struct.pack("!BBHII", 0x80, 0, self._number & 0xFFFF, self.stamp, self._stream)
        self._number += 1
        self._passed += 1
        if not lost:
            self.rtp.send(head + ulaw_encode(samples))

    def packet_of(self, kind: int, stamp: int, payload: bytes) -> None:
        """A packet of another payload type; over 127 with the marker."""
        head = struct.pack("!BBHII", 0x80, kind, self._number & 0xFFFF, stamp, self._stream)
        self._number += 1
        self.rtp.send(head + payload)

    @property
    def stamp(self) -> int:
        """The timestamp of the next packet of audio."""
        return self._passed * 160

    def pause(self, packets: int) -> None:
        """Time for so many packets of audio has passed without one."""
        self._passed += packets

    def send(self, method: str, body: bytes = b"", kind: str = "application/sdp") -> None:
        """A request within the call."""
        self.telephone.ask(method, body, kind)

    async def speak(
        self, samples: NDArray[Any], *, loses: Callable[[int], bool] = lambda _: False
    ) -> None:
        """Send ``samples`` in real time; ``loses`` says which packets get lost."""
        began = time.monotonic()
        for i in range(len(samples) // 160):
            await asyncio.sleep(max(0.0, began + i * 0.02 - time.monotonic()))
            self.packet(samples[i * 160 : (i + 1) * 160].astype(np.int16), lost=loses(i))

    def heard(self) -> NDArray[np.int16]:
        """What came, by the packets' timestamps."""
        audio = [d for _, d in self.packets if d[1] & 127 == 0]
        found = [(struct.unpack_from("!I", d, 4)[0], d[12:]) for d in audio]
        if not found:
            return np.zeros(0, np.int16)
        first = found[0][0]
        out = np.zeros(found[-1][0] - first + 160, np.int16)
        for stamp, payload in found:
            out[stamp - first : stamp - first + len(payload)] = ulaw_decode(payload)
        return out


@asynccontextmanager
async def phone(uri: str, call_id: str | None = None) -> AsyncIterator[Phone]:
    """A telephone with its sockets; it hangs up at the end."""
    one = Phone(uri, call_id)
    await one.open()
    try:
        yield one
    finally:
        one.close()


def speechlike(seconds: float, seed: int = 1, rate_hz: int = 8000) -> NDArray[np.int16]:
    """Noise of the telephone band that comes and goes as syllables do."""
    rng = np.random.default_rng(seed)
    n = int(seconds * rate_hz)
    spectrum = np.fft.rfft(rng.standard_normal(n))
    hertz = np.fft.rfftfreq(n, 1 / rate_hz)
    spectrum[(hertz < 300) | (hertz > 3000)] = 0
    noise = np.fft.irfft(spectrum, n)
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * 4 * np.arange(n) / rate_hz)
    return np.rint(noise / np.abs(noise).max() * swell * 16000).astype(np.int16)


def snr_db(
    sent: NDArray[np.int16], heard: NDArray[np.int16], *, skip: int = 800
) -> tuple[int, float]:
    """The delay of ``sent`` in ``heard`` in samples, and how far the error is below it.

    By the highest cross-correlation; the first and last ``skip`` samples don't count.
    """
    reference = sent[skip : len(sent) - skip].astype(float)
    size = len(heard) + len(reference)
    product = np.fft.rfft(heard.astype(float), size) * np.conj(np.fft.rfft(reference, size))
    lag = int(np.argmax(np.fft.irfft(product, size)[: max(1, len(heard) - len(reference) + 1)]))
    part = heard[lag : lag + len(reference)].astype(float)
    error = part - reference[: len(part)]
    return lag - skip, float(10 * np.log10((reference**2).sum() / max((error**2).sum(), 1e-9)))
