"""Listens for AudioSocket: whom it lets in, and one call for each connection."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loguru import logger

from agent.audiosocket_settings import AudioSocketSettings
from agent.doorman import Doorman, Refused
from agent.known_calls import KnownCalls
from agent.settings import Settings
from agent.switchboard import Switchboard
from frontdesk import ConfigError, ForbiddenError, WireError
from telephony.audiosocket import Kind, Packet, Reader, call_id_of, packed
from telephony.audiosocket_line import AudioSocketLine
from telephony.expected_calls import EXPECTED_CALLS
from telephony.messages import start_within
from telephony.start import PARAM_RETURNED, CallStart

_UUID_BYTES = 19


@asynccontextmanager
async def audiosocket_listening(
    settings: Settings, switchboard: Switchboard, doorman: Doorman
) -> AsyncIterator[tuple[str, int] | None]:
    """Listen while inside; gives the address, or None where AudioSocket is off.

    Raises:
        ConfigError: the address cannot be taken.
    """
    listen = settings.audiosocket.listen
    if not listen:
        yield None
        return
    host, _, port = listen.rpartition(":")
    door = _Door(settings, switchboard, doorman)
    try:
        server = await asyncio.start_server(door.enter, host.strip("[]"), int(port), backlog=128)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {listen} ({error.strerror}); set audiosocket.listen or stop the "
            "other program"
        ) from error
    address = server.sockets[0].getsockname()
    logger.info("AudioSocket on {}:{}", address[0], address[1])
    try:
        yield address[0], address[1]
    finally:
        server.close()


class _Door:
    def __init__(self, settings: Settings, switchboard: Switchboard, doorman: Doorman) -> None:
        self._doorman = doorman
        self._settings = settings
        self._switchboard = switchboard
        self._allowed = [ipaddress.ip_network(one, strict=False) for one in self._own.allow]
        self._arriving = 0
        self._calls = KnownCalls()

    @property
    def _own(self) -> AudioSocketSettings:
        return self._settings.audiosocket

    async def enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold the call of one connection; whatever is wrong with it ends only it."""
        try:
            self._check_address(writer)
            packets = Reader()
            start = await self._start(reader, packets)
            if PARAM_RETURNED not in start.parameters:
                self._doorman.count_caller(start.caller)
        except (WireError, Refused) as error:
            logger.warning("AudioSocket connection refused: {}", error)
            writer.close()
            return
        try:
            told = start.parameters.get(PARAM_RETURNED, "")
            async with self._calls.one(start.call_id, told) as problem:
                await self._switchboard.hold(
                    start,
                    lambda listener: AudioSocketLine(
                        start, listener, reader, writer, packets, rate_hz=self._own.rate_hz
                    ),
                    returned=problem,
                )
        except (WireError, ConfigError) as error:
            logger.warning("call {} refused: {}", start.call_id, error)
            writer.write(packed(Kind.HANG_UP))
        finally:
            writer.close()

    def _check_address(self, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        address = ipaddress.ip_address(peer[0]) if peer else None
        if address is None or not any(address in network for network in self._allowed):
            raise ForbiddenError("its address is not in audiosocket.allow")
        if self._arriving >= 2 * self._settings.server.max_calls:
            raise WireError(f"{self._arriving} connections that have said nothing yet")

    async def _start(self, reader: asyncio.StreamReader, packets: Reader) -> CallStart:
        self._arriving += 1
        try:
            async with start_within(self._settings.server.start_timeout_s):
                data = await reader.readexactly(_UUID_BYTES)
        except (asyncio.IncompleteReadError, OSError):
            raise WireError("closed before its UUID") from None
        finally:
            self._arriving -= 1
        first: list[Packet] = list(packets.feed(data))
        if len(first) != 1:
            raise WireError("the first packet holds no UUID")
        return self._call(call_id_of(first[0]))

    def _call(self, handed: str) -> CallStart:
        known = EXPECTED_CALLS.take(handed)
        if known is None and self._own.expected_only:
            raise ForbiddenError("its UUID was not asked for")
        call_id = known.call_id if known else handed
        if known is None:
            return CallStart(call_id, handed)
        parameters = {PARAM_RETURNED: known.returned} if known.returned else {}
        return CallStart(
            call_id, handed, caller=known.caller, called=known.called, parameters=parameters
        )
