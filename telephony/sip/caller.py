"""The test caller as a SIP telephone: it dials, answers what the agent asks, and carries audio.

A telephone of its own (RFC 3261, no library), so that it may run beside the agent in one process.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from frontdesk import WireError
from telephony.caller_protocol import CallerProtocol
from telephony.far_end import Dialled
from telephony.sip.message import Message, parse, reply
from telephony.sip.sdp import audio_of
from telephony.sip.streams import next_message
from telephony.start import PARAM_CALLER

_T1_S = 0.5
_URI = re.compile(r"(sips?):(?:([^@;]+)@)?(\[[0-9A-Fa-f:.]+\]|[^:;@]+)(?::(\d+))?((?:;[^;]+)*)")


@dataclass(frozen=True, slots=True)
class SipAddress:
    """``sip:USER@HOST:PORT;transport=KIND`` in its parts."""

    user: str
    host: str
    port: int
    kind: str

    @property
    def uri(self) -> str:
        """As it stands in a request."""
        return f"sip:{self.user}@{self.host}:{self.port}"

    @classmethod
    def of(cls, uri: str) -> SipAddress:
        """The parts of ``uri``.

        Raises:
            WireError: it is no SIP address.
        """
        found = _URI.fullmatch(uri)
        if not found:
            raise WireError(f"{uri!r} is no SIP address")
        scheme, user, host, port, params = found.groups()
        kind = re.search(r";transport=(\w+)", params or "")
        name = "tls" if scheme == "sips" else kind.group(1).lower() if kind else "udp"
        default = 5061 if name == "tls" else 5060
        return cls(user or "agent", host, int(port or default), name)


class Wire(Protocol):
    """What carries the signalling: ``local`` is where answers may come to."""

    local: tuple[str, int]

    def send(self, data: bytes) -> None:
        """Send one message."""

    def close(self) -> None:
        """Close it."""


class Telephone:
    """One call's signalling from the caller's side."""

    def __init__(
        self, to: SipAddress, call_id: str, number: str, rtp_port: int, hear: Callable[[str], None]
    ) -> None:
        self.answered: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        """Where the agent wants the audio, once it has answered."""
        self.ended = asyncio.Event()
        self.wire: Wire | None = None
        self._to, self._call_id, self._rtp_port, self._hear = to, call_id, rtp_port, hear
        self._from = f"<sip:{number or 'anonymous'}@127.0.0.1>;tag={random.getrandbits(48):x}"
        self._remote = f"<{to.uri}>"
        self._target = to.uri
        self._cseq = 1
        self._invite: Message | None = None
        self._heard_of = False

    async def dial(self, timeout_s: float) -> tuple[str, int]:
        """Send the INVITE until it is answered; where the audio goes.

        Raises:
            WireError: it was refused, or not answered within ``timeout_s``.
        """
        self._invite = self._request("INVITE", self._sdp())
        wait_s = _T1_S
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    if not self._heard_of:
                        self._send(self._invite)
                    with suppress(TimeoutError):
                        return await asyncio.wait_for(asyncio.shield(self.answered), wait_s)
                    wait_s *= 2
        except TimeoutError:
            raise WireError("no answer to the INVITE") from None

    def ask(self, method: str, body: bytes = b"", kind: str = "application/sdp") -> None:
        """Send a request within the call."""
        self._cseq += 1
        self._send(self._request(method, body, kind))

    def hang_up(self) -> None:
        """Send a BYE, once."""
        if self.answered.done() and not self.ended.is_set():
            self._cseq += 1
            self._send(self._request("BYE"))

    def received(self, data: bytes) -> None:
        """A message of the agent's; what is none is ignored."""
        try:
            message = parse(data)
        except WireError:
            return
        if message.call_id != self._call_id:
            return
        if message.status:
            self._response(message)
        else:
            self._asked(message)

    def _response(self, message: Message) -> None:
        self._heard_of = True
        if message.cseq_method != "INVITE" or message.status < 200:
            return
        assert self._invite is not None
        if message.status < 300:
            self._remote = message.get("To")
            contact = re.search(r"<([^>]+)>", message.get("Contact"))
            self._target = contact.group(1) if contact else self._target
            self._send(self._request("ACK"))
        else:
            ack = self._request("ACK")
            ack.put("To", [message.get("To")])
            ack.put("Via", [self._invite.get("Via")])
            self._send(ack)
        if self.answered.done():
            return
        audio = audio_of(message.body) if message.status < 300 else None
        if audio is None:
            self.answered.set_exception(WireError(f"the call was refused: {message.start[8:50]}"))
        else:
            self.answered.set_result((audio.host, audio.port))

    def _asked(self, message: Message) -> None:
        if message.method == "ACK":
            return
        body = self._sdp() if message.method in ("INVITE", "UPDATE") else b""
        ok = reply(message, 202 if message.method == "REFER" else 200, "OK")
        self._with(ok, body)
        self._send(ok)
        if message.method == "BYE":
            self.ended.set()
        elif message.method == "REFER":
            self._hear("REFER " + message.get("Refer-To").strip("<>"))
            self._cseq += 1
            notify = self._request("NOTIFY", b"SIP/2.0 200 OK\r\n", "message/sipfrag;version=2.0")
            notify.headers += [
                ("Event", "refer"),
                ("Subscription-State", "terminated;reason=noresource"),
            ]
            self._send(notify)

    def _request(self, method: str, body: bytes = b"", kind: str = "application/sdp") -> Message:
        assert self.wire is not None
        host, port = self.wire.local
        branch = f"z9hG4bK{random.getrandbits(64):x}"
        message = Message(
            f"{method} {self._target} SIP/2.0",
            [
                ("Via", f"SIP/2.0/{self._to.kind.upper()} {host}:{port};branch={branch};rport"),
                ("Max-Forwards", "70"),
                ("From", self._from),
                ("To", self._remote),
                ("Call-ID", self._call_id),
                ("CSeq", f"{self._cseq if method != 'ACK' else 1} {method}"),
            ],
        )
        self._with(message, body, kind)
        return message

    def _with(self, message: Message, body: bytes, kind: str = "application/sdp") -> None:
        assert self.wire is not None
        host, port = self.wire.local
        message.headers.append(("Contact", f"<sip:caller@{host}:{port};transport={self._to.kind}>"))
        if body:
            message.headers.append(("Content-Type", kind))
            message.body = body

    def _sdp(self) -> bytes:
        assert self.wire is not None
        lines = (
            "v=0",
            f"o=- 1 1 IN IP4 {self.wire.local[0]}",
            "s=-",
            f"c=IN IP4 {self.wire.local[0]}",
            "t=0 0",
            f"m=audio {self._rtp_port} RTP/AVP 0 101",
            "a=rtpmap:0 PCMU/8000",
            "a=rtpmap:101 telephone-event/8000",
            "a=ptime:20",
            "a=sendrecv",
        )
        return "\r\n".join((*lines, "")).encode()

    def _send(self, message: Message) -> None:
        assert self.wire is not None
        self.wire.send(message.encode())


