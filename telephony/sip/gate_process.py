"""The agent's side of the gate: start it, pass on what it logs, start it again, stop it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from loguru import logger

from frontdesk import ConfigError
from telephony.sip.plan import Plan

_START_S = 20.0
_PAUSE_S = 1.0


class GateProcess:
    """The gate as the agent has it. ``ports`` are by transport, and ``inner``."""

    def __init__(self, plan: Plan, on_lost: Callable[[], None]) -> None:
        self.ports: dict[str, int] = {}
        self.up = False
        self._plan = plan
        self._on_lost = on_lost
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; a second time at the ports that it had.

        Raises:
            ConfigError: a socket or the certificate cannot be had.
        """
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "telephony.sip.gate",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(self._plan.dumps().encode() + b"\n")
        self.ports = await _ready(process.stdout, self._plan)
        listen = (dataclasses.replace(x, port=self.ports[x.kind]) for x in self._plan.listen)
        self._plan = dataclasses.replace(
            self._plan, inner_port=self.ports["inner"], listen=tuple(listen)
        )
        self.up = True

    async def keep(self) -> None:
        """Pass on what it logs; when it ends, say so and start it again, for ever."""
        while True:
            if self.up and self._process and self._process.stdout:
                await _pass_on(self._process.stdout)
                self.up = False
                logger.error("the SIP gate has ended, and its calls with it; it is started again")
                self._on_lost()
            await self.stop()
            await asyncio.sleep(_PAUSE_S)
            try:
                await self.start()
            except (ConfigError, OSError) as error:
                logger.error("{}", error)

    async def stop(self) -> None:
        """By closing its input; by force where that is not enough."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(3):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def gate(plan: Plan, on_lost: Callable[[], None]) -> AsyncIterator[GateProcess]:
    """The gate, running; ``on_lost`` is called when it ended by itself, with all its calls.

    Raises:
        ConfigError: a socket or the certificate cannot be had.
    """
    process = GateProcess(plan, on_lost)
    try:
        await process.start()
        keeping = asyncio.create_task(process.keep())
        try:
            yield process
        finally:
            keeping.cancel()
    finally:
        await process.stop()


async def _ready(stdout: asyncio.StreamReader, plan: Plan) -> dict[str, int]:
    try:
        async with asyncio.timeout(_START_S):
            first = json.loads(await stdout.readline() or b"{}")
    except TimeoutError:
        raise ConfigError("the SIP gate did not start") from None
    if "ready" not in first:
        places = ", ".join(f"{x.kind}:{x.host}:{x.port}" for x in plan.listen)
        why = first.get("error", "the gate did not start")
        mend = "" if why.startswith("set ") else "; set sip.listen"
        raise ConfigError(f"SIP cannot listen on {places} ({why}){mend}")
    ports: dict[str, int] = first["ready"]
    return ports


async def _pass_on(stdout: asyncio.StreamReader) -> None:
    while line := await stdout.readline():
        try:
            logger.warning("SIP gate: {}", json.loads(line).get("log", ""))
        except ValueError:
            logger.warning("SIP gate: an unreadable line")
