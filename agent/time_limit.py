"""The longest that a call may last: then the agent says goodbye, then it hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from frontdesk import Spoken

TIME_IS_UP = Spoken(
    "I'm sorry, a call can't last any longer than this. Please call again. Goodbye."
)
_GOODBYE_S = 15.0
"""For the words, on a line that may not play them; then the call is ended without them."""


class Lasting(Protocol):
    """What a call needs so that its time can be limited."""

    async def say_goodbye(self, words: Spoken, why: str) -> None:
        """Say ``words`` and hang up; ``why`` stands in the record."""

    async def end(self, why: str) -> bool:
        """End it at once."""


@asynccontextmanager
async def limited(call: Lasting, minutes: float, *, goodbye_s: float = _GOODBYE_S) -> AsyncIterator:
    """``call`` runs inside, and is brought to its end after ``minutes``."""

    async def watch() -> None:
        await asyncio.sleep(minutes * 60)
        await call.say_goodbye(TIME_IS_UP, "time limit")
        await asyncio.sleep(goodbye_s)
        await call.end("time limit")

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
