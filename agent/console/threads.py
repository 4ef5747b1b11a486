"""Where the console's slow work is done: off the event loop, and little of it at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = 2


class Threads:
    """Two threads of the console's own, so that no call waits for one that reads records.

    ``heavy`` work (a report over weeks) is done one at a time besides.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="console")
        self._heavy = asyncio.Lock()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``function`` gives."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    async def heavy(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``function`` gives, once no other heavy work is going on."""
        async with self._heavy:
            return await self.run(function, *args, **kwargs)

    def close(self) -> None:
        """Wait for nothing that has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)
