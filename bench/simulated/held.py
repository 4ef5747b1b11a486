"""Holding the conversations: real-time calls, several at once, and the agent's record of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.records import read_record
from bench.simulated.plan import Conversation
from frontdesk import ConfigError
from telephony.caller import CallerTurn, CallResult, place_call
from telephony.redaction import masked

Events = list[Mapping[str, Any]]
ANSWER_TIMEOUT_S = 10.0
_LINGER_MS = 3000.0
_SPREAD_S = 0.37
_NEAR = timedelta(seconds=5)
"""A record without a number is of the call that was placed so short a time before it."""


@dataclass(frozen=True, eq=False)
class Held:
    """A call that was held. ``events`` are those of its record, None where there is none."""

    call: Conversation
    result: CallResult
    sent: str
    placed_at: datetime
    events: Events | None = None


def number_of(call: Conversation) -> str:
    """The caller's number, of those kept for fiction: no two of 60,000 calls have the same."""
    area = 200 + call.number // 100 % 600
    return f"+1{area}55501{call.number % 100:02d}"


async def hold(
    calls: Sequence[tuple[Conversation, list[CallerTurn], str]],
    url: str,
    *,
    wire: str,
    at_once: int,
    done: Callable[[int], None] = lambda count: None,
) -> list[Held]:
    """Place ``calls`` (each with its audio and that audio's digest), ``at_once`` at a time.

    ``done`` is told how many are over.
    """
    lines = asyncio.Semaphore(at_once)
    over = 0

    async def one(place: int, call: Conversation, turns: list[CallerTurn], sent: str) -> Held:
        nonlocal over
        if place < at_once:
            await asyncio.sleep(place * _SPREAD_S)  # callers do not dial in the same 20 ms
        async with lines:
            placed_at = datetime.now(UTC)
            result = await place_call(
                url,
                turns,
                wire=wire,
                caller=number_of(call),
                answer_timeout_s=ANSWER_TIMEOUT_S,
                linger_ms=_LINGER_MS if call.ends == "goodbye" else 0.0,
                max_s=call.hangs_up_s,
                line=call.line,
            )
        over += 1
        done(over)
        return Held(call, result, sent, placed_at)

    return list(await asyncio.gather(*(one(n, *call) for n, call in enumerate(calls))))


def with_records(held: Sequence[Held], folder: Path) -> list[Held]:
    """The same calls with what the agent recorded of each, found by the caller's number.

    A number is recorded in full or masked, or not at all on a wire that does not carry it; then
    the time tells.
    """
    left = sorted(_records(folder), key=lambda found: found[0])
    found: dict[int, Events] = {}
    for one in sorted(held, key=lambda held: held.placed_at):
        number = number_of(one.call)
        for caller in (number, masked(number), ""):
            index = next((i for i, r in enumerate(left) if _is_of(r, one.placed_at, caller)), None)
            if index is not None:
                found[id(one)] = left.pop(index)[2]
                break
    return [Held(h.call, h.result, h.sent, h.placed_at, found.get(id(h))) for h in held]


def _is_of(record: tuple[datetime, str, Events], placed_at: datetime, caller: str) -> bool:
    at, of, _ = record
    latest = _NEAR * 12 if caller else _NEAR
    is_theirs = caller in of if caller else not of
    return is_theirs and timedelta(seconds=-0.5) <= at - placed_at <= latest


def _records(folder: Path) -> list[tuple[datetime, str, Events]]:
    found = []
    for path in folder.glob("*.jsonl"):
        try:
            events: Events = list(read_record(path))
        except ConfigError:  # of a call that is just beginning
            continue
        first = events[0]
        at = datetime.fromisoformat(str(first.get("at", "1970-01-01T00:00:00+00:00")))
        found.append((at, str(first.get("caller", "")), events))
    return found
