"""Interims against the clock: recorded callers in real time through VAD and recogniser."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner
from tqdm import tqdm

from agent.cli import quiet_logs
from bench.recordings import AUDIO, clips
from bench.results import percentiles, write_result
from speech import sessions
from speech.audio import Int16
from speech.engines import Engines
from speech.services import InterimsDroppedFrame
from speech.stt import PRE_ROLL_MS
from speech.types import Utterance
from speech.voice_activity import VoiceActivity
from telephony.caller import load_audio

_RATE_HZ = 8000
_FRAME_MS = 20
_FRAME = _RATE_HZ * _FRAME_MS // 1000
_AUDIBLE = 300
_LEAD_MS, _TAIL_MS = 600, 1000


@dataclass
class _Turn:
    """What one clip led to; times in ms of the clip, lead included."""

    onset_ms: float
    first_ms: float | None = None
    speech_began_ms: float | None = None
    ages_ms: list[float] = field(default_factory=list)
    texts: list[Utterance] = field(default_factory=list)
    final: Utterance | None = None
    dropped: int = 0


class _Probe(FrameProcessor):
    """Notes what comes out of the recogniser, by the clock of the turn being fed."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = _Turn(0.0)
        self.began = 0.0
        self.answered = asyncio.Event()

    def now_ms(self) -> float:
        return (asyncio.get_running_loop().time() - self.began) * 1000

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        turn = self.turn
        match frame:
            case VADUserStartedSpeakingFrame() if turn.speech_began_ms is None:
                turn.speech_began_ms = self.now_ms()
            case InterimTranscriptionFrame(result=Utterance() as heard):
                self._interim(heard)
            case InterimsDroppedFrame():
                turn.dropped += frame.count
            case TranscriptionFrame() if not isinstance(frame, EagerTranscriptionFrame):
                turn.final = frame.result
                self.answered.set()
        if not isinstance(frame, InputAudioRawFrame):
            await self.push_frame(frame, direction)

    def _interim(self, heard: Utterance) -> None:
        turn = self.turn
        turn.texts.append(heard)
        if heard.text and turn.first_ms is None:
            turn.first_ms = self.now_ms() - turn.onset_ms
        if turn.speech_began_ms is not None:
            begins = turn.speech_began_ms - PRE_ROLL_MS
            turn.ages_ms.append(self.now_ms() - begins - heard.audio_ms)


async def hear(engines: Engines, audio: Sequence[Int16], bar: tqdm[Any]) -> list[_Turn]:
    """One caller who says ``audio``, piece after piece, in real time."""
    probe = _Probe()
    worker = PipelineWorker(
        Pipeline([VoiceActivity(engines.vad_analyzer()), engines.stt(), probe]),
        params=PipelineParams(audio_in_sample_rate=_RATE_HZ, audio_out_sample_rate=_RATE_HZ),
        enable_rtvi=False,
        cancel_on_idle_timeout=False,
    )
    started = asyncio.Event()

    async def ready(*_: Any) -> None:
        started.set()

    worker.event_handler("on_pipeline_started")(ready)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await started.wait()
    turns = []
    for piece in audio:
        await _say(worker, probe, piece)
        turns.append(probe.turn)
        bar.update()
    await worker.queue_frame(EndFrame())
    await running
    return turns


async def _say(worker: PipelineWorker, probe: _Probe, piece: Int16) -> None:
    loop = asyncio.get_running_loop()
    padded = np.concatenate((_hiss(_LEAD_MS), piece, _hiss(_TAIL_MS)))
    onset = int(np.argmax(np.abs(piece.astype(np.int32)) > _AUDIBLE))
    probe.turn = _Turn(_LEAD_MS + onset * 1000 / _RATE_HZ)
    probe.began = loop.time()
    for count in range(padded.size // _FRAME):
        # A frame is sent when its last sample would have come in.
        await asyncio.sleep(max(0.0, probe.began + (count + 1) * _FRAME_MS / 1000 - loop.time()))
        frame = padded[count * _FRAME : (count + 1) * _FRAME]
        await worker.queue_frame(InputAudioRawFrame(frame.tobytes(), _RATE_HZ, 1))
    probe.answered.clear()
    await probe.push_frame(UserStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
    await asyncio.wait_for(probe.answered.wait(), 30)


def _hiss(ms: int) -> Int16:
    return np.random.default_rng(0).normal(0, 4, _RATE_HZ * ms // 1000).astype(np.int16)


def figures(turns: Sequence[_Turn]) -> dict[str, Any]:
    """Times in ms and shares; see docs/streaming.md."""
    heard = [turn for turn in turns if turn.final is not None and turn.final.text]
    stable = words = wrong = contradicted = 0
    for turn in heard:
        assert turn.final is not None
        said = _words(turn.final.text)
        for text in turn.texts:
            prefix = _words(text.stable)
            agreed = _agreed(prefix, said)
            stable += bool(prefix)
            words += len(prefix)
            wrong += len(prefix) - agreed
            contradicted += agreed < len(prefix)
    gaps = [text for turn in heard for text in turn.texts]
    seconds = sum(turn.final.audio_ms for turn in heard if turn.final is not None) / 1000
    return {
        "turns": len(turns),
        "heard": len(heard),
        "first_interim": percentiles([t.first_ms for t in heard if t.first_ms is not None]),
        "without_interim": sum(turn.first_ms is None for turn in heard),
        "age": percentiles([age for turn in heard for age in turn.ages_ms]),
        "interims_per_s": round(len(gaps) / seconds, 2) if seconds else None,
        "decode": percentiles([text.decode_ms for text in gaps]),
        "dropped": sum(turn.dropped for turn in turns),
        "stable_texts": stable,
        "stable_texts_contradicted": contradicted,
        "stable_words": words,
        "stable_words_contradicted": wrong,
    }


def _words(text: str) -> list[str]:
    bare = ("".join(c for c in word.casefold() if c.isalnum()) for word in text.split())
    return [word for word in bare if word]


def _agreed(prefix: Sequence[str], said: Sequence[str]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(prefix, said, strict=False)) if a != b),
        min(len(prefix), len(said)),
    )


async def measure(engines: Engines, callers: int, count: int) -> dict[str, Any]:
    """Figures of ``callers`` at once, ``count`` clips each."""
    chosen = random.Random(5).sample(clips(), min(callers * count, len(clips())))
    audio = [load_audio(AUDIO / clip["file"]) for clip in chosen]
    with tqdm(total=len(audio), unit="clip", disable=not sys.stderr.isatty()) as bar:
        shares = [audio[n::callers] for n in range(callers)]
        turns = await asyncio.gather(*(hear(engines, share, bar) for share in shares))
    delay = round(sessions.queue_delay_ms(), 1)
    return {"callers": callers, **figures(list(chain(*turns))), "queue_delay_ms": delay}


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m bench.streaming [--callers N ...] [--clips N]``; prints what it writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 8], metavar="N")
    parser.add_argument("--clips", type=int, default=40, metavar="N", help="for each caller")
    parser.add_argument("--dry-run", action="store_true", help="write no result file")
    args = parser.parse_args(argv)
    quiet_logs()
    engines = Engines.load()
    found = [asyncio.run(measure(engines, callers, args.clips)) for callers in args.callers]
    print(json.dumps(found, indent=2))
    if not args.dry_run:
        write_result("streaming", {"measured": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
