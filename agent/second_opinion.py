"""A slower recogniser, asked where the first one's text leads to an unsure answer.

It hears the same audio, leaning towards the words of the passages that were found with the first
text. Its text is asked in the place of the first where it sounds like it and is answered clearly
better. ``docs/recognition.md`` has what that gains and what it lifts.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from frontdesk import ModelFileError
from rag.distance import edits
from rag.pieces import stopwords
from rag.rewrite import words
from rag.rivals import log_odds
from rag.types import Decision, Reason, Verdict
from speech import sessions
from speech.audio import Float32, resample, to_float32
from speech.scheduling import Priority
from speech.types import Utterance

_log = logging.getLogger(__name__)

BUDGET_MS = 700.0
_RATE_HZ = 16000
_UNSURE = 1.5
"""An answer whose score is less than this above its floor, in log-odds, is unsure."""
_HOPELESS = 3.0
"""A question refused this much below its floor, in log-odds, is about something else."""
_ABOVE_FLOOR = 1.0
"""The second answer's score is at least this above the floor."""
_BETTER = 1.0
"""And above the score of a first question that was refused; of an answered one it is no lower."""
_ALIKE = 0.5
"""Share of the letters of both texts that agree: both heard the same voice. Of what a recogniser
makes of its hotwords instead, less does."""
_BUSY = 0.12
"""Share of its cores that the process uses: above it nobody is heard again. Hearing again takes
half a second of one core, for one turn in three of callers who are hard to understand: with eight
calls on two cores it would hold up more turns than it mends. About five are below."""
_SURE = -0.15
"""What the first recogniser heard at least as surely (mean log probability) was heard right, most
likely. Clinic, six voices: 131 of 422 are asked again, not 193, with 381 right and not 384."""
_PASSAGES = 3
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SHORTEST = 3
_REFUSALS = frozenset({Reason.BELOW_FLOOR, Reason.CHECK_FAILED})


