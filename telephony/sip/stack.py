"""The SIP library (``baresip-python``) behind its gate: one of each in a process.

The library listens on this machine only; all that it hears and sends passes the gate.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import re
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from baresip import (
    Account,
    AudioNotActive,
    BaresipError,
    Call,
    CallFailed,
    CallState,
    Config,
    Event,
    RegistrationError,
    Runtime,
    StackEvent,
    UserAgent,
)
from loguru import logger

from frontdesk import ConfigError, WireError
from telephony.sip.gate import INNER
from telephony.sip.gate_process import GateProcess, gate
from telephony.sip.plan import Plan
from telephony.sip.proxy import AGENT, CALLED, CALLER, SOURCE, TRUNK
from telephony.start import CallStart, number

CODECS = {"pcmu": "pcmu", "pcma": "pcma", "g722": "g722/16000/1"}
Srtp = Literal["off", "optional", "required"]
_ENCRYPTION = {"off": (), "optional": ("mediaenc=srtp",), "required": ("mediaenc=srtp-mand",)}
_NO_JITTER_BUFFER = "audio_jitter_buffer_type off"
"""The library's makes callers wait 100 ms for each answer, and loses frames where packets come in
bursts: SNR 37 dB in 7 calls of 7 without it, in 2 of 5 with it at 40 ms, on a busy machine. The
relay orders and fills, ``clocked`` keeps the time."""
_ANSWER_S = 40.0
"""The library gives an answer up after 32 s without an ACK."""
_RETRY_S = (5, 15, 60, 300)

# What it logs, it may quote from far ends.
logging.getLogger("baresip").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Registration:
    """An account with a provider: where we say that we are, or where we dial out.

    ``every_s`` of 0 means that nothing is registered: calls go out only.
    """

    trunk: str
    host: str
    user: str
    password: str = field(default="", repr=False)
    auth_user: str = ""
    every_s: int = 300


class Stack:
    """The running library and its gate; ``on_lost`` are told when either ends."""

    def __init__(self) -> None:
        self.on_lost: list[Callable[[], None]] = []
        self._gate: GateProcess | None = None
        self._dead = False
        self.agents: dict[str, UserAgent] = {}
        self.registered: set[str] = set()

    @property
    def ports(self) -> dict[str, int]:
        """The gate's, by transport."""
        return {k: v for k, v in self._gate.ports.items() if k != "inner"} if self._gate else {}

    @property
    def up(self) -> bool:
        """Whether calls can be had."""
        return self._gate is not None and self._gate.up and not self._dead

    def lost(self) -> None:
        """The gate has ended; it is started again."""
        for told in self.on_lost:
            told()

    def died(self) -> None:
        """The library has ended, which cannot be started twice in a process."""
        self._dead = True
        logger.critical("the SIP library has ended: restart the server")
        self.lost()

    async def dial(self, to: str, trunk: str, *, timeout_s: float = 60.0) -> Call:
        """Call ``to``, a number or a SIP address, by ``trunk``; returns when it is answered.

        Raises:
            WireError: there is no such trunk, or the call was not answered.
        """
        agent = self.agents.get(trunk)
        if agent is None:
            raise WireError(f"no SIP trunk {trunk!r} to dial by")
        try:
            call = await agent.dial(to)
            await call.wait_established(timeout_s)
        except CallFailed as error:
            raise WireError(f"the call was not answered ({error.status or 'no status'})") from None
        except (BaresipError, ValueError):
            raise WireError("the call could not be placed") from None
        return call


@asynccontextmanager
async def stack(
    plan: Plan,
    on_call: Callable[[Call], None],
    *,
    codecs: Sequence[str] = ("pcmu", "pcma"),
    srtp: Srtp = "off",
    media_timeout_s: int = 10,
    registrations: Sequence[Registration] = (),
) -> AsyncIterator[Stack]:
    """The library and its gate, running; ``on_call`` is told of each call, to be answered.

    Raises:
        ConfigError: a socket cannot be had, or another stack runs in this process.
    """
    plan = dataclasses.replace(plan, library_port=plan.library_port or _free_port())
    config = Config(
        net_interface=INNER,
        max_concurrent_calls=plan.max_calls,
        rtp_timeout=media_timeout_s,
        native_log_level="error",
        expose_headers=(CALLER, CALLED, TRUNK, SOURCE),
        extra_config_text="\n".join(
            (f"sip_listen {INNER}:{plan.library_port}", "sip_transports udp", _NO_JITTER_BUFFER)
        ),
    )
    spec = tuple(CODECS[name] for name in codecs)
    running = Stack()
    async with gate(plan, running.lost) as running._gate:
        runtime = Runtime()
        runtime.on_dead = running.died
        try:
            await runtime.start(config)
        except BaresipError as error:
            raise ConfigError(f"SIP does not start: {error}") from None
        tasks: list[asyncio.Task[None]] = []
        try:
            extra = _ENCRYPTION[srtp]
            account = Account(
                AGENT, INNER, "", reg_interval=0, audio_codecs=spec, extra_params=extra
            )
            agent = await UserAgent.create(runtime, account, transfer_policy="manual")
            agent.on_incoming(on_call)
            for one in registrations:
                ua = await UserAgent.create(
                    runtime,
                    _account(one, running._gate.ports["inner"], spec, extra),
                    transfer_policy="manual",
                )
                running.agents[one.trunk] = ua
                if one.every_s:
                    tasks.append(asyncio.create_task(_stay_registered(running, one, ua)))
            yield running
        finally:
            for task in tasks:
                task.cancel()
            await runtime.close()


