"""What a caller's own ear makes of the replies, for an agent whose records are out of reach.

The agent's side of the call is transcribed and the gold facts are looked for in the words. That is
rougher than its record: a fact that our recogniser mishears counts as not said, and a refusal is
known by its wording alone. It judges agents that are not ours, and it checks that what a record
claims was really heard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.simulated.plan import Conversation, Expect, Gold
from rag import numbers
from rag.rewrite import words
from speech.audio import resample, to_float32
from speech.recogniser import SAMPLE_RATE_HZ
from telephony.caller import CallResult

if TYPE_CHECKING:
    from speech.moonshine import Moonshine

_LINE_HZ = 8000
_PIECE_S = 25
"""No more is transcribed at once: the recogniser hears the last 30 s."""
_REFUSING = re.compile(
    r"\b(not sure|don'?t know|do not know|can'?t (?:help|answer|find)|cannot (?:help|answer|find)|"
    r"couldn'?t find|no information|nothing about|not able to|don'?t have (?:that|any)|"
    r"connect you|transfer you)\b"
)
_PERSON = re.compile(r"\b(connect|transfer|person|front desk|put you through|reach)\b")
_GOODBYE = re.compile(r"\b(?:good ?bye|bye|have a (?:nice|good|great))\b")
_DOLLARS = re.compile(r"\$\s?(\d+(?:\.\d+)?)")
_POINTS = str.maketrans("", "", ".:'")

Transcribe = Callable[[NDArray[np.int16]], str]
Heard = Sequence[str | None]


def transcribe(audio: NDArray[np.int16]) -> str:
    """The words of ``audio`` (int16, 8 kHz, one-dimensional); '' for none.

    Raises:
        ModelFileError: if the recogniser's files are missing.
    """
    size = _PIECE_S * _LINE_HZ
    wave = resample(to_float32(audio), _LINE_HZ, SAMPLE_RATE_HZ) if audio.size else None
    if wave is None:
        return ""
    step = size * SAMPLE_RATE_HZ // _LINE_HZ
    pieces = [wave[at : at + step] for at in range(0, wave.size, step)]
    return " ".join(filter(None, (_recogniser().transcribe(piece).text for piece in pieces)))


def replies(call: Conversation, result: CallResult, hear: Transcribe = transcribe) -> Heard:
    """What was heard after each turn, up to the next one; '' for a turn without a reply.

    None where the caller cut it short, by the next turn or the end of the call: what was not
    waited for cannot be held against the agent.
    """
    starts = [turn.start_s for turn in result.turns]
    agent = result.recording[:, 1]
    heard: list[str | None] = []
    for number, (turn, found) in enumerate(zip(call.turns, result.turns, strict=True)):
        begins = found.reply_start_s
        if begins is None:  # perhaps it was spoken over the turn
            begins = found.end_s if turn.cuts_in_ms is not None else found.start_s
        after = next((s for s in starts[number + 1 :] if s is not None), None)
        if begins is None or _is_cut(call, result, number, is_last=after is None):
            heard.append(None)
            continue
        ends = len(agent) / _LINE_HZ if after is None else after
        heard.append(hear(agent[int(begins * _LINE_HZ) : int(ends * _LINE_HZ)]))
    return heard


def _is_cut(call: Conversation, result: CallResult, number: int, *, is_last: bool) -> bool:
    if is_last:
        return call.hangs_up_s is not None and result.error is not None
    return call.turns[number + 1].cuts_in_ms is not None


def outcome_by_ear(gold: Gold, heard: str) -> str:
    """One of :data:`bench.simulated.judging.OUTCOMES`, by what was heard of the reply."""
    text = heard.lower().replace("’", "'")
    if gold.expect is Expect.NOTHING:
        return "wrongly_answered" if text else "right"
    if not text:
        return "unanswered"
    refuses = bool(_REFUSING.search(text))
    match gold.expect:
        case Expect.ANSWER:
            if says(gold, heard):
                return "right"
            return "over_refused" if refuses else "wrong_fact"
        case Expect.ANYTHING:
            return "right" if says(gold, heard) else "wrong_fact"
        case Expect.REFUSE:
            return "right" if refuses else "wrongly_answered"
        case Expect.PERSON:
            return "right" if _PERSON.search(text) else "over_refused"
        case Expect.GOODBYE:
            return "right" if _GOODBYE.search(text) else "over_refused"
    return "over_refused" if refuses else "right"


def says(gold: Gold, heard: str) -> bool:
    """Whether every gold fact is among the words, however they are written.

    "nine a.m." is "9 am", "$30" is "thirty dollars", "555-0142" is "5 5 5, 0 1 4 2".
    """
    text = _run_together(heard)
    return all(
        any(re.search(rf"(?<!\d){re.escape(_run_together(one))}(?!\d)", text) for one in fact)
        for fact in gold.facts
    )


def _run_together(text: str) -> str:
    text = _DOLLARS.sub(r"\1 dollars", text).replace("%", " percent")
    return "".join(numbers.digits([word.translate(_POINTS) for word in words(text)]))


@cache
def _recogniser() -> Moonshine:
    from speech.moonshine import Moonshine

    return Moonshine()
