"""A hand-over as it happens: the line is asked to transfer, the caller is told how it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from loguru import logger
from pipecat.processors.frame_processor import FrameProcessor

from agent.handover import HandOver
from agent.handover_machine import HandOverMachine
from agent.handover_words import HOLD
from agent.session import Reply, Session
from agent.trace import CallTrace
from frontdesk import Spoken, TransferError, WireError

# Of other problems the business has something to mend: an account, a number, a permission.
_EVERYDAY = frozenset({"busy", "no answer", "timeout"})


async def _nowhere(to: str, summary: str) -> None:
    raise TransferError("unsupported")


async def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Way:
    """How one call's caller gets to a person.

    ``transfer`` takes whom to dial and the summary, and raises ``WireError``; ``gone`` is awaited
    once it returned. ``timeout_s`` is for all of it; each ``hold_s`` the caller hears that it goes
    on. ``tail_s`` is what a wire that cannot say what it has played may still have to play.
    """

    transfer: Callable[[str, str], Awaitable[None]] = _nowhere
    gone: Callable[[], Awaitable[None]] = _nothing
    timeout_s: float = 40.0
    hold_s: float = 8.0
    tail_s: float = 0.0


class HandingOver:
    """The hand-overs of one call, one at a time.

    ``tasks`` owns the task of one; ``say`` speaks to the caller meanwhile. A transfer that fails
    ends in a sentence, and the call goes on.
    """

    def __init__(
        self,
        way: Way,
        session: Session,
        trace: CallTrace,
        tasks: FrameProcessor,
        say: Callable[[Spoken], Awaitable[None]],
    ) -> None:
        self._way = way
        self._session = session
        self._trace = trace
        self._tasks = tasks
        self._say = say
        self._machine = HandOverMachine()
        self._task: asyncio.Task[None] | None = None
        self._resolved = asyncio.Event()

    @property
    def is_dialling(self) -> bool:
        """Whether the caller is on the way to somebody: what they say is not answered."""
        return self._machine.is_dialling

    @property
    def is_telling(self) -> bool:
        """Whether the caller was promised it and it is not dialled yet."""
        return self._machine.is_telling

    def replied(self, reply: Reply) -> None:
        """``reply`` is given; its hand-over is to follow, or it calls one off."""
        if self._machine.replied(reply.verdict, reply.hand_over):
            self._trace.event("handover_called_off")

    def all_said(self) -> None:
        """Everything that was said was heard to its last word: dial, if that is what follows."""
        wanted = self._machine.told()
        if wanted is not None:
            self._resolved.clear()
            self._task = self._tasks.create_task(self._hand_over(wanted))

    async def happened(self, within_s: float) -> bool:
        """Whether the caller is with somebody else; one on the way is waited for so long."""
        if self._machine.is_dialling:
            try:
                await asyncio.wait_for(self._resolved.wait(), within_s)
            except TimeoutError:
                return False
        return self._machine.is_done

    async def drop(self) -> None:
        """The call is over: take back a transfer that is under way."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            await self._tasks.cancel_task(task)

    async def _hand_over(self, wanted: HandOver) -> None:
        rule = wanted.rule
        self._trace.event(
            "handing_over",
            rule=rule.value,
            to=wanted.to,
            summary=self._session.summary(rule, whole=False),
        )
        begun = self._trace.now_ms()
        problem: str = "failed"
        try:
            await asyncio.sleep(self._way.tail_s)
            problem = await self._transfer(wanted.to, self._session.summary(rule, whole=True))
        finally:  # whatever comes up: the agent listens again
            (self._machine.failed if problem else self._machine.done)()
            self._resolved.set()
        ms = round(self._trace.now_ms() - begun)
        if not problem:
            self._trace.event("handed_over", ms=ms)
            await self._way.gone()
            return
        self._trace.event("handover_failed", problem=problem, ms=ms)
        await self._say(self._session.handover_failed(problem))

    async def _transfer(self, to: str, summary: str) -> str:
        """What went wrong, or '': the far end has taken the caller on."""
        holding = self._tasks.create_task(self._hold())
        try:
            async with asyncio.timeout(self._way.timeout_s):
                await self._way.transfer(to, summary)
        except TimeoutError:
            return "timeout"
        except WireError as error:
            problem = error.problem if isinstance(error, TransferError) else "unsupported"
            level = "INFO" if problem in _EVERYDAY else "WARNING"
            logger.log(level, "call {}: not handed over: {}", self._trace.record.path.stem, error)
            return problem
        except ValueError:
            logger.error(
                "call {}: not handed over: its answer cannot be read", self._trace.record.path.stem
            )
            return "failed"
        finally:
            await self._tasks.cancel_task(holding)
        return ""

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(self._way.hold_s)
            await self._say(HOLD)
