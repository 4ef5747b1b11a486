"""What a replayed call hears, decides and speaks with: as in a live call, but for the voice."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import speech.engines
from agent.answering import Rewrites, Words
from agent.engines import Engines
from agent.replay.inline import SECONDS
from agent.replay.text import unhurried
from agent.replay.voice import StandInVoice
from agent.second_opinion import Opinions, RecordedOpinion, Second
from agent.settings import Settings
from agent.speech_settings import hearing_of
from rag import Index, Policy
from rag.types import Verdict
from rag.vocabulary import vocabulary
from speech.phrased import PhrasedVoice
from speech.scheduling import Priority
from speech.types import Utterance


@dataclass(frozen=True, slots=True)
class _Silent(speech.engines.Speaking):
    """A voice that takes its time and costs none."""

    def voice(self, sample_rate_hz: int = 8000) -> PhrasedVoice:
        return StandInVoice()


@dataclass(frozen=True, slots=True)
class SecondOpinions:
    """What a second recogniser heard, by what the first one did; with ``live`` it is asked."""

    texts: dict[str, str]
    live: Opinions | None = None

    async def hear(self, verdict: Verdict, utterances: tuple[Utterance, ...]) -> Second | None:
        """See :class:`agent.second_opinion.Opinions`."""
        text = self.texts.get(verdict.query.raw)
        if self.live is not None:
            return await self.live.hear(verdict, utterances)
        if not text:
            return None
        await asyncio.sleep(SECONDS[Priority.SECOND])
        own = " ".join(one.text for one in utterances if one.text)
        before = verdict.query.raw.removesuffix(own) if own else ""  # stands in the text already
        return await RecordedOpinion(text.removeprefix(before)).hear(verdict, utterances)


class ReplayEngines(Engines):
    """Models that are loaded once for many replays; what differs from call to call is set by
    :meth:`for_call`.
    """

    def __init__(
        self, settings: Settings, index: Index, policy: Policy, hearing: speech.engines.Engines
    ) -> None:
        self._settings = settings
        self._index = index
        self._speech = hearing
        self.policy = unhurried(policy)
        self.generator: Words | None = None  # type: ignore[assignment]
        self.rewriter: Rewrites | None = None  # type: ignore[assignment]
        self.second: Opinions | None = None  # type: ignore[assignment]

    @classmethod
    def load(cls, settings: Settings, index: Index, policy: Policy) -> ReplayEngines:
        """Blocks for about a second.

        Raises:
            ConfigError: if a recogniser is not known.
            ModelFileError: if a model file is missing or altered.
        """
        records = settings.records.model_copy(update={"recording": "off"})
        settings = settings.model_copy(update={"records": records})
        words = vocabulary(index.kb)
        hearing = speech.engines.Engines.load(hearing_of(settings), _Silent(), words=words)
        return cls(settings, index, policy, hearing)

    def on(self, index: Index, policy: Policy) -> ReplayEngines:
        """The same models on other documents."""
        return ReplayEngines(self._settings, index, policy, self._speech)

    def for_call(
        self, words: Words | None, rewriter: Rewrites | None, second: Opinions | None
    ) -> ReplayEngines:
        """The same for one call, with its language models."""
        engines = self.on(self._index, self.policy)
        engines.generator, engines.rewriter, engines.second = words, rewriter, second
        return engines

    @property
    def index(self) -> Index:
        """The documents of the replay."""
        return self._index

    @property
    def settings(self) -> Settings:
        """The settings that it replays under."""
        return self._settings
