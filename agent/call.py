"""One call from its first word to its last: the pipeline on a transport, and its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.workers.runner import WorkerRunner

from agent.callee import Callee
from agent.engines import Engines
from agent.grounded import GroundedAnswer
from agent.handing_over import Way
from agent.handover import Standing
from agent.handover_settings import HandoverSettings
from agent.outgoing import Outgoing
from agent.playback import Playback
from agent.playing import Playing
from agent.recording.of_call import CallRecording
from agent.records import CallRecord
from agent.session import GOODBYE, STILL_THERE, Session
from agent.settings import Settings, TurnSettings, VadSettings
from agent.trace import CallTrace
from agent.turn_taking import TurnTaking
from agent.turns import Action, TurnPolicy
from frontdesk import Spoken
from speech.voice_activity import VoiceActivity
from telephony.wire import Line


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


def standing_of(settings: HandoverSettings, line: Line) -> Standing:
    """What a call on ``line`` can do about a person."""
    hours = settings.opening_hours()
    return Standing(
        settings.rules(),
        can_transfer=bool(line.capabilities.transfer),
        is_open=lambda: hours.is_open(datetime.now(UTC)),
    )


# A provider that takes the caller off our socket closes it before its answer is read.
_TAKEN_AWAY_S = 2.0
# Audio that has left is heard within this, where no mark says so: a provider's buffer and network.
_TAIL_S = 0.4


class Call:
    """One conversation on one line. Everything it holds goes with it.

    It goes on with ``session`` if given. One that is back from a hand-over begins with what its
    problem ``returned`` is worded as, and one that we placed with ``outgoing``, once whoever was
    called has finished.
    ``on_handed_over`` is called when the caller is with a person. Give each mark that comes back
    to :meth:`marked`.
    """

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        line: Line,
        record: CallRecord,
        *,
        session: Session | None = None,
        returned: str = "",
        outgoing: Outgoing | None = None,
        on_handed_over: Callable[[Session], None] = lambda session: None,
    ) -> None:
        self._settings = settings
        self._record = record
        self._why: str | None = None
        self._cancelled = self._on_hold = False
        trace = CallTrace(record)
        standing = standing_of(settings.handover, line)
        self.session = session or Session(lambda: engines.index, engines.policy, standing)
        self._opening = settings.records.announced(Spoken(settings.voice.greeting))
        self._line = line
        if type(line).show is not Line.show:  # most wires have no screen
            record.listener = line.show
        self._handed_over, self._on_handed_over = False, on_handed_over
        playback, vad = Playback(), engines.vad_analyzer()
        self._answer = GroundedAnswer(
            self.session,
            trace,
            run=engines.run,
            prepare=engines.prepare_first_phrase,
            words=engines.generator,
            rewriter=engines.rewriter,
            second=engines.second,
            playback=playback,
            way=Way(
                self._transfer,
                self._with_a_person,
                settings.handover.timeout_s,
                settings.handover.hold_s,
                tail_s=0.0 if line.capabilities.marks else _TAIL_S,
            ),
            keys=settings.keys.policy(),
        )
        self._playing = Playing(playback, trace, line.mark if line.capabilities.marks else None)
        self._turns = TurnTaking(
            turn_policy(settings.turns),
            trace,
            engines.turn_model,
            on_silence=self._silence,
            on_no_media=self._no_media,
            media_timeout_s=settings.server.media_timeout_s,
            playback=playback,
            on_agent=attentive(vad, settings.vad),
        )
        self._recording = CallRecording(settings.records, record, line)
        self._callee = self._callee_of(outgoing, trace, engines)
        self._worker = PipelineWorker(
            Pipeline(
                [
                    line.transport.input(),
                    VoiceActivity(vad),
                    engines.stt(),
                    *([self._callee] if self._callee else []),
                    self._turns,
                    self._answer,
                    engines.tts(),
                    self._playing,
                    line.transport.output(),
                ]
            ),
            params=PipelineParams(
                audio_in_sample_rate=line.rate_hz, audio_out_sample_rate=line.rate_hz
            ),
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        record.event("ready", wire=line.capabilities.name, **engines.versions())
        record.event("desk", can_transfer=standing.can_transfer, is_open=standing.is_open())
        if returned:
            record.event("returned", problem=returned, goes_on=session is not None)
            self._opening = self.session.handover_failed(returned)

    async def run(self) -> None:
        """Greet, converse, hang up, and return when the call is over. The record is closed last."""
        runner = WorkerRunner(handle_sigint=False)
        try:
            self._worker.event_handler("on_pipeline_started")(self._greet)
            await runner.add_workers(self._worker)
            await runner.run()
        finally:
            self._why = self._why or "agent hung up"
            if not self._handed_over:
                await self._line.hang_up()
            self._recording.close()
            self._record.close(self._why)

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

    async def gone(self) -> bool:
        """The far end has closed the line: the caller hung up, or is with a person by now.

        Returns whether this ended the call.
        """
        if await self._answer.handing.happened(_TAKEN_AWAY_S):
            return False
        return await self.end("caller hung up")

    async def say_goodbye(self, words: Spoken, why: str) -> None:
        """Say ``words`` and hang up; ``why`` stands in the record."""
        self._why = self._why or why
        await self._answer.say(words, hang_up=True)

    async def held(self, on: bool) -> None:
        """Whether the far end has put the agent on hold: nobody there is asked to speak up."""
        self._on_hold = on
        self._record.event("held" if on else "resumed_from_hold")
        if not on:
            await self._turns.is_alive()

    async def marked(self, name: str) -> None:
        """The far end has played, or dropped, what was sent before mark ``name``."""
        await self._playing.marked(name)

    def _callee_of(
        self, outgoing: Outgoing | None, trace: CallTrace, engines: Engines
    ) -> Callee | None:
        if outgoing is None:
            return None

        def over(why: str) -> None:
            self._why = self._why or why

        said = self._settings.records.announced
        outgoing = replace(
            outgoing, greeting=said(outgoing.greeting), message=said(outgoing.message)
        )
        prepare = engines.prepare_first_phrase
        return Callee(outgoing, trace, say=self._answer.say, prepare=prepare, on_over=over)

    async def _greet(self, *_: Any) -> None:
        if self._callee is None:  # else it greets whoever it finds
            await self._answer.say(self._opening)

    async def _transfer(self, to: str, summary: str) -> None:
        await self._line.transfer(to, summary=summary)

    async def _with_a_person(self) -> None:
        self._handed_over = True
        self._on_handed_over(self.session)
        await self.end("transferred")

    async def _silence(self, action: Action) -> None:
        if self._on_hold or self._answer.handing.is_dialling:
            await self._turns.is_alive()
            return
        if self._callee and self._callee.holds:
            return
        if action is Action.PROMPT:
            await self._answer.say(STILL_THERE)
        else:
            self._why = self._why or "caller silent"
            await self._answer.say(GOODBYE, hang_up=True)

    async def _no_media(self) -> bool:
        if self._on_hold or self._answer.handing.is_dialling:
            return True  # or on hold while the far end rings
        logger.warning(
            "call {}: no audio for {} s",
            self._record.path.stem,
            self._settings.server.media_timeout_s,
        )
        await self.end("no media")
        return False
