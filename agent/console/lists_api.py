"""The lists: calls and refusals, searched and by pages, and as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agent.console import asked, rows
from agent.console.replies import Json, download, endpoint
from agent.console.threads import Threads
from agent.records.keeper import Records
from agent.records.store import CallQuery, TurnQuery

_OUTCOMES = frozenset({"answered", "refused", "transferred", "hung_up", "marked"})
_MAX_ROWS = 100_000
_REFUSED = "refused"


class ListsApi:
    """Routes over the store of ``records``; dates are of ``zone``."""

    def __init__(self, records: Records, threads: Threads, zone: tzinfo) -> None:
        self._records = records
        self._threads = threads
        self._zone = zone

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        return [
            Route("/api/calls", self.calls),
            Route("/api/calls.csv", self.calls_csv),
            Route("/api/refusals", self.refusals),
            Route("/api/refusals.csv", self.refusals_csv),
        ]

    @endpoint
    async def calls(self, request: Request) -> Response:
        """One page of calls, the newest first."""
        query = self._call_query(request)
        return Json(await self._threads.run(self._page_of_calls, query))

    @endpoint
    async def calls_csv(self, request: Request) -> Response:
        """All calls that the query finds."""
        found = self._every_call(replace(self._call_query(request), offset=0))
        return await download("calls.csv", rows.CALL_COLUMNS, found, self._threads)

    @endpoint
    async def refusals(self, request: Request) -> Response:
        """One page of refusals, the newest first."""
        query = self._turn_query(request)
        return Json(await self._threads.run(self._page_of_refusals, query))

    @endpoint
    async def refusals_csv(self, request: Request) -> Response:
        """All refusals that the query finds."""
        found = self._every_refusal(replace(self._turn_query(request), offset=0))
        return await download("refusals.csv", rows.REFUSAL_COLUMNS, found, self._threads)

    def _call_query(self, request: Request) -> CallQuery:
        return CallQuery(
            since=asked.since(request, self._zone),
            until=asked.until(request, self._zone),
            text=asked.words(request, "text"),
            outcome=asked.one_of(request, "outcome", _OUTCOMES),
            wire=asked.words(request, "wire"),
            offset=asked.number(request, "offset", 0, 0),
            limit=asked.number(request, "limit", 50, 1, asked.MAX_PAGE),
        )

    def _turn_query(self, request: Request) -> TurnQuery:
        return TurnQuery(
            since=asked.since(request, self._zone),
            until=asked.until(request, self._zone),
            decision=_REFUSED,
            reason=asked.words(request, "reason"),
            text=asked.words(request, "text"),
            offset=asked.number(request, "offset", 0, 0),
            limit=asked.number(request, "limit", 50, 1, asked.MAX_PAGE),
        )

    def _page_of_calls(self, query: CallQuery) -> dict[str, object]:
        found, total = self._records.store.page(query)
        marks = self._records.store.marks_of([row.id for row in found])
        return {
            "calls": [
                rows.call_json(row) | {"marks": rows.marks_json(marks.get(row.id, {}))}
                for row in found
            ],
            "total": total,
            "offset": query.offset,
            "limit": query.limit,
            "wires": self._records.store.wires(),
        }

    def _page_of_refusals(self, query: TurnQuery) -> dict[str, object]:
        return {
            "refusals": [rows.refusal_json(row) for row in self._records.store.turn_page(query)],
            "total": self._records.store.count_turns(query),
            "offset": query.offset,
            "limit": query.limit,
        }

    def _every_call(self, query: CallQuery) -> Iterator[list[object]]:
        for offset in range(0, _MAX_ROWS, asked.MAX_PAGE):
            found = self._records.store.calls(replace(query, offset=offset, limit=asked.MAX_PAGE))
            marks = self._records.store.marks_of([row.id for row in found])
            for row in found:
                yield rows.call_cells(row, marks.get(row.id, {}))
            if len(found) < asked.MAX_PAGE:
                return

    def _every_refusal(self, query: TurnQuery) -> Iterator[list[object]]:
        for offset in range(0, _MAX_ROWS, asked.MAX_PAGE):
            found = self._records.store.turn_page(
                replace(query, offset=offset, limit=asked.MAX_PAGE)
            )
            for row in found:
                shown = rows.refusal_json(row)
                yield [shown[name] for name in rows.REFUSAL_COLUMNS]
            if len(found) < asked.MAX_PAGE:
                return
