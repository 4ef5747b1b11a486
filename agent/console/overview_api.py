"""How the console and its records are, and what agent.insight makes of many calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agent.console import asked
from agent.console.live import Live
from agent.console.replies import Json, download, endpoint
from agent.console.threads import Threads
from agent.insight.demand import Wanted, csv_rows, demand
from agent.insight.embedding import Embedding
from agent.insight.period import Period
from agent.insight.reading import calls_of, turns_of
from agent.insight.report import Report, report
from agent.insight.report_page import page
from agent.records.keeper import Records
from agent.records.store import CallQuery, StoreError
from rag import Index


class OverviewApi:
    """Routes over all calls; dates are of ``zone``."""

    def __init__(
        self,
        records: Records,
        live: Live,
        index: Callable[[], Index],
        threads: Threads,
        zone: tzinfo,
    ) -> None:
        self._records = records
        self._live = live
        self._index = index
        self._embed = Embedding(lambda: index().embedder)
        self._threads = threads
        self._zone = zone

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        return [
            Route("/api/health", self.health),
            Route("/api/report", self.report),
            Route("/api/report.csv", self.report_csv),
            Route("/api/report.html", self.report_html),
            Route("/api/demand", self.demand),
            Route("/api/demand.csv", self.demand_csv),
        ]

    @endpoint
    async def health(self, _: Request) -> Response:
        """Whether calls are recorded, and how many are."""
        trouble = self._records.trouble
        return Json(
            {
                "status": "trouble" if trouble else "ok",
                "trouble": trouble,
                "live": self._live.many,
                "stored": await self._threads.run(self._stored),
                "kb": self._index().kb.sha256[:16],
            }
        )

    @endpoint
    async def report(self, request: Request) -> Response:
        """What came of the calls of some days."""
        period = self._period(request)
        found = await self._threads.heavy(self._reported, period)
        return Json(
            found.as_json()
            | {
                "csv": _link("/api/report.csv", period),
                "html": _link("/api/report.html", period),
            }
        )

    @endpoint
    async def report_csv(self, request: Request) -> Response:
        """The same, a row a day."""
        period = self._period(request)
        found = await self._threads.heavy(self._reported, period)
        return await download(f"{_name('report', period)}.csv", *found.csv_rows(), self._threads)

    @endpoint
    async def report_html(self, request: Request) -> Response:
        """The same as a page to keep; not shown here, where inline styles are not let in."""
        period = self._period(request)
        found = await self._threads.heavy(self._reported, period)
        kept = f'attachment; filename="{_name("report", period)}.html"'
        return Response(page(found), media_type="text/html", headers={"Content-Disposition": kept})

    @endpoint
    async def demand(self, request: Request) -> Response:
        """The answers that callers wanted and did not get."""
        period = self._period(request)
        found = await self._threads.heavy(self._wanted, period)
        return Json(
            {
                "since": str(period.first),
                "until": str(period.last),
                "clusters": [one.as_json() for one in found],
                "csv": _link("/api/demand.csv", period),
            }
        )

    @endpoint
    async def demand_csv(self, request: Request) -> Response:
        """The same, a row an answer."""
        period = self._period(request)
        found = await self._threads.heavy(self._wanted, period)
        return await download(f"{_name('demand', period)}.csv", *csv_rows(found), self._threads)

    def _period(self, request: Request) -> Period:
        first, last = asked.day(request, "since"), asked.day(request, "until")
        try:
            period = Period.of(first, last, self._zone, datetime.now(UTC))
            _ = period.since, period.until  # the last day of all has no moment after it
        except (ValueError, OverflowError):
            raise asked.BadRequest(
                "since and until take days, the earlier first, ten years at most"
            ) from None
        return period

    def _reported(self, period: Period) -> Report:
        store = self._records.store
        return report(period, calls_of(store, period), turns_of(store, period))

    def _wanted(self, period: Period) -> list[Wanted]:
        store = self._records.store
        return demand(calls_of(store, period), turns_of(store, period), self._embed)

    def _stored(self) -> int | None:
        try:
            return self._records.store.count(CallQuery())
        except StoreError:
            return None  # ``trouble`` says why


def _link(path: str, period: Period) -> str:
    return f"{path}?{urlencode({'since': str(period.first), 'until': str(period.last)})}"


def _name(what: str, period: Period) -> str:
    return f"{what}-{period.first}-{period.last}"
