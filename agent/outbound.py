"""Calls that the agent places: who may be called, how, and which call is which once it is answered.

Nothing that is said in a call leads here: only ``POST /outbound`` (:mod:`agent.outbound_api`),
which takes requests of this machine's own user. Every check comes before anything is dialled.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from loguru import logger

from agent.outbound_rules import OutboundError, Rules, number_of, same_number
from agent.outgoing import Outgoing
from agent.provider_accounts import providers_of
from agent.settings import Settings
from frontdesk import ConfigError, SpeechError, Spoken, WireError
from telephony.provider import Provider
from telephony.providers import PROVIDERS
from telephony.redaction import masked
from telephony.start import CallStart

Dial = Callable[[str], Awaitable[str]]
"""Calls a number; the call's id. Raises ``WireError`` where the wire does not take it on."""
State = Literal["ringing", "answered", "not answered", "failed"]
SIP = "sip"
TAKEN_ON_S = 8.0
"""A provider takes a call on at once, or fails within 5 s; SIP tells when it is answered."""
_MOST_KEPT = 1000
_MOST_SAID_CHARS = 300


@dataclass(frozen=True, slots=True)
class Placed:
    """One call that was placed; ``call_id`` is the wire's, empty until it is known."""

    id: str
    to: str
    outgoing: Outgoing
    at_s: float
    call_id: str = ""
    state: State = "ringing"


