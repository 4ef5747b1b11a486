"""A call over SIP, answered and with its audio on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any, ClassVar

from baresip import BaresipError, Call, CallState, DigitEvent, Event, StackEvent, TransferFailed
from loguru import logger
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import InputDTMFFrame

from frontdesk import TransferError, WireError
from frontdesk.errors import TransferProblem
from telephony.capabilities import Capabilities
from telephony.sip.capabilities import CAPABILITIES
from telephony.sip.transport import MARK, SipTransport
from telephony.start import CallStart
from telephony.wire import Line, Listener

_SIP_URI = re.compile(r"sips?:[A-Za-z0-9+*#._~%!$&'()=,;:@\[\]-]{1,200}")
_NUMBER = re.compile(r"[+]?[0-9*#A-Za-z._-]{1,64}")
_DIGITS = re.compile(r"[0-9*#A-Da-d]+")
_PROBLEMS: dict[int, TransferProblem] = {
    404: "unreachable",
    408: "no answer",
    410: "unreachable",
    480: "no answer",
    484: "unreachable",
    486: "busy",
    487: "no answer",
    502: "unreachable",
    503: "unreachable",
    600: "busy",
    604: "unreachable",
}
TRANSFER_S = 38.0
"""How long a transfer may take to be answered; telephones ring for half a minute."""
LONGEST_HOLD_S = 900.0


class SipLine(Line):
    """One established call. ``host`` completes numbers that a caller is handed over to.

    Held by the far end, time goes on as silence; after ``longest_hold_s`` the call is ended.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(
        self,
        call: Call,
        start: CallStart,
        listener: Listener,
        *,
        rate_hz: int,
        host: str,
        longest_hold_s: float = LONGEST_HOLD_S,
    ) -> None:
        self.start = start
        self.rate_hz = rate_hz
        self._call = call
        self._host = host
        self._longest_hold_s = longest_hold_s
        self._listener = listener
        self._over = False
        self._held: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.transport = SipTransport(call.audio, rate_hz, listener)
        call.on(self._event)
        call.on_dtmf(self._pressed)
        call.on_transfer_request(lambda _: self._spawn(self._refuse_transfer()))
        if call.state is CallState.CLOSED:
            self._spawn(self._gone("closed before its pipeline"))

    def mark(self, name: str) -> dict[str, Any]:
        """Comes back when the library has sent what was queued before it."""
        return {MARK: name}

    async def hang_up(self) -> None:
        """By BYE, where the call is not over."""
        if self._over or self._call.state is CallState.CLOSED:
            return
        self._over = True
        try:
            await self._call.hangup()
        except BaresipError as error:
            logger.debug("call {}: hang-up: {}", self.start.call_id, type(error).__name__)

    async def transfer(self, to: str, *, summary: str = "") -> None:
        """By REFER: the caller's side dials; returns when it says that ``to`` has answered.

        Raises:
            TransferError: it was refused, not answered, or nothing was said in time.
        """
        try:
            await self._call.transfer(self._address(to), timeout=TRANSFER_S)
        except TransferFailed as error:
            if error.status is None and "within" in str(error):
                raise TransferError("timeout") from None
            raise TransferError(
                _PROBLEMS.get(error.status or 0, "refused" if error.status else "failed")
            ) from None
        except BaresipError:
            raise TransferError("failed") from None
        self._over = True

    def lost(self) -> None:
        """What carries the call is gone: nothing more can be heard, said or signalled."""
        self._over = True
        self._spawn(self._listener.failed(WireError("the SIP gate or library ended")))

    async def press(self, digits: str) -> None:
        """By RFC 4733 events; what is no key is left out."""
        keys = "".join(_DIGITS.findall(digits))
        if not keys:
            return
        try:
            await self._call.send_dtmf(keys)
        except BaresipError as error:
            logger.warning("call {}: keys not sent: {}", self.start.call_id, type(error).__name__)

    def _address(self, to: str) -> str:
        if _SIP_URI.fullmatch(to):
            return to
        number = re.sub(r"[ ()/-]", "", to.removeprefix("tel:"))
        if not _NUMBER.fullmatch(number):
            raise TransferError("unreachable", "neither a number nor a SIP address")
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"sip:{number}@{host}"

    def _event(self, event: StackEvent) -> None:
        if event.event is Event.CALL_CLOSED:
            self._spawn(self._gone(event.text or ""))
        elif event.event is Event.CALL_HOLD and self._held is None:
            loop = asyncio.get_running_loop()
            self._held = loop.call_later(self._longest_hold_s, self._held_too_long)
            self._spawn(self._listener.held(True))
        elif event.event is Event.CALL_RESUME and self._held is not None:
            self._held.cancel()
            self._held = None
            self._spawn(self._listener.held(False))

    def _held_too_long(self) -> None:
        logger.warning("call {}: on hold for {:g} s", self.start.call_id, self._longest_hold_s)
        self._spawn(self.hang_up())

    def _pressed(self, event: DigitEvent) -> None:
        if event.digit in "0123456789*#":  # A to D are on no telephone
            frame = InputDTMFFrame(KeypadEntry(event.digit))
            self._spawn(self.transport.input().push_frame(frame))

    async def _refuse_transfer(self) -> None:
        """Nobody sends the agent elsewhere."""
        try:
            await self._call.reject_transfer()
        except BaresipError as error:
            logger.debug("call {}: REFER: {}", self.start.call_id, type(error).__name__)

    async def _gone(self, why: str) -> None:
        self._over = True
        if self._held is not None:
            self._held.cancel()
        await self._listener.gone("stream error" not in why)

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
