"""One decode of a turn, from when it is asked for to the frame that says what was heard."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TypeVar

from pipecat.frames.frames import (
    DataFrame,
    EagerTranscriptionFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
)
from pipecat.transcriptions.language import Language
from pipecat.utils.time import time_now_iso8601

from speech.streaming import joined
from speech.types import Hint, Utterance

TextFrame = TypeVar(
    "TextFrame", EagerTranscriptionFrame, InterimTranscriptionFrame, TranscriptionFrame
)


@dataclass
class InterimsDroppedFrame(DataFrame):
    """Ahead of the text of a turn: ``count`` of its interims were given up for load."""

    count: int = 0


@dataclass(slots=True, eq=False)
class Decode:
    """One decode asked for, of the audio behind the parts ``after`` which it goes on.

    ``final`` once its turn is committed, ``stale`` once outspoken, ``part`` if it is no end,
    ``told`` once it has gone out as the text at a pause.
    ``task`` decodes it as an interim; ``pause`` once that turned out to be the text at a pause.
    """

    audio: bytes
    hint: Hint
    after: tuple[Decode, ...] = ()
    final: bool = False
    stale: bool = False
    part: bool = False
    pause: bool = False
    told: bool = False
    task: asyncio.Task[None] | None = None
    heard: Utterance | None = None

    def whole(self) -> Utterance:
        """What was heard of the turn, once everything in it is decoded."""
        return joined([one.heard for one in (*self.after, self) if one.heard is not None])

    def become_part(self) -> None:
        """The turn goes on behind this: keep the words, not what they were heard from."""
        self.part, self.after = True, ()
        if self.heard is not None:
            self.audio, self.heard = b"", replace(self.heard, audio=None, rate_hz=0)

    def drop(self) -> None:
        """Nobody wants it any more."""
        self.stale = True
        if self.task is not None and self.heard is None:
            self.task.cancel()

    async def tried(self) -> None:
        """Wait until ``task``, if any, is over, one way or the other; it ends with the waiter."""
        if self.task is not None:
            try:
                await asyncio.wait([self.task])
            finally:
                self.task.cancel()


def text_frame(kind: type[TextFrame], heard: Utterance, user_id: str) -> TextFrame:
    """The Pipecat frame of ``kind`` that says ``heard``."""
    try:
        language = Language(heard.language)
    except ValueError:
        language = Language.EN
    return kind(heard.text, user_id, time_now_iso8601(), language, result=heard)
