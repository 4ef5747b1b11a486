"""The grounded answer as one Pipecat processor: transcripts in, sentences for a voice out.

It can be dropped into any Pipecat pipeline between a recogniser and a voice. It answers once a
turn, when both the transcript and ``UserStoppedSpeakingFrame`` are there, in whichever order they
come. A provisional transcript (``EagerTranscriptionFrame``) is answered at once but not spoken:
if the turn ends with the same words, the answer and its first phrase of audio are ready. If a
language model words the answers, it is asked for the provisional one too; a guess that is dropped
closes the line to the model's server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    EndWorkerFrame,
    Frame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.answering import Answered, Rewrites, Run, Words, answered
from agent.generation import generated_json, rewritten_json
from agent.session import Session, verdict_json
from agent.trace import CallTrace
from frontdesk import Spoken

# Speech that goes on this soon after the reply began did not react to it: a person needs longer
# to hear a voice, understand that it is one, and speak, and the VAD needs 0.13 s of that.
_REACTION_MS = 500


@dataclass
class _Speaking:
    """The words on their way to the caller, and since when they are heard."""

    say: Spoken
    heard_since_ms: float | None = None


class GroundedAnswer(FrameProcessor):
    """Speaks what ``session`` decides, in the words of ``words`` if given, and records why.

    ``rewriter``, if given, makes follow-ups stand alone that no rule knows.
    """

    def __init__(
        self,
        session: Session,
        trace: CallTrace,
        *,
        run: Run,
        prepare: Callable[[Spoken], Awaitable[None]],
        words: Words | None = None,
        rewriter: Rewrites | None = None,
    ) -> None:
        super().__init__()
        self._session = session
        self._trace = trace
        self._run = run
        self._prepare = prepare
        self._words, self._rewriter = words, rewriter
        self._texts: list[str] = []
        self._turn_over = False
        self._unanswered = ""
        self._guess: tuple[str, asyncio.Task[Answered]] | None = None
        self._answering: asyncio.Task[None] | None = None
        self._speaking: _Speaking | None = None
        self._hanging_up = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Collect transcripts, answer at the end of the turn, pass everything else on."""
        await super().process_frame(frame, direction)
        match frame:
            case EagerTranscriptionFrame() | TranscriptionFrame() if self._hanging_up:
                return
            case EagerTranscriptionFrame():
                await self._speculate(frame.text)
                return
            case TranscriptionFrame():
                self._texts.append(frame.text)
                self._answer_if_complete()
                return
            case UserStartedSpeakingFrame():
                self._texts.clear()
                self._turn_over = False
            case UserStoppedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM:
                self._turn_over = True
                self._answer_if_complete()
            case InterruptionFrame():
                await self._interrupted()
            case BotStartedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self._reply_started()
            case BotStoppedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self._reply_ended()
            case EndFrame() | CancelFrame():
                await self._drop_work()
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """Leave no task behind."""
        await self._drop_work()
        await super().cleanup()

    async def say(self, words: Spoken, *, hang_up: bool = False) -> None:
        """Speak words that answer no question (a greeting, a prompt)."""
        self._session.said(words)
        self._trace.event("said", say=words.text)
        await self._speak(words, hang_up)

    async def _speculate(self, text: str) -> None:
        heard = self._joined([text])
        if self._guess is not None and self._guess[0] == heard:
            return
        await self._drop_guess()
        self._guess = (heard, self.create_task(self._decide(heard)))

    async def _decide(self, heard: str) -> Answered:
        """The reply to ``heard``, its first phrase of audio rendered."""
        decided = await answered(
            self._session, heard, run=self._run, words=self._words, rewriter=self._rewriter
        )
        await self._prepare(decided.reply.say)
        return decided

    def _answer_if_complete(self) -> None:
        if self._turn_over and self._texts:
            heard = self._joined(self._texts)
            self._texts.clear()
            self._turn_over = False
            self._unanswered = heard
            self._answering = self.create_task(self._answer(heard))

    def _joined(self, texts: list[str]) -> str:
        """What was heard, with the words of a turn that went on before its reply was heard."""
        return " ".join(part for part in (self._unanswered, *texts) if part)

    async def _answer(self, heard: str) -> None:
        guess, self._guess = self._guess, None
        speculated = guess is not None and guess[0] == heard
        if guess is not None and not speculated:
            await self.cancel_task(guess[1])
        decided = await (guess[1] if guess is not None and speculated else self._decide(heard))
        reply = decided.reply
        self._trace.stage("decided")
        self._session.accept(reply)
        if not reply.say:
            self._unanswered = ""  # silence is the reply
        if decided.rewritten is not None:
            self._trace.event("rewriting", **rewritten_json(decided.rewritten))
        if decided.generated is not None:
            self._trace.event("generation", **generated_json(decided.generated))
        self._trace.event(
            "verdict",
            heard=heard,
            speculated=speculated,
            kb=reply.kb,
            **verdict_json(reply.verdict),
        )
        await self._speak(reply.say, reply.hang_up)

    async def _speak(self, words: Spoken, hang_up: bool) -> None:
        if not isinstance(words, Spoken):  # a Draft has a text too, with its citations in it
            raise TypeError(f"only Spoken may be spoken, not {type(words).__name__}")
        if not words or self._hanging_up:
            return
        self._speaking = _Speaking(words)
        await self.push_frame(TTSSpeakFrame(words.text, append_to_context=False))
        if hang_up:
            self._hanging_up = True
            self._trace.event("hang_up")
            await self.push_frame(EndWorkerFrame(reason="goodbye"))

    def _reply_started(self) -> None:
        self._trace.stage("audible")
        if self._speaking is not None and self._speaking.heard_since_ms is None:
            self._speaking.heard_since_ms = self._trace.now_ms()
            self._trace.event("reply_started", stages_ms=self._trace.stages())

    def _reply_ended(self) -> None:
        speaking, self._speaking = self._speaking, None
        if speaking is not None and speaking.heard_since_ms is not None:
            self._unanswered = ""
            played = round(self._trace.now_ms() - speaking.heard_since_ms)
            self._trace.event("reply_ended", played_ms=played)

    async def _interrupted(self) -> None:
        """The caller speaks: drop the reply. If it was hardly heard, the caller was not done."""
        await self._drop_answer()
        speaking, self._speaking = self._speaking, None
        if speaking is None:
            return
        since = speaking.heard_since_ms
        played = 0 if since is None else round(self._trace.now_ms() - since)
        if played > _REACTION_MS:
            self._unanswered = ""
        self._trace.event("interrupted", played_ms=played, say=speaking.say.text)

    async def _drop_guess(self) -> None:
        guess, self._guess = self._guess, None
        if guess is not None and not guess[1].done():
            await self.cancel_task(guess[1])

    async def _drop_answer(self) -> None:
        answering, self._answering = self._answering, None
        if answering is not None and not answering.done():
            await self.cancel_task(answering)

    async def _drop_work(self) -> None:
        await self._drop_guess()
        await self._drop_answer()
