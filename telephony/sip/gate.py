"""The gate in front of the SIP library: the process that owns every socket that the world sees.

``python -m telephony.sip.gate`` reads one line, the :class:`~telephony.sip.plan.Plan`, from its
standard input, says in one line where it listens, and ends when its input is closed. Being a
process of its own it passes audio on while the agent's models keep Python busy, and a flood costs
the calls nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from frontdesk import WireError
from telephony.sip.addresses import Addresses
from telephony.sip.dialogs import Dialogs
from telephony.sip.flow import Flow, Kind, Out, Target, ToLibrary
from telephony.sip.guard import Allowed, Flood, Rarely
from telephony.sip.message import Message, parse
from telephony.sip.plan import Listen, Plan
from telephony.sip.proxy import Proxy
from telephony.sip.relay import Relay
from telephony.sip.streams import Streams

INNER = "127.0.0.1"
_RECEIVE_BUFFER = 1 << 20
_MESSAGES_PER_S = 200.0
"""Of one source, INVITEs or not; a call needs some ten in all."""


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, receive: Callable[[bytes, tuple[str, int]], None]) -> None:
        self._receive = receive

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._receive(data, addr)


class Gate:
    """Sockets and timers around :class:`~telephony.sip.proxy.Proxy`."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._allowed = Allowed(plan.trunks)
        self._resolved: dict[str, str] = {}
        self._messages = Flood(_MESSAGES_PER_S, 20 * _MESSAGES_PER_S)
        self._streams = Streams(self.received, lambda host: self.trunk_of(host) is not None)
        self._udp: asyncio.DatagramTransport | None = None
        self._inner: asyncio.DatagramTransport | None = None
        self._listening: list[socket.socket] = []
        self._at: dict[Kind, tuple[str, int]] = {}
        self._warn_stranger, self._warn_odd = Rarely(), Rarely()
        self._tasks: set[asyncio.Task[None]] = set()
        self._reaching: set[str] = set()
        self._proxy: Proxy | None = None

    async def open(self) -> dict[str, Any]:
        """Take the sockets; where they are.

        Raises:
            OSError: one cannot be taken, or the certificate cannot be read.
        """
        _have_files()
        loop = asyncio.get_running_loop()
        plan = self._plan
        for listen in plan.listen:
            self._at[listen.kind] = await self._listen(listen)
        self._inner, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self.from_library), (INNER, plan.inner_port)
        )
        inner = self._inner.get_extra_info("sockname")
        addresses = Addresses(f"{INNER}:{inner[1]}", f"{INNER}:{plan.library_port}", self._public)
        most = 2 * plan.max_calls + 8
        dialogs = Dialogs(self._open_media, most=most, idle_s=plan.idle_s)
        self._proxy = Proxy(
            addresses,
            dialogs,
            Flood(plan.invites_per_s, plan.invites_per_s_in_all),
            self.trunk_of,
            plan.targets,
            plan.kinds,
            plan.secure_only,
        )
        return {"inner": inner[1], **{kind: port for kind, (_, port) in self._at.items()}}

    def close(self) -> None:
        """Let go of the sockets."""
        for task in self._tasks:
            task.cancel()
        for one in (*self._listening, self._udp, self._inner):
            if one is not None:
                one.close()
        self._streams.close()

    async def _listen(self, listen: Listen) -> tuple[str, int]:
        loop = asyncio.get_running_loop()
        if listen.kind == "udp":
            sock = socket.socket(_family(listen.host), socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            if sock.family == socket.AF_INET6:  # as TCP's: IPv4 has another form of address there
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((listen.host, listen.port))
            self._udp, _ = await loop.create_datagram_endpoint(
                lambda: _Datagrams(lambda d, a: self.received(d, Flow("udp", a[0], a[1]))),
                sock=sock,
            )
            return listen.host, sock.getsockname()[1]
        context = self._server_context() if listen.kind == "tls" else None
        sock = socket.create_server((listen.host, listen.port), family=_family(listen.host))
        sock.setblocking(False)
        self._listening.append(sock)
        self._spawn(self._streams.listen(listen.kind, sock, context))
        return listen.host, sock.getsockname()[1]

    def _server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._plan.certificate, self._plan.key or None)
        except OSError as error:
            raise OSError(f"set sip.certificate and sip.key: {error.strerror or error}") from None
        return context

    def trunk_of(self, host: str) -> str | None:
        """The trunk of an address: by its networks, or as a registrar's name was resolved."""
        return self._resolved.get(host) or self._allowed.trunk(host)

    def received(self, data: bytes, flow: Flow) -> None:
        """A message from outside. Strangers get no answer at all."""
        now = time.monotonic()
        if self.trunk_of(flow.host) is None:
            self._log(self._warn_stranger, now, f"SIP from {flow.host}, of no trunk: ignored")
            return
        if len(data) <= 4 or not self._messages.take(flow.host, now):
            return
        assert self._proxy is not None
        try:
            self._send(self._proxy.from_peer(parse(data), flow, now))
        except (WireError, ValueError, IndexError) as error:
            self._log(self._warn_odd, now, f"SIP from {flow.host} dropped: {_line(error)}")

    def from_library(self, data: bytes, source: tuple[str, int]) -> None:
        """A message from behind."""
        if source != (INNER, self._plan.library_port) or len(data) <= 4:
            return
        now = time.monotonic()
        assert self._proxy is not None
        try:
            message = parse(data)
            target = self._proxy.target(message, self._streams.holds)
            if target is None:
                self._send(self._proxy.from_library(message, now))
            elif message.call_id not in self._reaching:  # else it is sent again meanwhile
                self._reaching.add(message.call_id)
                self._spawn(self._reach(target, message))
        except (WireError, ValueError, IndexError) as error:
            self._log(self._warn_odd, now, f"the library's SIP dropped: {_line(error)}")

    async def sweep(self) -> None:
        """Forget, now and then, what is over; note what was refused."""
        assert self._proxy is not None
        while True:
            await asyncio.sleep(5)
            self._proxy.dialogs.sweep(time.monotonic())
            counts, self._proxy.counts = self._proxy.counts, {}
            counts.pop("OK", None)
            if counts:
                _say("; ".join(f"{n} times {reason}" for reason, n in counts.items()))

    def _send(self, outs: list[Out]) -> None:
        for out in outs:
            if isinstance(out, ToLibrary):
                assert self._inner is not None
                self._inner.sendto(out.data, (INNER, self._plan.library_port))
            else:
                self._send_to(out.to, out.data)

    def _send_to(self, flow: Flow, data: bytes) -> None:
        if flow.kind != "udp":
            self._streams.send(flow, data)
        elif self._udp is not None:
            self._udp.sendto(data, (flow.host, flow.port))

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reach(self, target: Target, message: Message) -> None:
        """Find a host, connect where its transport does, and send the library's ``message``."""
        assert self._proxy is not None
        try:
            async with asyncio.timeout(5):
                flow = await self._found(target)
            self._send(self._proxy.from_library(message, time.monotonic(), flow))
        except (OSError, TimeoutError) as error:
            trunk = self._plan.targets.get(target.host) or self.trunk_of(target.host)
            _say(f"trunk {trunk} cannot be reached: {_line(error) or 'no answer'}")
        except WireError as error:
            _say(f"the library's SIP dropped: {_line(error)}")
        finally:
            self._reaching.discard(message.call_id)

    async def _found(self, target: Target) -> Flow:
        if target.kind == "udp":
            family = _family(self._at["udp"][0]) if "udp" in self._at else 0
            found = await asyncio.get_running_loop().getaddrinfo(
                target.host, target.port, family=family, type=socket.SOCK_DGRAM
            )
            flow = Flow("udp", str(found[0][4][0]), target.port)
        else:
            context = ssl.create_default_context() if target.kind == "tls" else None
            streams = await asyncio.open_connection(target.host, target.port, ssl=context)
            flow = self._streams.add(target.kind, *streams)
        if target.host in self._plan.targets:
            self._resolved[flow.host] = self._plan.targets[target.host]
        return flow

    def _open_media(self, trunk: str) -> Relay:
        listens = next(iter(self._at.values()))[0]
        low, high = self._plan.rtp_ports
        return Relay(listens, INNER, range(low, high), lambda host: self.trunk_of(host) == trunk)

    def _public(self, flow: Flow) -> tuple[str, int]:
        host, port = self._at.get(flow.kind) or next(iter(self._at.values()))
        if self._plan.public_address:
            return self._plan.public_address, port
        return (_towards(flow.host) if host in ("0.0.0.0", "::") else host), port

    def _log(self, rarely: Rarely, now: float, line: str) -> None:
        if rarely.now(now):
            more = f" ({rarely.missed} more since the last such line)" if rarely.missed else ""
            rarely.missed = 0
            _say(line + more)


