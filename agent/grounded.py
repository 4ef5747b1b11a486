"""The grounded answer as one Pipecat processor: transcripts in, sentences for a voice out.

It can be dropped into any Pipecat pipeline between a recogniser and a voice. It answers once a
turn, when both the transcript and ``UserStoppedSpeakingFrame`` are there, in whichever order they
come. What was heard before the turn ended is answered at once but not spoken (:mod:`agent.guess`).

What the caller types on a keypad is answered as what is said (:mod:`agent.keypad`). A reply that
is followed by a hand-over to a person is heard to its last word first (:mod:`agent.handing_over`).

A reply that was cut by a turn with nothing to answer in it (“mhm”, a cough) goes on with the
sentence that was cut; of one that was cut by a caller who meant it, the session remembers what
was heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    EndWorkerFrame,
    Frame,
    InputDTMFFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.answering import Answered, Rewrites, Run, Words, answered
from agent.guess import Guessed, Guesses
from agent.handing_over import HandingOver, Way
from agent.handover import in_danger
from agent.keying import Keys
from agent.keypad import Again, Ask, KeyAction, KeyPolicy, Person, Typed
from agent.playback import Playback
from agent.second_opinion import Opinions
from agent.session import Session
from agent.speaking import Cut, Speaking, cut_json, joined
from agent.summary import masked
from agent.trace import CallTrace
from agent.turn_events import record_reply
from agent.turns import REACTION_MS
from frontdesk import Spoken
from rag.parts import OFFER
from speech.hints import HintFrame
from speech.stt import InterimsDroppedFrame
from speech.tts import SlowSpeakFrame
from speech.types import Hint, Utterance

_NEXT = "What can I help you with?"
_CONNECTING = "I'll connect you now."


class GroundedAnswer(FrameProcessor):
    """Speaks what ``session`` decides, in the words of ``words`` if given, and records why.

    ``rewriter``, if given, makes follow-ups stand alone that no rule knows; ``second`` hears again
    what led to an unsure answer. ``playback`` knows what was played; without an
    :class:`agent.playing.Playing` behind the voice it goes by the clock alone. ``way`` is how a
    caller gets to a person, ``keys`` is what the keys of the telephone do.
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
        second: Opinions | None = None,
        playback: Playback | None = None,
        way: Way | None = None,
        keys: KeyPolicy | None = None,
    ) -> None:
        super().__init__()
        self._session = session
        self._trace = trace
        self._run = run
        self._prepare = prepare
        self._words, self._rewriter, self._second = words, rewriter, second
        self._playback = playback or Playback()
        self.handing = HandingOver(way or Way(), session, trace, self, self.say)
        self._keys = Keys(keys or KeyPolicy(), self, trace.now_ms, self._typed)
        self._guesses = Guesses(
            self._decide,
            self,
            early=words is None and rewriter is None,
            again_at_pause=second is not None,
            is_current=session.is_current,
        )
        self._finals: list[TranscriptionFrame] = []
        self._turn_over = False
        self._unanswered = ""
        self._answering: asyncio.Task[None] | None = None
        self._speaking: Speaking | None = None
        self._cut: Cut | None = None
        self._hint = Hint.NONE
        self._hanging_up = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Collect transcripts, answer at the end of the turn, pass everything else on."""
        await super().process_frame(frame, direction)
        match frame:
            case InterimTranscriptionFrame() | EagerTranscriptionFrame() | TranscriptionFrame():
                if not self._hanging_up:
                    await self._heard(frame)
                return
            case InputDTMFFrame():
                await self._pressed(frame.button.value)
            case InterimsDroppedFrame(count=count):
                self._trace.event("interims_dropped", count=count)
            case UserStartedSpeakingFrame():
                self._finals.clear()
                self._turn_over = False
                self._guesses.begin_turn()
            case UserStoppedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM:
                self._turn_over = True
                self._answer_if_complete()
            case InterruptionFrame():
                await self._interrupted()
            case BotStartedSpeakingFrame() | BotStoppedSpeakingFrame():
                self._reply_moved(frame, direction)
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

    async def _heard(
        self, frame: InterimTranscriptionFrame | EagerTranscriptionFrame | TranscriptionFrame
    ) -> None:
        if self.handing.is_dialling and not in_danger(frame.text):
            self._on_hold(frame)
            return
        if isinstance(frame, TranscriptionFrame):
            self._finals.append(frame)
            self._answer_if_complete()
        elif self._cut is None or self._cut.then(frame.text).is_meant:
            heard = joined(self._unanswered, frame.text)
            if isinstance(frame, InterimTranscriptionFrame):
                await self._guesses.while_speaking(heard, frame.result)
            else:
                await self._guesses.at_pause(heard, frame.result)

    def _on_hold(self, frame: Frame) -> None:
        """What is said while it rings is not answered: what it cut goes on."""
        if isinstance(frame, TranscriptionFrame) and self._cut is not None:
            cut, self._cut = self._cut, None
            self._answering = self.create_task(self._resume(cut))

    async def _decide(self, heard: str, utterances: tuple[Utterance, ...]) -> Answered:
        """The reply to ``heard``, its first phrase of audio rendered."""
        decided = await answered(
            self._session,
            heard,
            run=self._run,
            words=self._words,
            rewriter=self._rewriter,
            utterances=utterances,
            second=self._second if utterances else None,
        )
        await self._prepare(decided.reply.say)
        return decided

    def _answer_if_complete(self) -> None:
        if not self._turn_over or not self._finals:
            return
        finals, self._finals = self._finals, []
        self._turn_over = False
        said = joined(*(frame.text for frame in finals))
        # Kept until something is said: who speaks before that has cut the same words.
        cut = self._cut = None if self._cut is None else self._cut.then(said)
        if cut is not None and not cut.is_meant:
            self._answering = self.create_task(self._resume(cut))
            return
        heard = joined(self._unanswered, said)
        if cut is not None and heard != cut.since:  # words that belong to the turn before are meant
            if 0 < cut.ms <= REACTION_MS:
                self._trace.event("taken_back", played_ms=cut.ms)
            cut = self._cut = None
        self._unanswered = heard
        utterances = tuple(f.result for f in finals if isinstance(f.result, Utterance))
        self._answering = self.create_task(self._answer(heard, utterances, cut))

    async def _answer(self, heard: str, utterances: tuple[Utterance, ...], cut: Cut | None) -> None:
        decided, guessed = await self._guesses.final(heard, utterances)
        reply = decided.reply
        self._trace.stage("decided")
        sure = max((one.confidence for one in utterances), default=0.0)
        if cut is not None and cut.is_mistaken(reply, sure):
            self._unanswered = ""
            await self._resume(cut)
            return
        await self._give(heard, decided, guessed)

    async def _give(
        self, heard: str, decided: Answered, guessed: Guessed | None = None, key: str = ""
    ) -> None:
        """Make a reply the one that is given: remembered, recorded, spoken."""
        reply = decided.reply
        self._session.accept(reply)
        self.handing.replied(reply)
        self._cut = None
        if not reply.say:
            self._unanswered = ""  # silence is the reply
        record_reply(self._trace, heard, decided, guessed or Guessed(), key)
        await self._speak(reply.say, reply.hang_up)

    async def _resume(self, cut: Cut) -> None:
        """Go on with the reply that nobody meant to cut."""
        await self._guesses.drop()  # made while the session took the cut for meant
        self._session.resumed()
        self._cut = None
        rest = cut.heard.rest
        self._trace.event("resumed", heard=cut.since, say=rest.text)
        await self._speak(rest, before=cut.heard.whole)

    async def _speak(self, words: Spoken, hang_up: bool = False, before: str = "") -> None:
        if not isinstance(words, Spoken):  # a Draft has a text too, with its citations in it
            raise TypeError(f"only Spoken may be spoken, not {type(words).__name__}")
        if not words or self._hanging_up:
            self._all_said()
            return
        self._speaking, self._cut = Speaking(words, before), None
        self._playback.begin(words)
        await self._expect(Hint.YES_NO if words.text.endswith(OFFER) else Hint.NONE)
        frame = SlowSpeakFrame if words.slow else TTSSpeakFrame
        await self.push_frame(frame(words.text, append_to_context=False))
        if hang_up:
            self._hanging_up = True
            self._trace.event("hang_up")
            await self.push_frame(EndWorkerFrame(reason="goodbye"))

    async def _expect(self, hint: Hint) -> None:
        """Tell the recogniser what was asked for."""
        if hint is not self._hint:
            self._hint = hint
            await self.push_frame(HintFrame(hint), FrameDirection.UPSTREAM)

    def _reply_moved(
        self, frame: BotStartedSpeakingFrame | BotStoppedSpeakingFrame, direction: FrameDirection
    ) -> None:
        if direction is not FrameDirection.UPSTREAM:
            return
        if isinstance(frame, BotStartedSpeakingFrame):
            self._reply_started()
        else:
            self._reply_ended()

    def _reply_started(self) -> None:
        self._trace.stage("audible")
        if self._speaking is not None and self._speaking.heard_since_ms is None:
            self._speaking.heard_since_ms = self._trace.now_ms()
            self._playback.started(self._trace.now_ms())
            self._trace.event("reply_started", stages_ms=self._trace.stages())

    def _reply_ended(self) -> None:
        speaking = self._speaking
        if speaking is not None and speaking.heard_since_ms is not None:  # else it was one before
            self._speaking = None
            self._unanswered = ""
            played = round(self._trace.now_ms() - speaking.heard_since_ms)
            self._playback.ended(self._trace.now_ms())
            self._trace.event("reply_ended", played_ms=played)
            self._all_said()

    def _all_said(self) -> None:
        """Nothing is left to be heard: a hand-over may begin."""
        if self._speaking is None and not self._hanging_up and not self._keys.is_typing:
            self.handing.all_said()

    async def _pressed(self, key: str) -> None:
        """A key stops the agent as a caller who speaks does, unless it means nothing."""
        if self._hanging_up or self.handing.is_dialling:
            return
        if self._is_on_the_way(key):
            return
        self._trace.event("key", key=self._keys.shown(key))
        if self._keys.means(key):
            if self._speaking is not None:
                await self.broadcast_interruption()
            await self._interrupted()
        await self._keys.press(key)

    def _is_on_the_way(self, key: str) -> bool:
        """Whether the caller asks for a person while told that one is coming."""
        telling = self.handing.is_telling and self._speaking is not None
        return telling and self._keys.is_for_a_person(key)

    def _typed(self, action: KeyAction) -> None:
        """What was typed is done, in place of an answer that is still being decided."""
        before, self._unanswered = self._answering, ""
        if before is not None:
            before.cancel()
        self._answering = self.create_task(self._act(action))

    async def _act(self, action: KeyAction) -> None:
        match action:
            case Ask(key, question):
                await self._give(question, await self._decide(question, ()), key=key)
            case Person(key):
                reply = self._session.person()
                await self._give(reply.verdict.query.raw, Answered(reply), key=key)
            case Typed(number):
                self._session.typed(number)
                self._trace.event("typed", number=masked(number))
                await self._say_and(f"Thank you. I have {masked(number)}.")
            case Again() if not self.handing.is_telling:
                await self.say(Spoken("Okay. Please type it again, then press pound."))
            case _ if self._cut is not None:
                await self._resume(self._cut)
            case _:
                await self._say_and("That key does nothing here.")

    async def _say_and(self, words: str) -> None:
        """Say ``words`` and what comes next: a hand-over that was promised, or a question."""
        await self.say(Spoken(f"{words} {_CONNECTING if self.handing.is_telling else _NEXT}"))

    async def _interrupted(self) -> None:
        """The caller speaks: drop the reply. If it was hardly heard, the caller was not done."""
        await self._drop_answer()
        speaking, self._speaking = self._speaking, None
        if speaking is None:
            return
        now = self._trace.now_ms()
        since = speaking.heard_since_ms
        ms = 0 if since is None else round(now - since)
        heard = self._playback.cut(now)
        if speaking.before:
            heard = replace(heard, whole=f"{speaking.before} {heard.whole}".rstrip())
        if ms > REACTION_MS:
            self._unanswered = ""
        if not self._hanging_up:
            self._cut = Cut(speaking.say.text, heard, ms)
            self._session.cut(heard)
        self._trace.event("interrupted", played_ms=ms, say=speaking.say.text, **cut_json(heard))

    async def _drop_answer(self) -> None:
        answering, self._answering = self._answering, None
        if answering is not None and not answering.done():
            await self.cancel_task(answering)

    async def _drop_work(self) -> None:
        await self._keys.drop()
        await self._guesses.drop()
        await self._drop_answer()
        await self.handing.drop()
