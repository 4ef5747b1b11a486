"""One call from its first word to its last: the pipeline on a transport, and its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.transports.base_transport import BaseTransport
from pipecat.workers.runner import WorkerRunner

from agent.engines import Engines
from agent.grounded import GroundedAnswer
from agent.playback import Playback
from agent.playing import Marks, Playing
from agent.records import CallRecord
from agent.session import GOODBYE, STILL_THERE, Session
from agent.settings import Settings, TurnSettings, VadSettings
from agent.trace import CallTrace
from agent.turn_taking import TurnTaking
from agent.turns import Action, TurnPolicy
from frontdesk import Spoken
from speech.voice_activity import VoiceActivity


def turn_policy(settings: TurnSettings) -> TurnPolicy:
    """The turn machine's waiting times from the settings."""
    return TurnPolicy(
        settle_ms=settings.settle_ms,
        unsure_ms=settings.unsure_ms,
        dangling_ms=settings.dangling_ms,
        complete_probability=settings.complete_probability,
        prompt_after_ms=settings.prompt_after_s * 1000,
        noise_ms=settings.noise_ms,
        wordless_ms=settings.wordless_s * 1000,
        longest_ms=settings.longest_s * 1000,
    )


def attentive(vad: VADAnalyzer, settings: VadSettings) -> Callable[[bool], None]:
    """Has ``vad`` find speech sooner while the agent speaks, when told that it does.

    From the first audible sample of 109 recorded questions to the VAD's start: with 128 ms of
    speech asked for 196 ms (median; 95 % within 337), with 32 ms 76 and 210. Of 130 noises 12 and
    15 are taken for speech, and what cut the agent by mistake is taken back.
    """

    def attend(agent_speaks: bool) -> None:
        ms = settings.barge_in_ms if agent_speaks else settings.start_ms
        vad.params.start_secs = ms / 1000

    return attend


class Call:
    """One conversation over one transport. Everything it holds goes with it.

    ``marks`` makes the transport's message that comes back once what was sent before it was
    played; give each that comes back to :meth:`marked`.
    """

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        transport: BaseTransport,
        record: CallRecord,
        *,
        rate_hz: int,
        marks: Marks | None = None,
    ) -> None:
        self._settings = settings
        self._record = record
        self._why: str | None = None
        self._cancelled = False
        trace = CallTrace(record)
        session = Session(lambda: engines.index, engines.policy)
        playback, vad = Playback(), engines.vad_analyzer()
        self._answer = GroundedAnswer(
            session,
            trace,
            run=engines.run,
            prepare=engines.prepare_first_phrase,
            words=engines.generator,
            rewriter=engines.rewriter,
            second=engines.second,
            playback=playback,
        )
        self._playing = Playing(playback, trace, marks)
        turns = TurnTaking(
            turn_policy(settings.turns),
            trace,
            engines.turn_model,
            on_silence=self._silence,
            on_no_media=self._no_media,
            media_timeout_s=settings.server.media_timeout_s,
            playback=playback,
            on_agent=attentive(vad, settings.vad),
        )
        self._worker = PipelineWorker(
            Pipeline(
                [
                    transport.input(),
                    VoiceActivity(vad),
                    engines.stt(),
                    turns,
                    self._answer,
                    engines.tts(),
                    self._playing,
                    transport.output(),
                ]
            ),
            params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz),
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        record.event("ready", **engines.versions())

    async def run(self) -> None:
        """Greet, converse, and return when the call is over. The record is closed last."""
        runner = WorkerRunner(handle_sigint=False)
        try:
            self._worker.event_handler("on_pipeline_started")(self._greet)
            await runner.add_workers(self._worker)
            await runner.run()
        finally:
            self._record.close(self._why or "agent hung up")

    async def end(self, why: str) -> bool:
        """End the call now. Only the first reason counts; whether this was the first.

        A goodbye is a reason too: one that nobody can hear any more is not waited for.
        """
        is_first = self._why is None
        self._why = self._why or why
        if not self._cancelled:
            self._cancelled = True
            await self._worker.cancel(reason=why)
        return is_first

    async def marked(self, name: str) -> None:
        """The far end has played, or dropped, what was sent before mark ``name``."""
        await self._playing.marked(name)

    async def _greet(self, *_: Any) -> None:
        await self._answer.say(Spoken(self._settings.voice.greeting))

    async def _silence(self, action: Action) -> None:
        if action is Action.PROMPT:
            await self._answer.say(STILL_THERE)
        else:
            self._why = self._why or "caller silent"
            await self._answer.say(GOODBYE, hang_up=True)

    async def _no_media(self) -> None:
        logger.warning(
            "call {}: no audio for {} s",
            self._record.path.stem,
            self._settings.server.media_timeout_s,
        )
        await self.end("no media")