class Outcome(StrEnum):
    """What came of a second opinion. A closed list: records and metrics compare these values."""

    TAKEN = "taken"
    """Its answer is the one given."""
    SAME = "same"
    """It leads to the same answer, or to none."""
    WORSE = "worse"
    """Its answer is another, but not clearly better."""
    UNLIKE = "unlike"
    """It does not sound like what was heard first."""
    SILENT = "silent"
    """It heard nothing."""
    LATE = "late"
    """It was not there in time."""
    BUSY = "busy"
    """It was not asked: the calls of the moment need the machine."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Second:
    """What the second recogniser heard, and what came of it."""

    outcome: Outcome
    text: str = ""
    confidence: float | None = None
    ms: float = 0.0
    detail: str = ""


class Opinions(Protocol):
    """What hears again: :class:`SecondOpinion`, or a record of one."""

    async def hear(self, verdict: Verdict, utterances: tuple[Utterance, ...]) -> Second | None:
        """The text heard again, as yet ``SAME``, or why there is none; never raises.

        None where there is nothing to hear again, or no need.
        """
        ...


class Ears(Protocol):
    """A recogniser that takes hotwords: :class:`speech.whisper.Whisper`."""

    def transcribe(self, audio: Float32, *, hotwords: Iterable[str] | None = None) -> Utterance:
        """What was said in ``audio`` (mono float32, 16 kHz), leaning towards ``hotwords``."""
        ...


class SecondOpinion:
    """One for all calls; ``run`` is :func:`speech.sessions.run`, or works like it.

    How many are heard at a time is for the pool of threads: it gives them no more than what calls
    leave over, and one that does not begin in time is ``LATE``.
    """

    def __init__(
        self,
        ears: Ears,
        *,
        budget_ms: float = BUDGET_MS,
        run: Callable[..., Awaitable[Utterance]] = sessions.run,
        busy: Callable[[], float] = lambda: sessions.pool().busy,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """``ears`` hear again, within ``budget_ms``. ``busy`` is the share of its cores that the
        process uses, ``now`` a clock in seconds.
        """
        self._ears, self._budget_ms, self._run = ears, budget_ms, run
        self._busy, self._now = busy, now

    @classmethod
    def load(cls, model: str = "whisper-tiny-en", **options: Any) -> SecondOpinion:
        """One by Whisper, loaded and warmed; ``options`` as above.

        Raises:
            ModelFileError: if the whisper extra, or a model file, is missing or altered.
        """
        from speech.whisper import Whisper  # an extra

        # Whisper's threads are as nice as the one that starts them: they take what calls leave.
        ears = sessions.background_pool().submit(Whisper, model, threads=1).result()
        ears.warm()
        return cls(ears, **options)

    async def hear(self, verdict: Verdict, utterances: tuple[Utterance, ...]) -> Second | None:
        """See :class:`Opinions`. Cancelling it takes back what has not begun."""
        audible = [one for one in utterances if one.audio is not None]
        if not audible or min(one.confidence for one in audible) >= _SURE:
            return None
        if self._busy() > _BUSY:
            return Second(Outcome.BUSY)
        start = self._now()
        try:
            async with asyncio.timeout(self._budget_ms / 1000):
                heard = await self._run(
                    self._transcribe, utterances, hotwords(verdict), priority=Priority.SECOND
                )
        except TimeoutError:
            return Second(Outcome.LATE, ms=self._since(start))
        except Exception as error:  # noqa: BLE001 (the first text is at hand; reported in the outcome)
            _log.exception("no second opinion")
            detail = f"{type(error).__name__}: {error}"
            return Second(Outcome.FAILED, ms=self._since(start), detail=detail)
        if not heard.text:
            return Second(Outcome.SILENT, ms=self._since(start))
        return Second(Outcome.SAME, heard.text, heard.confidence, self._since(start))

    def _transcribe(self, utterances: tuple[Utterance, ...], words: tuple[str, ...]) -> Utterance:
        return self._ears.transcribe(audio_of(utterances), hotwords=words)

    def _since(self, start: float) -> float:
        return (self._now() - start) * 1000


def opinion_of(*, wanted: bool = True, budget_ms: float = BUDGET_MS) -> SecondOpinion | None:
    """The second opinion of all calls, or None: where it is not ``wanted``, and, with a warning,
    where its extra is not installed.
    """
    if not wanted:
        return None
    try:
        return SecondOpinion.load(budget_ms=budget_ms)
    except ModelFileError as error:
        _log.warning("no second opinion: %s", error)
        return None


@dataclass(frozen=True, slots=True)
class RecordedOpinion:
    """Stands where a ``SecondOpinion`` does, and gives what was once heard."""

    text: str

    async def hear(self, verdict: Verdict, utterances: tuple[Utterance, ...]) -> Second | None:
        """The recorded text; no audio is needed."""
        return Second(Outcome.SAME, self.text, detail="recorded")


def is_unsure(verdict: Verdict) -> bool:
    """Whether a question was answered a little above its floor, or refused a little below it or
    for a check; or is a single word, which has no other words to be heard by.
    """
    if verdict.decision is Decision.CONVERSATION:
        return False
    if len(words(verdict.query.raw)) == 1:
        return True
    if verdict.floor is None:
        return verdict.reason in _REFUSALS
    above = _log_odds(verdict.score) - _log_odds(verdict.floor)
    if verdict.decision is Decision.ANSWERED:
        return above < _UNSURE
    return verdict.reason is Reason.CHECK_FAILED or (
        verdict.reason in _REFUSALS and above > -_HOPELESS
    )


def judged(first: Verdict, second: Verdict, heard: str, text: str) -> Outcome:
    """Whether the reply to ``text``, heard second, takes the place of that to ``heard``.

    An everyday sentence ("I want to talk to a human") does where the first was refused, unless the
    call would end with it.
    """
    is_everyday = second.decision is Decision.CONVERSATION and second.reason is not Reason.GOODBYE
    is_wanted = is_everyday and first.decision is Decision.REFUSED
    if not (is_wanted or second.decision is Decision.ANSWERED) or second.say == first.say:
        return Outcome.SAME
    if likeness(heard, text) < _ALIKE:
        return Outcome.UNLIKE
    if is_everyday:
        return Outcome.TAKEN
    score, before = _log_odds(second.score), _log_odds(first.score)
    least = before + (_BETTER if first.decision is Decision.REFUSED else 0.0)
    floor = -math.inf if second.floor is None else _log_odds(second.floor) + _ABOVE_FLOOR
    return Outcome.TAKEN if score >= max(least, floor) else Outcome.WORSE


def likeness(one: str, other: str) -> float:
    """From 0 to 1, the share of the letters of the longer text that need no change."""
    first, second = "".join(words(one)), "".join(words(other))
    longer = max(len(first), len(second))
    return 1 - edits(first, second) / longer if longer else 1.0


def hotwords(verdict: Verdict) -> tuple[str, ...]:
    """The words of substance of the passages that were found, the best passage's first."""
    found: dict[str, str] = {}
    for hit in verdict.hits[:_PASSAGES]:
        for word in _WORD.findall(hit.passage.text):
            if len(word) >= _SHORTEST and word.lower() not in stopwords():
                found.setdefault(word.lower(), word)
    return tuple(found.values())


def audio_of(utterances: Iterable[Utterance]) -> Float32:
    """All that was said in a turn, in order: mono float32 at 16 kHz."""
    parts = [
        resample(to_float32(one.audio), one.rate_hz, _RATE_HZ)
        for one in utterances
        if one.audio is not None
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def in_place_of(heard: str, utterances: Iterable[Utterance], text: str) -> str:
    """``heard`` with ``text`` for the words of ``utterances``, if they are its end: a turn may
    begin with what was said before them.
    """
    own = " ".join(one.text for one in utterances if one.text)
    before = heard.removesuffix(own) if own else heard
    return f"{before}{text}" if before != heard else text


def second_json(second: Second) -> dict[str, Any]:
    """The ``second_opinion`` event of a call record."""
    shape: dict[str, Any] = {
        "outcome": second.outcome.value,
        "text": second.text or None,
        "confidence": second.confidence,
        "ms": round(second.ms, 1),
    }
    return {**shape, "detail": second.detail} if second.detail else shape


def _log_odds(score: float | None) -> float:
    return log_odds(score or 0.0, surest=0.001)
