"""Answers to what was heard before the turn is over, ready in case the caller has finished.

A guess costs no state: it is decided and its first phrase rendered, on a stable interim
transcript and again at the pause if the words differ, and spoken only if the turn ends with the
same words. If a language model words the answers it is asked at the pause, not before; a guess
that is dropped closes the line to the model's server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from pipecat.processors.frame_processor import FrameProcessor

from agent.answering import Answered
from agent.patience import dangles
from agent.second_opinion import is_unsure
from agent.session import Reply
from rag.rewrite import words as split_words
from speech.types import Utterance

Decide = Callable[[str, tuple[Utterance, ...]], Awaitable[Answered]]

# Fewer words of an unfinished sentence are hardly ever a question.
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Guessed:
    """What the guesses of one turn came to.

    ``made`` were begun, ``dropped`` stopped before they were decided. ``used`` says that the last
    one was the answer; ``same`` that it was, or that the final words led to the same.
    """

    made: int = 0
    dropped: int = 0
    used: bool = False
    same: bool = False

    @property
    def wasted(self) -> int:
        """Guesses that were decided for nothing."""
        return self.made - self.dropped - (1 if self.same else 0)

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return {"made": self.made, "dropped": self.dropped, "same": self.same}


@dataclass(slots=True)
class _Guess:
    """``task`` gives None where the guess failed: Pipecat logs what went wrong."""

    heard: str
    task: asyncio.Task[Answered | None]


class Guesses:
    """The guesses of one call, one at a time; ``tasks`` owns the tasks.

    ``early`` allows them while the caller speaks; ``again_at_pause`` has the same words decided
    once more at the pause, when there is audio that a second recogniser could hear. ``is_current``
    says of a reply whether the documents are still those that it is from.
    """

    def __init__(
        self,
        decide: Decide,
        tasks: FrameProcessor,
        *,
        early: bool,
        again_at_pause: bool = False,
        is_current: Callable[[Reply], bool] = lambda reply: True,
    ) -> None:
        self._decide = decide
        self._tasks = tasks
        self._early, self._again_at_pause = early, again_at_pause
        self._is_current = is_current
        self._last = ""
        self._guess: _Guess | None = None
        self._has_audio = False
        self._counts = Guessed()

    def begin_turn(self) -> None:
        """Count anew."""
        self._counts = Guessed()
        self._last = ""

    async def while_speaking(self, heard: str, result: object) -> None:
        """``heard`` so far, the caller still speaking: a guess where the words stand still."""
        last, self._last = self._last, heard
        stable = _same(heard, last) or (
            isinstance(result, Utterance) and bool(result.stable) and _same(heard, result.stable)
        )
        busy = self._guess is not None and not self._guess.task.done()
        if not self._early or not stable or busy or self._is_guessed(heard):
            return
        if len(split_words(heard)) >= _FEWEST_WORDS and not dangles(heard):
            self._has_audio = False
            await self._begin(heard, ())

    async def at_pause(self, heard: str, result: object) -> None:
        """``heard`` when the caller paused: they may have finished."""
        utterances = (result,) if isinstance(result, Utterance) else ()
        again = bool(utterances) and self._again_at_pause and not self._has_audio
        if not self._is_guessed(heard) or (again and not self._is_sure()):
            self._has_audio = bool(utterances)
            await self._begin(heard, utterances)

    async def final(
        self, heard: str, utterances: tuple[Utterance, ...]
    ) -> tuple[Answered, Guessed]:
        """The reply to ``heard``, guessed or decided now."""
        guess, self._guess = self._guess, None
        counts, self._counts = self._counts, Guessed()
        if guess is None:
            return await self._decide(heard, utterances), counts
        if _same(guess.heard, heard):
            done = await guess.task
            if done is not None and self._is_current(done.reply):
                return _heard_as(heard, done), replace(counts, used=True, same=True)
        before = await self._stop(guess)
        decided = await self._decide(heard, utterances)
        if before is None:
            return decided, replace(counts, dropped=counts.dropped + 1)
        return decided, replace(counts, same=_leads_to(before) == _leads_to(decided))

    async def drop(self) -> None:
        """Stop the guess that is under way."""
        guess, self._guess = self._guess, None
        if guess is not None:
            await self._stop(guess)

    async def _begin(self, heard: str, utterances: tuple[Utterance, ...]) -> None:
        dropped = 0
        if self._guess is not None:
            dropped = int(await self._stop(self._guess) is None)
        task = self._tasks.create_task(self._deciding(heard, utterances))
        self._guess = _Guess(heard, task)
        self._counts = replace(
            self._counts, made=self._counts.made + 1, dropped=self._counts.dropped + dropped
        )

    async def _deciding(self, heard: str, utterances: tuple[Utterance, ...]) -> Answered | None:
        return await self._decide(heard, utterances)

    async def _stop(self, guess: _Guess) -> Answered | None:
        """What was decided; None if it was not yet."""
        if guess.task.done():
            return None if guess.task.cancelled() else guess.task.result()
        await self._tasks.cancel_task(guess.task)
        return None

    def _is_sure(self) -> bool:
        """Whether the guess is decided, and nothing that would be heard again."""
        task = None if self._guess is None else self._guess.task
        if task is None or not task.done() or task.cancelled():
            return False
        done = task.result()
        return done is not None and not is_unsure(done.reply.verdict)

    def _is_guessed(self, heard: str) -> bool:
        return self._guess is not None and _same(self._guess.heard, heard)


def _same(one: str, other: str) -> bool:
    """Whether only case and punctuation differ: nothing is decided by them."""
    return one == other or split_words(one) == split_words(other) != []


def _leads_to(decided: Answered) -> tuple[object, ...]:
    """What a caller could notice of a reply."""
    verdict = decided.reply.verdict
    return verdict.decision, verdict.reason, verdict.citations, decided.reply.say


def _heard_as(heard: str, decided: Answered) -> Answered:
    """The reply to the same words in another spelling, as the reply to ``heard``."""
    query = decided.reply.verdict.query
    if query.raw == heard:
        return decided
    verdict = replace(decided.reply.verdict, query=replace(query, raw=heard))
    return replace(decided, reply=replace(decided.reply, verdict=verdict))
