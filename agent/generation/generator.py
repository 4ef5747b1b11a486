"""Asks a model to put an answer into words, within a budget; never raises, never speaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx

from agent.generation.chat import Chat, Streamed
from agent.generation.draft_checks import DraftCheck
from agent.generation.fast_path import is_factoid
from agent.generation.judged import Judged, judged
from agent.generation.outcome import WORTH_A_RETRY, Generated, GenerationError, Outcome
from agent.generation.policy import GenerationPolicy
from agent.generation.prompt import messages, reply_form
from agent.generation.shown import Shown, shown_of
from agent.remote import Server
from frontdesk import ConfigError
from rag.types import Decision, Query, Verdict

Run = Callable[..., Awaitable[Any]]
"""Runs a function off the event loop and returns its result."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Tried:
    """What is known of a request for words so far, whatever ends it."""

    start: float
    passages: tuple[Shown, ...] = ()
    tries: int = 0
    reply: Streamed | None = None


class Generator:
    """One for all calls of an event loop.

    ``more_checks`` judge every draft after those of this package and of :mod:`rag.verify`; the
    grounding check is one of them (:func:`agent.generation.draft_checks`).
    ``run`` takes what costs milliseconds off the event loop, ``now`` is a clock in seconds.

    Raises:
        ConfigError: if the address or the model is missing, the key's variable is not set, or
            there is no grounding check.
    """

    def __init__(
        self,
        server: Server,
        policy: GenerationPolicy | None = None,
        *,
        more_checks: tuple[DraftCheck, ...],
        run: Run = asyncio.to_thread,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if not more_checks:
            raise ConfigError(
                "generation needs a grounding check; pass more_checks=draft_checks(index)"
            )
        self._policy = policy or GenerationPolicy()
        self._chat = Chat(server, transport=transport, now=now)
        self._more_checks, self._run = more_checks, run
        self._now, self._sleep = now, sleep

    async def generate(self, extractive: Verdict) -> Generated:
        """A draft in the model's words for what ``extractive`` answers, or why there is none.

        Only an answered verdict is put into words: below the floor nothing is sent to a model.
        Cancelling it (the caller speaks) closes the line to the server.
        """
        tried = _Tried(self._now())
        result = await self._within_budget(extractive, tried)
        if not tried.tries:
            return result
        return replace(
            result,
            tries=tried.tries,
            first_token_ms=tried.reply.first_token_ms if tried.reply else None,
            full_ms=tried.reply.full_ms if tried.reply else None,
            total_ms=(self._now() - tried.start) * 1000,
            left_out=tuple(one.id for one in tried.passages if not one.is_whole),
            reply=tried.reply.text if tried.reply else "",
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    async def _within_budget(self, verdict: Verdict, tried: _Tried) -> Generated:
        try:
            async with asyncio.timeout(self._policy.budget_ms / 1000):
                unasked = await self._run(self._not_asked, verdict, tried)
                if unasked is not None:
                    return unasked
                said = await self._with_retry(verdict.query, tried)
            return Generated(Outcome.ACCEPTED, "", said.draft, said.checks, said.confidence)
        except TimeoutError:
            return Generated(Outcome.BUDGET, f"{self._policy.budget_ms:g} ms are over")
        except GenerationError as error:
            return Generated(error.outcome, error.detail)
        except Exception as error:  # noqa: BLE001 (reported in the outcome)
            _log.exception("the extractive answer stands")
            return Generated(Outcome.FAILED, f"{type(error).__name__}: {error}")

    def _not_asked(self, verdict: Verdict, tried: _Tried) -> Generated | None:
        """Why no model is asked; None, and the passages to show, if one is."""
        if verdict.decision is not Decision.ANSWERED:
            return Generated(Outcome.NOTHING_TO_SAY, verdict.reason.value)
        if is_factoid(verdict, self._policy.fast_score):
            return Generated(Outcome.FAST_PATH, f"score {verdict.score:.3f}")
        tried.passages = shown_of(verdict, self._policy.passages)
        if not tried.passages:
            return Generated(Outcome.NOTHING_TO_SAY, "nothing of the passages can be shown")
        return None

    async def _with_retry(self, query: Query, tried: _Tried) -> Judged:
        try:
            return await self._once(query, tried)
        except GenerationError as error:
            took = self._now() - tried.start
            left = self._policy.budget_ms / 1000 - took
            # A second try takes about as long as the first: one that cannot end is not made.
            if error.outcome not in WORTH_A_RETRY or left < took + error.wait_s:
                raise
            await self._sleep(error.wait_s)
        return await self._once(query, tried)

    async def _once(self, query: Query, tried: _Tried) -> Judged:
        tried.tries += 1
        tried.reply = None
        passages = tried.passages
        body: dict[str, object] = {"messages": messages(query.text, passages)}
        if self._policy.temperature >= 0:
            body["temperature"] = self._policy.temperature
        if self._policy.max_tokens:
            body["max_tokens"] = self._policy.max_tokens
        form = reply_form([passage.id for passage in passages])
        tried.reply = reply = await self._chat.ask(body, form)
        said: Judged = await self._run(judged, reply.text, query, passages, self._more_checks)
        return said
