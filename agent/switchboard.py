"""The calls in progress, whatever wire they came on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loguru import logger

from agent.call import Call
from agent.engines import Engines
from agent.outbound import Outbound
from agent.privacy import Redactor
from agent.privacy.documents import DocumentValues
from agent.records.keeper import Records
from agent.returning import Returning
from agent.settings import Settings
from agent.time_limit import limited
from frontdesk import WireError
from telephony.provider import Provider
from telephony.start import CallStart
from telephony.wire import Line, Listener

OpenLine = Callable[[Listener], Line]


class Switchboard:
    """One object a server; one call never touches another.

    ``providers`` are those that calls can be placed through.
    """

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        records: Records,
        providers: Mapping[str, Provider] | None = None,
    ) -> None:
        self._settings = settings
        self._engines = engines
        self._records = records
        self._kept = DocumentValues(lambda: engines.index) if settings.records.redact else None
        self.calls: set[Call] = set()
        self._returning = Returning()
        most = settings.server.max_calls
        self.outbound = Outbound(settings, providers, free=lambda: most - len(self.calls))

    @property
    def full(self) -> bool:
        """Whether one more call would be over the limit; a line is kept for each that we place."""
        return len(self.calls) + self.outbound.ringing >= self._settings.server.max_calls

    def has_line_for(self, call_id: str, caller: str, called: str) -> bool:
        """Whether that call can be held: one that we placed has the line that was kept for it."""
        if self.outbound.is_expected(call_id, caller, called):
            return len(self.calls) < self._settings.server.max_calls
        return not self.full

    async def hold(self, start: CallStart, open_line: OpenLine, *, returned: str = "") -> None:
        """Hold one call on the line that ``open_line`` opens, from its first word to its last.

        ``returned`` is the problem of a hand-over that brought a caller back: their conversation
        goes on where it was.

        Raises:
            WireError: all lines are busy; nothing was opened.
            ConfigError: the call's record cannot be written; nothing was opened.
        """
        if not self.has_line_for(start.call_id, start.caller, start.called):
            raise WireError(f"{len(self.calls)} calls in progress")
        record = self._records.begin(start.call_id, caller=start.caller, called=start.called)
        if self._kept is not None:
            record.redact = Redactor(self._kept)
        listener = _Listener(start.call_id)
        begun = False
        try:
            call = Call(
                self._settings,
                self._engines,
                open_line(listener),
                record,
                session=self._returning.take(start.call_id) if returned else None,
                returned=returned,
                outgoing=self.outbound.answered(start),
                on_handed_over=lambda session: self._returning.keep(start.call_id, session),
            )
            begun = True
        finally:
            if not begun:  # else it would be shown as in progress for ever
                record.close("could not begin")
        listener.call = call
        self.calls.add(call)
        logger.info("call {} started, {} in progress", start.call_id, len(self.calls))
        try:
            async with limited(call, self._settings.server.max_call_minutes):
                await call.run()
        finally:
            self.calls.discard(call)
            if not self.calls:
                await self._engines.give_memory_back()
            logger.info("call {} ended, {} in progress", start.call_id, len(self.calls))

    async def stop(self) -> None:
        """End every call, so that its record says why."""
        for call in list(self.calls):
            await call.end("server stopped")


class _Listener:
    """Tells one call what its wire says. A wire says nothing before its pipeline runs."""

    def __init__(self, call_id: str) -> None:
        self._call_id = call_id
        self.call: Call | None = None

    async def gone(self, cleanly: bool = True) -> None:
        if self.call and await self.call.gone() and not cleanly:
            logger.warning("call {}: socket closed without a stop message", self._call_id)

    async def played(self, mark: str) -> None:
        if self.call:
            await self.call.marked(mark)

    async def held(self, on: bool) -> None:
        if self.call:
            await self.call.held(on)

    async def failed(self, error: WireError) -> None:
        logger.warning("call {} ended: {}", self._call_id, error)
        if self.call:
            await self.call.end("wire error")