def _have_files() -> None:
    """Each call needs four sockets: take as many open files as the machine gives."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _family(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _towards(host: str) -> str:
    """This machine's address on the way to ``host``; nothing is sent."""
    with socket.socket(_family(host), socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))
        return str(probe.getsockname()[0])


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) if isinstance(error, WireError | OSError) else "malformed"


def _say(line: str) -> None:
    sys.stdout.write(json.dumps({"log": line}) + "\n")
    sys.stdout.flush()


def _ends_with_input(ended: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        ended.set()


async def _main() -> None:
    # A signal to the whole group is the agent's to act on: it ends its calls by this gate first.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    plan = Plan.loads(await asyncio.to_thread(sys.stdin.readline))
    gate = Gate(plan)
    try:
        ports = await gate.open()
    except OSError as error:
        sys.stdout.write(json.dumps({"error": " ".join(str(error).split())}) + "\n")
        sys.stdout.flush()
        return
    sys.stdout.write(json.dumps({"ready": ports}) + "\n")
    sys.stdout.flush()
    sweeping = asyncio.create_task(gate.sweep())
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    # Input at its end: the agent is gone, in whatever way.
    loop.add_reader(sys.stdin.fileno(), _ends_with_input, ended)
    await ended.wait()
    sweeping.cancel()
    gate.close()


if __name__ == "__main__":
    asyncio.run(_main())
