"""What is made of noise, and what speech is lost to that: made noises and hard voices.

  python -m bench.noise_gate                 # the half that nothing was chosen on
  python -m bench.noise_gate --half first    # the half that the limits were chosen on
  python -m bench.noise_gate --each 5        # fewer of each kind

Every clip has 0.45 s of faint hiss before it and 0.2 s after it, as a turn has. "Past the VAD" is
what a call would hand to the recogniser at all; the recogniser is given every clip all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pipecat.audio.vad.vad_analyzer import VADState
from tqdm import tqdm

from agent.cli import quiet_logs
from agent.retrieval import index_of, policy_of
from agent.session import Session
from agent.settings import SAMPLE_KB, load_settings
from bench.hard_voices import VOICES, hard
from bench.noises import KINDS, RATE_HZ, noise
from bench.recordings import AUDIO, clips, questions
from bench.results import write_result
from rag.distance import edits
from rag.types import Decision
from rag.vocabulary import vocabulary
from speech.audio import Float32, resample, to_float32, to_int16
from speech.moonshine import Moonshine
from speech.noise import is_speech
from speech.recogniser import SAMPLE_RATE_HZ
from speech.vad import SharedSileroAnalyzer
from telephony.recording import load_audio

SPEAKERS = {
    "first": ("awb", "slt", "joe"),
    "second": ("rms", "kal16", "espeak_us", "gongitsune"),
}
_HEARD_RIGHT = 0.5  # of the words at most wrong
_HISS = 10 ** (-65 / 20)


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip (mono float32, 8 kHz) of ``kind``; ``said`` is '' for noise."""

    kind: str
    audio: Float32
    said: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one clip."""

    clip: Clip
    past_vad: bool
    text: str
    confidence: float
    kept: bool
    answered: bool

    @property
    def right(self) -> bool:
        """Whether at least half of what was said was heard."""
        said, heard = _words(self.clip.said), _words(self.text)
        return bool(said) and edits(said, heard) <= _HEARD_RIGHT * len(said)


def made(half: str, each: int) -> Iterator[Clip]:
    """``each`` noises of every kind and twice as many questions of every hard voice."""
    for kind in KINDS:
        for seed in range(each):
            yield Clip(kind, noise(half, kind, seed))
    rng = np.random.default_rng(list(half.encode()))
    mine = [clip for clip in clips() if clip["voice"] in SPEAKERS[half]]
    for kind in VOICES:
        for at in rng.choice(len(mine), 2 * each, replace=False):
            audio = to_float32(load_audio(AUDIO / mine[at]["file"]))
            yield Clip(kind, hard(kind, audio), questions()[mine[at]["question"]]["text"])


def outcome(clip: Clip, moonshine: Moonshine, session: Session) -> Outcome:
    """What recogniser, gate and answer path make of ``clip``."""
    rng = np.random.default_rng(clip.audio.size)
    before, after = (
        rng.normal(0, _HISS, int(secs * RATE_HZ)).astype(np.float32) for secs in (0.45, 0.2)
    )
    turn = np.concatenate((before, clip.audio, after))
    audio = resample(turn, RATE_HZ, SAMPLE_RATE_HZ)
    heard = moonshine.transcribe(audio)
    answered = bool(heard.text) and (
        session.reply(heard.text).verdict.decision is Decision.ANSWERED
    )
    return Outcome(
        clip,
        asyncio.run(past_vad(turn)),
        heard.text,
        heard.confidence,
        is_speech(audio, heard),
        answered,
    )


async def past_vad(turn: Float32) -> bool:
    """Whether a call's VAD takes anything in ``turn`` (mono float32, 8 kHz) for speech."""
    vad = SharedSileroAnalyzer(sample_rate=RATE_HZ)
    vad.set_sample_rate(RATE_HZ)
    pcm = to_int16(turn)
    for at in range(0, pcm.size - 159, 160):
        if await vad.analyze_audio(pcm[at : at + 160].tobytes()) is VADState.SPEAKING:
            return True
    return False


def figures(found: list[Outcome]) -> dict[str, Any]:
    """Counts by kind, and in all."""
    noises = [one for one in found if not one.clip.said]
    speech = [one for one in found if one.clip.said]
    return {
        "noise": {"all": _noise(noises), **_by_kind(noises, _noise)},
        "speech": {"all": _speech(speech), **_by_kind(speech, _speech)},
        "noise_kept_as": Counter(one.text for one in noises if one.kept).most_common(),
    }


def _by_kind(found: list[Outcome], count: Any) -> dict[str, Any]:
    kinds = dict.fromkeys(one.clip.kind for one in found)
    return {kind: count([one for one in found if one.clip.kind == kind]) for kind in kinds}


def _noise(found: list[Outcome]) -> dict[str, int]:
    reached = [one for one in found if one.past_vad]
    return {
        "n": len(found),
        "with_text": sum(bool(one.text) for one in found),
        "kept": sum(one.kept for one in found),
        "answered_without_gate": sum(one.answered for one in found),
        "answered": sum(one.kept and one.answered for one in found),
        "past_vad": len(reached),
        "past_vad_kept": sum(one.kept for one in reached),
        "past_vad_answered": sum(one.kept and one.answered for one in reached),
    }


def _speech(found: list[Outcome]) -> dict[str, int]:
    return {
        "n": len(found),
        "lost": sum(not one.kept for one in found),
        "heard_right": sum(one.right for one in found),
        "heard_right_lost": sum(one.right and not one.kept for one in found),
        "missed_by_vad": sum(not one.past_vad for one in found),
    }


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "'" else " " for c in text.lower()).split()


def main() -> int:
    """Make, hear, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=tuple(SPEAKERS), default="second")
    parser.add_argument("--each", type=int, default=24, help="noises of a kind")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args()
    quiet_logs()
    settings = load_settings(kb=SAMPLE_KB)
    index = index_of(settings)
    moonshine = Moonshine(vocabulary(index.kb))
    session = Session(lambda: index, policy_of(settings))
    todo = list(made(args.half, args.each))
    found = [outcome(clip, moonshine, session) for clip in tqdm(todo, disable=None)]
    result = {"half": args.half, "each": args.each, **figures(found)}
    if not args.no_save:
        write_result("noise" if args.half == "second" else f"noise-{args.half}", result)
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
