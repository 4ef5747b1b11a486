"""A knowledge base's recorded questions, heard anew: words, what is found, what is answered.

What is found is compared with the same question as it was written. Answers are judged by the floor
in force, as a caller meets it; ``frontdesk eval answers`` judges by floors set without each
question.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from agent.answering import Answered, answered
from agent.second_opinion import Opinions
from agent.session import Session
from bench.results import percentiles
from bench.word_errors import Errors, invented, said
from frontdesk import KnowledgeBaseError
from rag import Index, Policy, questions
from rag.confusion import judge_one
from rag.questions import Question
from rag.types import Verdict
from rag.vocabulary import vocabulary
from speech.audio import resample, to_float32
from speech.recogniser import SAMPLE_RATE_HZ, Recogniser
from speech.types import Utterance

INDEX = "index.jsonl"


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording: the question, whose voice, and the file."""

    question: Question
    voice: str
    path: Path


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a clip: the text, and the verdicts on the question as written, on the text,
    and with the second opinion if there is one.
    """

    clip: Clip
    text: str
    written: Verdict
    first: Verdict
    both: Answered | None = field(default=None)


def clips_of(kb: Path, audio: Path) -> list[Clip]:
    """The recordings that ``audio`` lists, of the questions of ``kb``.

    Raises:
        KnowledgeBaseError: if the questions or the list cannot be read.
    """
    by_id = {row.id: row for row in questions.read(kb / questions.QUESTIONS_FILE)}
    try:
        rows = [json.loads(row) for row in (audio / INDEX).read_text("utf-8").splitlines()]
        return [Clip(by_id[row["question"]], row["voice"], audio / row["file"]) for row in rows]
    except (OSError, ValueError, KeyError) as error:
        raise KnowledgeBaseError(
            f"{audio / INDEX} cannot be read ({error}); record with tools/record_callers.py"
        ) from error


async def hear_all(
    clips: Sequence[Clip],
    index: Index,
    policy: Policy,
    recogniser: Recogniser,
    second: Opinions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Heard]:
    """Hear and ask every clip, after the questions that it follows, in the same voice."""
    by_text = {clip.question.text: clip.question for clip in clips}
    utterances: dict[tuple[str, str], Utterance] = {}
    for done, clip in enumerate(clips, 1):
        utterances[clip.question.id, clip.voice] = _heard(clip.path, recogniser)
        if progress:
            progress(done, len(clips))

    def after(question: Question, voice: str | None, depth: int = 8) -> Session:
        session = Session(index, policy)
        chain: list[str] = []
        before = question.context
        while before and len(chain) < depth:
            asked = by_text.get(before)
            own = utterances.get((asked.id, voice)) if asked and voice else None
            chain.append(own.text if own else before)
            before = asked.context if asked else None
        for text in reversed(chain):
            session.accept(session.reply(text))
        return session

    found = []
    for clip in clips:
        one = utterances[clip.question.id, clip.voice]
        written = after(clip.question, None).reply(clip.question.text).verdict
        session = after(clip.question, clip.voice)
        first = session.reply(one.text).verdict
        both = None
        if second is not None:
            both = await answered(session, one.text, utterances=(one,), second=second)
        found.append(Heard(clip, one.text, written, first, both))
    return found


def figures(heard: Sequence[Heard], index: Index, held_out: str | None) -> dict[str, Any]:
    """Of all voices but the held-out one, of that, and by voice."""
    listed = {word for one in vocabulary(index.kb) for word in said(one)}
    groups = {
        "others": [one for one in heard if one.clip.voice != held_out],
        "held_out_voice": [one for one in heard if one.clip.voice == held_out],
    }
    voices = sorted({one.clip.voice for one in heard})
    return {
        "held_out": held_out,
        **{name: _figures(group, listed) for name, group in groups.items() if group},
        "word_errors_percent": {
            voice: _errors(one for one in heard if one.clip.voice == voice) for voice in voices
        },
    }


def _figures(heard: Sequence[Heard], listed: set[str]) -> dict[str, Any]:
    pairs = [(one.clip.question.text, one.text) for one in heard]
    words = sum(len(said(text)) for text, _ in pairs)
    asked = [one for one in heard if one.clip.question.relevant]
    return {
        "n": len(heard),
        "word_errors_percent": _errors(heard),
        "invented_per_1000": round(1000 * invented(pairs, listed) / max(words, 1), 1),
        "found_first": {
            "n": len(asked),
            "written_percent": _first((one, one.written) for one in asked),
            "heard_percent": _first((one, one.first) for one in asked),
            **_first_with_second(asked),
        },
        "answers": {
            "written": _outcomes((one, one.written) for one in heard),
            "heard": _outcomes((one, one.first) for one in heard),
            **_second(heard),
        },
    }


def _second(heard: Sequence[Heard]) -> dict[str, Any]:
    both = [(one, one.both) for one in heard if one.both is not None]
    if not both:
        return {}
    asked = [done.second for _, done in both if done.second is not None]
    return {
        "with_second_opinion": _outcomes((one, done.reply.verdict) for one, done in both),
        "second_opinions": dict(Counter(one.outcome.value for one in asked)),
        "second_ms": percentiles([one.ms for one in asked]),
    }


def _first_with_second(asked: Sequence[Heard]) -> dict[str, float]:
    both = [(one, one.both.reply.verdict) for one in asked if one.both is not None]
    return {"second_percent": _first(both)} if both else {}


def _errors(heard: Iterable[Heard]) -> float:
    return Errors.of((one.clip.question.text, one.text) for one in heard).percent


def _first(found: Iterable[tuple[Heard, Verdict]]) -> float:
    """How often a passage that answers the question was cited, or else found, first."""
    firsts = [
        next(iter(verdict.citations), verdict.hits[0].passage.id if verdict.hits else "")
        in one.clip.question.relevant
        for one, verdict in found
    ]
    return round(100 * sum(firsts) / max(len(firsts), 1), 1)


def _outcomes(found: Iterable[tuple[Heard, Verdict]]) -> dict[str, int]:
    tally = Counter(judge_one(one.clip.question, verdict) for one, verdict in found)
    names = ("right", "wrong_fact", "over_refused", "wrongly_answered")
    return {name: tally[name] for name in names}


def _heard(path: Path, recogniser: Recogniser) -> Utterance:
    samples, rate_hz = soundfile.read(path, dtype="int16")
    audio = resample(to_float32(np.asarray(samples, np.int16)), rate_hz, SAMPLE_RATE_HZ)
    one = recogniser.transcribe(audio)
    return Utterance(
        one.text, one.audio_ms, one.decode_ms, one.confidence, one.language, samples, rate_hz
    )
