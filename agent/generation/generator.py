"""Asks a model to put an answer into words, within a budget; never raises, never speaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import httpx

from agent.generation.chat import Chat, Streamed
from agent.generation.fast_path import is_factoid
from agent.generation.judged import Judged, judged
from agent.generation.outcome import WORTH_A_RETRY, Generated, GenerationError, Outcome
from agent.generation.policy import GenerationPolicy
from agent.generation.prompt import messages, reply_form
from agent.generation.shown import Shown, shown
from agent.remote import Server
from rag.types import Check, Decision, Draft, Query, Verdict

DraftCheck = Callable[[Query, Draft, tuple[Shown, ...]], tuple[Check, ...]]
"""One more thing that a draft must pass (facts, grounding), on the passages that it cites."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Tried:
    """What is known of a request for words so far, whatever ends it."""

    start: float
    tries: int = 0
    reply: Streamed | None = None


class Generator:
    """One for all calls of an event loop.

    ``more_checks`` judge every draft after those of this package and of :mod:`rag.verify`.
    ``now`` is a clock in seconds.

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """

    def __init__(
        self,
        server: Server,
        policy: GenerationPolicy | None = None,
        *,
        more_checks: tuple[DraftCheck, ...] = (),
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._policy = policy or GenerationPolicy()
        self._chat = Chat(server, transport=transport, now=now)
        self._more_checks, self._now, self._sleep = more_checks, now, sleep

    async def generate(self, extractive: Verdict) -> Generated:
        """A draft in the model's words for what ``extractive`` answers, or why there is none.

        Only an answered verdict is put into words: below the floor nothing is sent to a model.
        Cancelling it (the caller speaks) closes the line to the server.
        """
        if extractive.decision is not Decision.ANSWERED:
            return Generated(Outcome.NOTHING_TO_SAY, extractive.reason.value)
        if is_factoid(extractive, self._policy.fast_score):
            return Generated(Outcome.FAST_PATH, f"score {extractive.score:.3f}")
        passages = shown(extractive.hits, extractive.citations, self._policy.passages)
        if not passages:
            return Generated(Outcome.NOTHING_TO_SAY, "nothing of the passages can be shown")
        return await self._within_budget(extractive, passages)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    async def _within_budget(self, verdict: Verdict, passages: tuple[Shown, ...]) -> Generated:
        tried = _Tried(self._now())
        try:
            async with asyncio.timeout(self._policy.budget_ms / 1000):
                said = await self._with_retry(verdict.query, passages, tried)
            result = Generated(Outcome.ACCEPTED, "", said.draft, said.checks, said.confidence)
        except TimeoutError:
            result = Generated(Outcome.BUDGET, f"{self._policy.budget_ms:g} ms are over")
        except GenerationError as error:
            result = Generated(error.outcome, error.detail)
        except Exception as error:  # noqa: BLE001 (reported in the outcome)
            _log.exception("the extractive answer stands")
            result = Generated(Outcome.FAILED, f"{type(error).__name__}: {error}")
        return replace(
            result,
            tries=tried.tries,
            first_token_ms=tried.reply.first_token_ms if tried.reply else None,
            full_ms=tried.reply.full_ms if tried.reply else None,
            total_ms=(self._now() - tried.start) * 1000,
            left_out=tuple(one.id for one in passages if not one.is_whole),
        )

    async def _with_retry(self, query: Query, passages: tuple[Shown, ...], tried: _Tried) -> Judged:
        try:
            return await self._once(query, passages, tried)
        except GenerationError as error:
            took = self._now() - tried.start
            left = self._policy.budget_ms / 1000 - took
            # A second try takes about as long as the first: one that cannot end is not made.
            if error.outcome not in WORTH_A_RETRY or left < took + error.wait_s:
                raise
            await self._sleep(error.wait_s)
        return await self._once(query, passages, tried)

    async def _once(self, query: Query, passages: tuple[Shown, ...], tried: _Tried) -> Judged:
        tried.tries += 1
        tried.reply = None
        body: dict[str, object] = {"messages": messages(query.text, passages)}
        if self._policy.temperature >= 0:
            body["temperature"] = self._policy.temperature
        form = reply_form([passage.id for passage in passages])
        tried.reply = await self._chat.ask(body, form)
        said = judged(tried.reply.text, query.text, passages)
        return self._checked(query, said, passages)

    def _checked(self, query: Query, said: Judged, passages: tuple[Shown, ...]) -> Judged:
        cited = tuple(one for one in passages if one.id in said.draft.citations)
        checks = said.checks
        for check in self._more_checks:
            checks = (*checks, *check(query, said.draft, cited))
        failed = next((check for check in checks if not check.passed), None)
        if failed:
            raise GenerationError(Outcome.CHECK_FAILED, f"{failed.name}: {failed.detail}")
        return replace(said, checks=checks)
