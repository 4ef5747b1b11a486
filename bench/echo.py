"""The speaker's echo in the microphone, with and without :mod:`telephony.echo_canceller`.

``python -m bench.echo`` writes ``bench/results/echo.json``: the callers' word errors without any
echo, and the canceller's work for a second of sound; then, for rooms of 0.2 and 0.4 s, 50 and
200 ms late, 10 and 20 dB down, the words that are heard of the agent alone, the starts that the VAD
sees, and the word errors of callers who speak over the agent: over all of a reply (``over``), or
until it stops after 0.35 s (``cuts``). Synthetic rooms (decaying noise), recorded callers at -26
dBFS, the agent at -20.
"""

from __future__ import annotations

import asyncio
import time

import numpy as np
from pipecat.audio.vad.vad_analyzer import VADParams, VADState

from bench.recordings import AUDIO, clips, questions
from bench.results import write_result
from bench.word_errors import Errors
from frontdesk import Spoken
from speech.audio import Float32, resample, to_float32, to_int16
from speech.moonshine import Moonshine
from speech.phrased import Phrase
from speech.piper import Voice
from speech.reading import read_aloud
from speech.vad import SharedSileroAnalyzer
from telephony.caller import load_audio
from telephony.echo_canceller import EchoCanceller

RATE_HZ = 16000
ROOMS = ((-10, 50, 0.2), (-10, 200, 0.4), (-20, 50, 0.2), (-20, 200, 0.4))
REPLIES = (
    "On Saturday the clinic is open from 9 a.m. to 1 p.m. and we are closed on Sunday.",
    "A prescription refill takes three business days. Please bring your insurance card with you.",
    "Yes, you can park behind the building for free, and there is a ramp at the side entrance.",
    "Blood tests are done on weekday mornings without an appointment, and take about ten minutes.",
)
_CALLERS = ("slt", "rms", "awb")
_STOPS_S = 0.35
_PAUSE = np.zeros(RATE_HZ // 2, np.float32)


def main() -> None:
    """Measure, and write the figures."""
    voice, ears = Voice(RATE_HZ), Moonshine([])
    said = [voice.synthesise(Phrase(read_aloud(Spoken(words)))) for words in REPLIES]
    replies = [to_float32(one) for one in said]
    rows = [row for row in clips() if row["voice"] in _CALLERS and not row.get("noise")]
    rows = [rows[at] for at in np.linspace(0, len(rows) - 1, 48).astype(int)]
    callers = [
        (questions()[row["question"]]["text"], to_float32(_at_rate(row["file"]))) for row in rows
    ]
    figures = {
        "callers": len(callers),
        "no_echo": no_echo(callers, ears),
        "cpu_ms_per_s": work_ms(replies),
        "rooms": [measure(room, replies, callers, ears) for room in ROOMS],
    }
    print(write_result("echo", figures))


def work_ms(replies: list[Float32]) -> float:
    """Milliseconds of processor time for a second of the replies and their echo."""
    played, _ = _two_replies(replies, 0)
    heard = _echo(played, ROOMS[0], 0)
    began_s = time.process_time()
    cancelled(played, heard)
    return round((time.process_time() - began_s) * 1000 * RATE_HZ / played.size, 1)


def no_echo(callers: list[tuple[str, Float32]], ears: Moonshine) -> float:
    """The callers' word errors where the agent is silent."""
    pause = np.zeros(RATE_HZ // 4, np.float32)
    alone = [
        (text, np.concatenate((pause, _at_level(caller, -26), pause))) for text, caller in callers
    ]
    return Errors.of(
        (text, ears.transcribe(wave + _noise(wave.size)).text) for text, wave in alone
    ).percent


def measure(
    room: tuple[int, int, float],
    replies: list[Float32],
    callers: list[tuple[str, Float32]],
    ears: Moonshine,
) -> dict[str, object]:
    """One room's figures."""
    alone: dict[str, dict[str, int]] = {
        name: {"words": 0, "vad_starts": 0} for name in ("without", "with")
    }
    pairs: dict[str, list[tuple[str, str]]] = {
        f"{way}_{name}": [] for way in ("over", "cuts") for name in alone
    }
    for seed in range(len(replies)):
        played, begins = _two_replies(replies, seed)
        heard = _echo(played, room, seed) + _noise(played.size)
        for name, wave in (("without", heard), ("with", cancelled(played, heard))):
            alone[name]["words"] += len(ears.transcribe(wave[begins:]).text.split())
            alone[name]["vad_starts"] += _vad_starts(wave[begins - RATE_HZ :])
    for seed, (text, caller) in enumerate(callers):
        for way in ("over", "cuts"):
            played, begins = _two_replies(replies, seed)
            start = begins + round(0.8 * RATE_HZ)
            played = np.concatenate((played, np.zeros(max(0, start + caller.size), np.float32)))
            if way == "cuts":
                played[start + round(_STOPS_S * RATE_HZ) :] = 0
            heard = _echo(played, room, seed) + _noise(played.size)
            heard[start : start + caller.size] += _at_level(caller, -26)
            until = slice(start - RATE_HZ // 5, start + caller.size + RATE_HZ // 3)
            for name, wave in (("without", heard), ("with", cancelled(played, heard))):
                pairs[f"{way}_{name}"].append((text, ears.transcribe(wave[until]).text))
    gain_db, delay_ms, t60_s = room
    errors = {name: Errors.of(both).percent for name, both in pairs.items()}
    return {"gain_db": gain_db, "delay_ms": delay_ms, "t60_s": t60_s, "alone": alone} | errors


def cancelled(played: Float32, heard: Float32) -> Float32:
    """``heard`` as it comes out of a new canceller."""
    canceller = EchoCanceller(RATE_HZ)
    size = canceller.block
    left = [
        canceller.cancel(played[at : at + size], heard[at : at + size])
        for at in range(0, heard.size // size * size, size)
    ]
    return np.clip(np.concatenate(left), -1, 1)


def _two_replies(replies: list[Float32], seed: int) -> tuple[Float32, int]:
    """A reply, a pause, another; and where the other begins."""
    first, second = (replies[(seed + n) % len(replies)] for n in range(2))
    return np.concatenate((first, _PAUSE, second, _PAUSE)), first.size + _PAUSE.size


def _echo(played: Float32, room: tuple[int, int, float], seed: int) -> Float32:
    gain_db, delay_ms, t60_s = room
    n = int(RATE_HZ * t60_s)
    tail = np.random.default_rng(seed).standard_normal(n) * 10 ** (-3 * np.arange(n) / n) / 4
    tail[0] = 1
    tail *= 10 ** (gain_db / 20) / np.sqrt(np.square(tail).sum())
    path = np.concatenate((np.zeros(delay_ms * RATE_HZ // 1000), tail))
    size = played.size + path.size
    both = np.fft.rfft(played, size) * np.fft.rfft(path, size)
    return np.fft.irfft(both, size)[: played.size].astype(np.float32)


def _noise(size: int) -> Float32:
    return np.random.default_rng(0).standard_normal(size).astype(np.float32) * np.float32(8e-4)


def _at_level(wave: Float32, db: float) -> Float32:
    loud = wave[np.abs(wave) > 0.003]
    return wave * np.float32(10 ** (db / 20) / np.sqrt(np.square(loud).mean()))


def _at_rate(file: str) -> np.ndarray:
    return resample(load_audio(AUDIO / file), 8000, RATE_HZ)


def _vad_starts(wave: Float32) -> int:
    """How often speech begins, with the start asked for while the agent speaks."""
    params = VADParams(confidence=0.5, start_secs=0.032, stop_secs=0.096, min_volume=0.0)
    vad = SharedSileroAnalyzer(sample_rate=RATE_HZ, params=params)
    vad.set_sample_rate(RATE_HZ)

    async def states() -> list[VADState]:
        pieces = range(0, wave.size - 320, 320)
        return [await vad.analyze_audio(to_int16(wave[at : at + 320]).tobytes()) for at in pieces]

    found = asyncio.run(states())
    speaks = [state is VADState.SPEAKING for state in found]
    resumes = [state is VADState.STOPPING for state in found]
    return sum(
        now and not (before or stops)
        for before, stops, now in zip(speaks, resumes, speaks[1:], strict=False)
    )


if __name__ == "__main__":
    main()
