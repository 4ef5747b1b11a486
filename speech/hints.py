"""The frame that tells the recogniser what the agent has just asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pipecat.frames.frames import SystemFrame

from speech.types import Hint


@dataclass
class HintFrame(SystemFrame):
    """To the recogniser, from either side: the next words are likely to answer ``hint``.

    It holds until another comes; ``Hint.NONE`` takes it back.
    """

    hint: Hint = Hint.NONE