class Outbound:
    """One object a server.

    ``dialers`` hold how each wire places a call; a wire that is no provider adds its own. ``free``
    is how many lines are; one is kept for each call that rings. The clocks are for tests.

    Raises:
        ConfigError: ``outbound.wire`` cannot place calls, or lacks its account or public URL.
    """

    def __init__(
        self,
        settings: Settings,
        providers: Mapping[str, Provider] | None = None,
        *,
        free: Callable[[], float] = lambda: math.inf,
        seconds: Callable[[], float] = time.monotonic,
        today: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settings = settings.outbound
        self._hours = settings.outbound.opening_hours()
        self._free, self._seconds, self._today = free, seconds, today
        self._own = _own_numbers(settings)
        self._rules = Rules(
            settings.outbound.allow,
            self._own,
            per_hour=settings.outbound.max_per_hour,
            per_number=settings.outbound.max_attempts,
        )
        self._calls: dict[str, Placed] = {}
        self.dialers: dict[str, Dial] = {}
        self._dialling: set[asyncio.Task[str]] = set()
        if settings.outbound.enabled and settings.outbound.wire != SIP:
            _check_wire(settings, settings.outbound.wire)
            providers = providers or providers_of(settings)
            self.dialers[settings.outbound.wire] = _dialer(
                providers[settings.outbound.wire], settings.server.public_url
            )

    async def place(self, to: str, say: str = "") -> Placed:
        """Call ``to``, and have a person told ``say`` in place of the usual purpose.

        Returns once the wire has taken it on, or rings for :data:`TAKEN_ON_S`.

        Raises:
            OutboundError: it is not allowed, or the wire refused it.
        """
        number = self._checked(to)
        outgoing = self._outgoing(say)
        dial = self.dialers.get(self._settings.wire)
        if dial is None:
            raise OutboundError(503, "SIP is off: set sip.listen, and a trunk with a host")
        now = self._seconds()
        self._rules.count(number, now)
        placed = Placed(uuid.uuid4().hex, number, outgoing, now)
        self._keep(placed)
        task = asyncio.create_task(self._dial(dial, placed))
        self._dialling.add(task)
        task.add_done_callback(self._dialled)
        done, _ = await asyncio.wait({task}, timeout=TAKEN_ON_S)
        if done and isinstance(problem := task.exception(), WireError):
            line = f"{self._settings.wire} did not place the call: {problem}"
            raise OutboundError(502, line) from None
        return self._calls[placed.id]

    async def _dial(self, dial: Dial, placed: Placed) -> str:
        try:
            call_id = await dial(placed.to)
        except WireError as error:
            self._keep(replace(placed, state="failed"))
            logger.warning("outbound call to {}: {}", masked(placed.to), error)
            raise
        # It may have been answered before the wire's answer was read, under an id of its own.
        now = self._calls.get(placed.id, placed)
        if not now.call_id:
            self._keep(replace(now, call_id=call_id))
        logger.info("outbound call {} to {}", call_id, masked(placed.to))
        return call_id

    def _dialled(self, task: asyncio.Task[str]) -> None:
        self._dialling.discard(task)
        if not task.cancelled():
            task.exception()  # it was logged

    def answered(self, start: CallStart) -> Outgoing | None:
        """What to say in the call that begins, if it is one that we placed; it is taken once."""
        placed = self._waiting(start.call_id, start.caller, start.called)
        if placed is None:
            return None
        self._keep(replace(placed, call_id=start.call_id, state="answered"))
        return placed.outgoing

    def is_expected(self, call_id: str, caller: str, called: str) -> bool:
        """Whether such a call is one that we placed and that nobody has answered yet."""
        return self._waiting(call_id, caller, called) is not None

    @property
    def ringing(self) -> int:
        """How many calls ring: each has its line kept."""
        return len(self._ringing())

    def find(self, placed_id: str) -> Placed | None:
        """The call with that ``Placed.id``, as it stands now."""
        placed = self._calls.get(placed_id)
        if placed is not None and placed.state == "ringing" and not self._rings(placed):
            return replace(placed, state="not answered")
        return placed

    def _checked(self, to: str) -> str:
        settings = self._settings
        if not settings.enabled:
            raise OutboundError(
                403,
                "calls are not placed here: set [outbound] enabled = true and list who may be "
                "called in outbound.allow (docs/outbound.md)",
            )
        number = number_of(to)
        self._rules.check(number, self._seconds())
        if not self._hours.is_open(self._today()):
            raise OutboundError(403, "no calls at this time: see outbound.hours")
        if number in [one.to for one in self._ringing()]:
            raise OutboundError(409, "that number is being called already")
        if self._free() <= self.ringing:
            raise OutboundError(503, "all lines are busy: try again in a few minutes")
        return number

    def _outgoing(self, say: str) -> Outgoing:
        settings = self._settings
        if len(say) > _MOST_SAID_CHARS:
            raise OutboundError(400, f"say at most {_MOST_SAID_CHARS} characters")
        try:
            return Outgoing(
                greeting=Spoken(f"{settings.greeting} {say or settings.purpose}"),
                message=Spoken(" ".join(filter(None, (settings.greeting, say, settings.message)))),
                who=Spoken(f"{settings.greeting} {say}".rstrip()),
            )
        except SpeechError as error:
            raise OutboundError(400, str(error)) from None

    def _waiting(self, call_id: str, caller: str, called: str) -> Placed | None:
        """By the call's id; else by the number called, as some wires name a call twice."""
        ringing = self._ringing()
        for one in ringing:
            if one.call_id == call_id:
                return one
        if not any(same_number(caller, own) for own in self._own):
            return None
        return next((one for one in ringing if same_number(one.to, called)), None)

    def _ringing(self) -> list[Placed]:
        return [one for one in self._calls.values() if self._rings(one)]

    def _rings(self, placed: Placed) -> bool:
        within = self._seconds() - placed.at_s < self._settings.ring_s
        return placed.state == "ringing" and within

    def _keep(self, placed: Placed) -> Placed:
        self._calls[placed.id] = placed
        while len(self._calls) > _MOST_KEPT:
            del self._calls[next(iter(self._calls))]
        return placed


def _own_numbers(settings: Settings) -> tuple[str, ...]:
    providers = (settings.providers.of(name).number for name in PROVIDERS)
    trunks = (trunk.user for trunk in settings.sip.trunks)
    return tuple(number for number in (*providers, *trunks) if number)


def _check_wire(settings: Settings, name: str) -> None:
    """Make sure that the provider ``name`` can place calls."""
    kind = PROVIDERS.get(name)
    if kind is None:
        names = ", ".join(sorted((*PROVIDERS, SIP)))
        raise ConfigError(f"no outbound.wire {name!r}; there are {names}")
    if not kind.capabilities.dials:
        raise ConfigError(f"{kind.capabilities.name} places no calls: set another outbound.wire")
    if not settings.providers.of(name).enabled:
        raise ConfigError(f"outbound needs its wire: set providers.{name}.enabled = true")
    if not settings.providers.of(name).number:
        raise ConfigError(f"set providers.{name}.number: calls are placed from it")
    if not settings.server.public_url and kind.needs_return_url:
        raise ConfigError("set server.public_url: the provider asks it once somebody answers")


def _dialer(provider: Provider, public_url: str) -> Dial:
    """How ``provider`` places a call; its webhook is asked once somebody answers."""
    answered = f"{public_url.rstrip('/')}/{provider.name}/voice"

    async def dial(number: str) -> str:
        try:
            return await provider.dial(number, answered=answered)
        except ValueError:  # an answer that is no JSON
            raise WireError("its answer cannot be read; the call may have been placed") from None

    return dial