class Datagrams(asyncio.DatagramProtocol):
    """A UDP socket: what comes goes to ``receive``, what is sent goes to ``to``."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self.transport: asyncio.DatagramTransport | None = None
        self.to: tuple[str, int] | None = None
        self.local = ("", 0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is there."""
        self.transport = transport  # type: ignore[assignment]
        self.local = transport.get_extra_info("sockname")[:2]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Hand it on, wherever it is from."""
        self._receive(data)

    def send(self, data: bytes) -> None:
        """Send it, while the socket is open."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.sendto(data, self.to)

    def close(self) -> None:
        """Close the socket."""
        if self.transport is not None:
            self.transport.close()


class _Stream:
    def __init__(self, writer: asyncio.StreamWriter, reading: asyncio.Task[None]) -> None:
        self.local = writer.get_extra_info("sockname")[:2]
        self._writer, self._reading = writer, reading

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()


async def over_sip(where: Dialled, call: CallerProtocol, open_timeout_s: float) -> None:
    """Hold ``call`` at ``where.url``, a SIP address.

    Raises:
        WireError: it is no SIP address, or the agent did not answer.
        OSError: it cannot be reached.
    """
    to = SipAddress.of(where.url)
    loop = asyncio.get_running_loop()
    begun = False

    def heard(data: str | bytes) -> None:
        if begun:
            call.receive(data, time.monotonic())

    host = await _towards(to)
    _, audio = await loop.create_datagram_endpoint(lambda: Datagrams(heard), local_addr=(host, 0))
    number = where.parameters.get(PARAM_CALLER, "")
    telephone = Telephone(to, f"{random.getrandbits(96):x}", number, audio.local[1], heard)
    wire = telephone.wire = await signalling(to, host, telephone.received)
    try:
        audio.to = await telephone.dial(open_timeout_s)
        begun = True
        await _talk(call, telephone, audio)
    finally:
        telephone.hang_up()
        await asyncio.sleep(0)  # the BYE leaves before its socket is closed
        wire.close()
        audio.close()


async def _talk(call: CallerProtocol, telephone: Telephone, audio: Datagrams) -> None:
    for message in call.begin(time.monotonic()):
        audio.send(message if isinstance(message, bytes) else message.encode())
    while not call.over:
        if telephone.ended.is_set():
            call.closed(time.monotonic())
            return
        with suppress(TimeoutError):
            wait_s = max(0.0, call.next_due - time.monotonic())
            await asyncio.wait_for(telephone.ended.wait(), wait_s)
        for message in call.tick(time.monotonic()):
            if isinstance(message, bytes):
                audio.send(message)


async def _towards(to: SipAddress) -> str:
    """This machine's address on the way there; nothing is sent."""
    found = await asyncio.get_running_loop().getaddrinfo(
        to.host.strip("[]"), to.port, type=socket.SOCK_DGRAM
    )
    family, _, _, _, address = found[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


async def signalling(to: SipAddress, host: str, receive: Callable[[bytes], None]) -> Wire:
    """What carries the messages to ``to``; each that comes is given to ``receive``."""
    loop = asyncio.get_running_loop()
    if to.kind == "udp":
        _, wire = await loop.create_datagram_endpoint(
            lambda: Datagrams(receive), local_addr=(host, 0)
        )
        wire.to = (to.host.strip("[]"), to.port)
        return wire
    context = ssl.create_default_context() if to.kind == "tls" else None
    reader, writer = await asyncio.open_connection(to.host.strip("[]"), to.port, ssl=context)

    async def read() -> None:
        with suppress(EOFError, OSError, WireError):
            while True:
                receive(await next_message(reader))

    return _Stream(writer, loop.create_task(read()))
