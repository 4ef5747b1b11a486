"""What the front door remembers of calls between one request and the next."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from frontdesk import ForbiddenError, WireError
from telephony.provider import Incoming
from telephony.start import CallStart

_MAX_KEPT = 10_000
_LEAVING_S = 5.0
_T = TypeVar("_T")


class KnownCalls:
    """The calls of one provider, by their id: at most one at a time for each.

    Whoever saw a webhook can send it again, where nothing in it is good for one time only
    (Twilio's, Telnyx's for five minutes): an id is announced once, and has no other call until a
    transfer brings it back. All of it is bounded; what was not asked for longest goes first.
    ``seen`` were announced before.
    """

    def __init__(self, seen: Iterable[str] = ()) -> None:
        self._live: dict[str, asyncio.Event] = {}
        self._announced: OrderedDict[str, None] = OrderedDict.fromkeys(seen)
        self._returning: OrderedDict[str, str] = OrderedDict()
        self._summaries: OrderedDict[str, str] = OrderedDict()
        self._leaving: OrderedDict[str, Incoming] = OrderedDict()

    def announce(self, call_id: str) -> None:
        """A webhook says that ``call_id`` begins.

        Raises:
            ForbiddenError: one said so before.
        """
        if call_id in self._announced:
            raise ForbiddenError("a second webhook for one call")
        _keep(self._announced, call_id, None)

    def leave(self, start: CallStart, summary: str) -> None:
        """The call is handed to a person; ``summary`` is to be whispered to them."""
        _keep(self._summaries, start.call_id, summary)
        call = Incoming(start.call_id, start.caller, start.called)
        _keep(self._leaving, start.call_id, call)

    def summary(self, call_id: str) -> str:
        """What is to be whispered, once; empty if nothing is."""
        return self._summaries.pop(call_id, "")

    def bring_back(self, call_id: str, problem: str) -> Incoming:
        """The next socket of ``call_id`` goes on with its call, whose transfer failed."""
        _keep(self._returning, call_id, problem)
        return self._leaving.pop(call_id, Incoming(call_id))

    @asynccontextmanager
    async def one(self, call_id: str, returned: str = "") -> AsyncIterator[str]:
        """One call of this id, from its first word to its last; why its transfer failed, if so.

        ``returned`` is what its wire says of that, where no request told us before.

        Raises:
            WireError: it is in progress already.
        """
        problem = self._returning.pop(call_id, "") or returned
        if problem:
            await self._left(call_id)
        if call_id in self._live:
            raise WireError("a second socket for a call in progress")
        over = self._live[call_id] = asyncio.Event()
        try:
            yield problem
        finally:
            del self._live[call_id]
            over.set()

    async def _left(self, call_id: str) -> None:
        """The provider closes the old socket when it dials, and may not have done it quite yet."""
        if call_id in self._live:
            try:
                await asyncio.wait_for(self._live[call_id].wait(), _LEAVING_S)
            except TimeoutError:
                return


def recorded(folder: Path) -> list[str]:
    """The ids of calls whose records are in ``folder``, the oldest first, up to what is kept.

    Of ids of over 48 characters the name of a record has no more.
    """
    names = sorted(path.stem for path in folder.glob("*-*.jsonl"))[-_MAX_KEPT:]
    return [name.partition("-")[2] for name in names]


def _keep(kept: OrderedDict[str, _T], key: str, value: _T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _MAX_KEPT:
        kept.popitem(last=False)