def _account(
    one: Registration, inner_port: int, codecs: tuple[str, ...], extra: tuple[str, ...]
) -> Account:
    # Inside it is UDP to the gate always; which transport goes on from there, the address says.
    return Account(
        one.user,
        one.host,
        one.password,
        registrar=f"sip:{INNER}:{inner_port};lr",
        reg_interval=one.every_s,
        audio_codecs=codecs,
        auth_user=one.auth_user or None,
        extra_params=extra,
    )


async def _stay_registered(running: Stack, one: Registration, agent: UserAgent) -> None:
    """Register, again and again while it fails; once done, the library renews it by itself."""
    for attempt in range(1_000_000):
        try:
            await agent.register()
        except RegistrationError as error:
            logger.warning(
                "SIP trunk {}: not registered ({})", one.trunk, error.status or "no answer"
            )
        except BaresipError as error:
            logger.warning("SIP trunk {}: not registered: {}", one.trunk, type(error).__name__)
        else:
            running.registered.add(one.trunk)
            logger.info("SIP trunk {}: registered", one.trunk)
            return
        await asyncio.sleep(_RETRY_S[min(attempt, len(_RETRY_S) - 1)])


async def answer(call: Call) -> int:
    """Answer ``call``; its audio's rate in Hz once the call stands.

    Raises:
        WireError: it was gone before, or its audio is none that we speak.
    """
    standing = asyncio.get_running_loop().create_future()

    def listen(event: StackEvent) -> None:
        if event.event in (Event.CALL_ESTABLISHED, Event.CALL_CLOSED) and not standing.done():
            standing.set_result(event.event is Event.CALL_ESTABLISHED)

    call.on(listen)
    try:
        if call.state is CallState.CLOSED:
            raise WireError("the caller hung up before the answer")
        try:
            await call.answer()
            async with asyncio.timeout(_ANSWER_S):
                stands = await standing
        except (BaresipError, TimeoutError):
            stands = False
        if not stands:
            raise WireError("the caller hung up before the answer")
        return await audio_rate(call)
    finally:
        call.off(listen)


async def audio_rate(call: Call) -> int:
    """The rate in Hz of a standing call, once its audio is on.

    Raises:
        WireError: it does not come on.
    """
    for _ in range(200):
        try:
            info = call.audio.info()
        except AudioNotActive:
            if call.state is CallState.CLOSED:
                break
        else:
            if info.tx_ready and info.tx_sample_rate:
                return int(info.tx_sample_rate)
        await asyncio.sleep(0.01)
    raise WireError("the call's audio did not come on")


async def end(call: Call) -> None:
    """Refuse or hang up ``call``, if it is not over: 486 before it was answered, BYE after."""
    if call.state is CallState.CLOSED:
        return
    with contextlib.suppress(BaresipError):  # it has just ended by itself
        await (call.reject() if call.state is CallState.INCOMING else call.hangup())


def start_of(call: Call) -> tuple[CallStart, str]:
    """What is known of an incoming ``call``, and the host to hand its caller over by."""
    told = call.headers
    start = CallStart(
        f"SI{uuid.uuid4().hex}",
        re.sub(r"[^A-Za-z0-9_-]", "_", call.call_id or "")[:64],
        account_id=told.get(TRUNK, ""),
        caller=number(told.get(CALLER)),
        called=number(told.get(CALLED)),
        parameters={"sip_call_id": call.call_id or ""},
    )
    return start, told.get(SOURCE, "")


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((INNER, 0))
        return int(probe.getsockname()[1])
