"""One call from its first word to its last: the pipeline on a transport, and its record."""

from __future__ import annotations

from typing import Any

from loguru import logger
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.transports.base_transport import BaseTransport
from pipecat.workers.runner import WorkerRunner

from agent.engines import Engines
from agent.grounded import GroundedAnswer
from agent.records import CallRecord
from agent.session import GOODBYE, STILL_THERE, Session
from agent.settings import Settings, TurnSettings
from agent.trace import CallTrace
from agent.turn_taking import TurnTaking
from agent.turns import Action, TurnPolicy
from frontdesk import Spoken


def turn_policy(settings: TurnSettings) -> TurnPolicy:
    """The turn machine's waiting times from the settings."""
    return TurnPolicy(
        settle_ms=settings.settle_ms,
        unsure_ms=settings.unsure_ms,
        dangling_ms=settings.dangling_ms,
        complete_probability=settings.complete_probability,
        prompt_after_ms=settings.prompt_after_s * 1000,
    )


class Call:
    """One conversation over one transport. Everything it holds goes with it."""

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        transport: BaseTransport,
        record: CallRecord,
        *,
        rate_hz: int,
    ) -> None:
        self._settings = settings
        self._record = record
        self._why: str | None = None
        trace = CallTrace(record)
        session = Session(lambda: engines.index, engines.policy)
        self._answer = GroundedAnswer(
            session,
            trace,
            run=engines.run,
            prepare=engines.prepare_first_phrase,
            words=engines.generator,
            rewriter=engines.rewriter,
        )
        turns = TurnTaking(
            turn_policy(settings.turns),
            trace,
            engines.turn_probability,
            on_silence=self._silence,
            on_no_media=self._no_media,
            media_timeout_s=settings.server.media_timeout_s,
        )
        self._worker = PipelineWorker(
            Pipeline(
                [
                    transport.input(),
                    VADProcessor(vad_analyzer=engines.vad_analyzer()),
                    engines.stt(),
                    turns,
                    self._answer,
                    engines.tts(),
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
        """End the call now. Only the first reason counts; whether this was the first."""
        if self._why is not None:
            return False
        self._why = why
        await self._worker.cancel(reason=why)
        return True

    async def _greet(self, *_: Any) -> None:
        await self._answer.say(Spoken(self._settings.voice.greeting))

    async def _silence(self, action: Action) -> None:
        if action is Action.PROMPT:
            await self._answer.say(STILL_THERE)
        else:
            self._why = "caller silent"
            await self._answer.say(GOODBYE, hang_up=True)

    async def _no_media(self) -> None:
        logger.warning(
            "call {}: no audio for {} s",
            self._record.path.stem,
            self._settings.server.media_timeout_s,
        )
        await self.end("no media")
