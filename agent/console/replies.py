"""Replies of the API, and one place where what goes wrong becomes one."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from loguru import logger
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from agent.console.asked import BadRequest
from agent.console.csv_file import csv_lines
from agent.console.guard import said
from agent.console.threads import Threads
from frontdesk import FrontdeskError

Owner = TypeVar("Owner")


class Json(JSONResponse):
    """JSON in ASCII: records may hold half a surrogate pair, which is no UTF-8."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def endpoint(
    method: Callable[[Owner, Request], Awaitable[Response]],
) -> Callable[[Owner, Request], Awaitable[Response]]:
    """Have ``method`` answer bad requests with their reason, and a broken store with 503.

    What broke is logged by its kind alone: its text may hold what a caller said.
    """

    @functools.wraps(method)
    async def answered(self: Owner, request: Request) -> Response:
        try:
            return await method(self, request)
        except BadRequest as bad:
            return said(bad.status, str(bad))
        except FrontdeskError as error:
            logger.warning("console: {}", type(error).__name__)
            return said(503, f"{error}")

    return answered


async def download(
    name: str, names: Sequence[str], rows: Iterable[Sequence[object]], threads: Threads
) -> Response:
    """A CSV file to be kept as ``name``. ``rows`` is read in a thread as it is sent.

    Raises:
        FrontdeskError: the first rows cannot be read.
    """
    pieces = _by_many(csv_lines(names, rows))
    first = await threads.run(next, pieces, b"")
    return StreamingResponse(
        chain([first], pieces),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _by_many(lines: Iterator[str]) -> Iterator[bytes]:
    """Some lines at a time: each piece crosses from a thread."""
    kept: list[str] = []
    for line in lines:
        kept.append(line)
        if len(kept) >= 200:
            yield "".join(kept).encode("utf-8", "backslashreplace")
            kept.clear()
    yield "".join(kept).encode("utf-8", "backslashreplace")
