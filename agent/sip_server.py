"""Calls over SIP: from the INVITE to the switchboard."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from loguru import logger

from agent.doorman import Doorman, Refused
from agent.settings import Settings
from agent.switchboard import Switchboard
from frontdesk import ConfigError, WireError
from telephony.limits import is_loopback
from telephony.start import CallStart, number
from telephony.wire import Listener

if TYPE_CHECKING:
    from baresip import Call

    from telephony.sip.line import SipLine
    from telephony.sip.stack import Stack

_MEND = "SIP needs its library; run: .venv/bin/pip install -e '.[sip]'"


class SipServer:
    """Takes the calls of one server. ``ports`` are where it listens, by transport."""

    def __init__(self, settings: Settings, switchboard: Switchboard, doorman: Doorman) -> None:
        self._doorman = doorman
        self._settings = settings
        self._switchboard = switchboard
        self._arriving = 0
        self._calls: set[asyncio.Task[None]] = set()
        self._lines: set[SipLine] = set()
        self.stack: Stack | None = None

    @property
    def ports(self) -> dict[str, int]:
        """The gate's ports: ``udp``, ``tcp``, ``tls``."""
        return self.stack.ports if self.stack else {}

    @property
    def up(self) -> bool:
        """Whether calls can come in and go on."""
        return self.stack is not None and self.stack.up

    def take(self, call: Call) -> None:
        """A call has come in."""
        self._spawn(call)

    async def dial(self, to: str) -> str:
        """Place a call to ``to`` by the first trunk that dials; the call's id once it is answered.

        Raises:
            WireError: there is no such trunk, or nobody answered.
        """
        trunk = next((t for t in self._settings.sip.trunks if t.host), None)
        if trunk is None or self.stack is None:
            raise WireError("no SIP trunk to dial by")
        address = to if to.startswith(("sip:", "sips:")) else f"sip:{to}@{trunk.host}"
        call = await self.stack.dial(address, trunk.name)
        start = CallStart(
            f"SI{uuid.uuid4().hex}", call.call_id or "", caller=trunk.user, called=number(to)
        )
        self._spawn(call, start)
        return start.call_id

    async def stop(self) -> None:
        """Wait for the calls, which are being ended, to be over."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=5)

    def lost(self) -> None:
        """The gate or the library has ended."""
        for line in list(self._lines):
            line.lost()

    def _spawn(self, call: Call, start: CallStart | None = None) -> None:
        task = asyncio.create_task(self._hold(call, start))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _hold(self, call: Call, start: CallStart | None) -> None:
        from telephony.sip.line import SipLine
        from telephony.sip.stack import answer, audio_rate, end, start_of

        limit = self._settings.server.max_calls
        full = self._switchboard.full and start is None  # one that we placed has its line
        if full or len(self._switchboard.calls) + self._arriving >= limit:
            logger.warning("SIP call refused: {} in progress", len(self._switchboard.calls))
            await end(call)
            return
        begun, host = (start, self._dialled_host()) if start else start_of(call)
        if start is None and not is_loopback(host):
            try:
                self._doorman.count_caller(begun.caller)
            except Refused as refused:
                self._doorman.warn(f"SIP call refused: {refused.why}")
                await end(call)
                return
        self._arriving += 1
        try:
            rate_hz = await (audio_rate(call) if start else answer(call))
        except WireError as error:
            logger.info("SIP call not begun: {}", error)
            await end(call)
            return
        finally:
            self._arriving -= 1
        line: SipLine | None = None

        def open_line(listener: Listener) -> SipLine:
            nonlocal line
            line = SipLine(call, begun, listener, rate_hz=rate_hz, host=host)
            self._lines.add(line)
            return line

        try:
            await self._switchboard.hold(begun, open_line)
        except (WireError, ConfigError) as error:
            logger.error("call {} refused: {}", begun.call_id, error)
        finally:
            if line is not None:
                self._lines.discard(line)
            await end(call)

    def _dialled_host(self) -> str:
        return next((t.host for t in self._settings.sip.trunks if t.host), "")


@asynccontextmanager
async def sip_listening(
    settings: Settings, switchboard: Switchboard, doorman: Doorman
) -> AsyncIterator[SipServer | None]:
    """Take calls over SIP meanwhile; nothing where ``sip.listen`` is empty.

    Raises:
        ConfigError: the library is missing, or a socket, a certificate or a password.
    """
    if not settings.sip.listen:
        yield None
        return
    try:
        from telephony.sip.stack import Registration, stack
    except ImportError:
        raise ConfigError(_MEND) from None
    server = SipServer(settings, switchboard, doorman)
    registrations = [
        Registration(
            trunk=t.name,
            host=t.host,
            user=t.user,
            password=t.password(),
            auth_user=t.auth_user,
            every_s=t.register_s,
        )
        for t in settings.sip.trunks
        if t.host
    ]
    if not settings.sip.trunks:
        logger.info("SIP without trunks: only this machine may call")
    async with stack(
        settings.sip.plan(),
        server.take,
        codecs=settings.sip.codecs,
        srtp=settings.sip.srtp,
        media_timeout_s=math.ceil(settings.server.media_timeout_s),
        registrations=registrations,
    ) as running:
        server.stack = running
        running.on_lost.append(server.lost)
        places = ((x.kind, x.host, running.ports[x.kind]) for x in settings.sip.places())
        logger.info("SIP on {}", ", ".join(f"{kind}:{host}:{port}" for kind, host, port in places))
        try:
            yield server
        finally:
            await switchboard.stop()
            await server.stop()
