"""Inference on a simulated clock: done on the loop, when a machine at rest would have done it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from speech.scheduling import DROPPED, Priority

SECONDS = {
    Priority.FINAL: 0.08,
    Priority.EAGER: 0.08,
    Priority.ANSWER: 0.03,
    Priority.TURN: 0.06,
    Priority.SECOND: 0.4,
    Priority.INTERIM: 0.12,
    Priority.BACKGROUND: 0,
}
"""How long each kind of work takes: medians of two cores that have one call to serve."""


class _Waiting:
    """Work that is on its way; ``given_up`` once nobody wants it."""

    given_up = False


class InlinePool:
    """Stands where :class:`speech.pool.Pool` does.

    The work itself is done at the end of its time, so that what is given up before costs nothing.
    """

    busy = 0.0
    delay_ms = 0.0
    waiting = 0

    def __init__(self) -> None:
        self._eager: dict[object, set[_Waiting]] = defaultdict(set)

    async def run(
        self, function: Callable[[], Any], priority: Priority, call: object | None = None
    ) -> Any:
        """``function()``, or ``DROPPED`` for an eager text that was given up."""
        waiting = _Waiting()
        mine = self._eager[call] if priority is Priority.EAGER else set()
        mine.add(waiting)
        try:
            await asyncio.sleep(SECONDS[priority])
        finally:
            mine.discard(waiting)
        return DROPPED if waiting.given_up else function()

    def promote(self, call: object, priority: Priority, to: Priority) -> None:
        """What was only provisional is final: nobody may give it up any more. Nothing is faster."""
        if priority is Priority.EAGER:
            self._eager.pop(call, None)

    def give_up(self, call: object) -> None:
        """Nobody wants the eager text of ``call`` any more."""
        for waiting in self._eager[call]:
            waiting.given_up = True
