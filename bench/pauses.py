"""Callers who pause before they have finished, made from recordings: 700 ms of line noise inside.

Questions are cut at the start of a word (times by Whisper, moved to the quietest 20 ms nearby), at
a random place that leaves at least two words on each side. Telephone numbers are single digits of
public recordings put together, or said by a voice, with a pause after each group or each digit.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontdesk import Spoken
from frontdesk.models import verified
from speech.audio import resample, to_float32
from speech.piper import Voice
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.recording import load_audio

RATE_HZ = 8000
PAUSE_MS = 700
LEAD_MS, TAIL_MS = 1000, 1800

# The recorded callers' clips begin and end with so much of their line's noise.
_PAD_MS = 100
_NEARBY_MS = 70
_LINE_RMS = 6.0
_GROUPINGS = ((3, 4), (3, 3, 4), (1,) * 7, (3, 2, 2))
_DIGITS = "zero one two three four five six seven eight nine".split()
_ANNOUNCING = ("my number is ", "you can reach me at ", "it's ", "", "the number is ")

Int16 = NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One caller's turn. ``gaps_ms`` are the pauses put inside, (from, to); ``end_ms`` its end.

    ``kind`` is "whole", "paused", "number" or "digits" (a pause after each digit); ``said`` the
    words before the pause, as far as they are known.
    """

    kind: str
    name: str
    kb: str
    voice: str
    audio: Int16
    gaps_ms: tuple[tuple[float, float], ...]
    end_ms: float
    said: str = ""


def questions(kb: str, folder: Path, clips: int, seed: int = 8) -> Iterator[Trial]:
    """``clips`` recorded questions of ``folder``, each as it is and, if long enough, paused."""
    lines = (folder / "index.jsonl").read_text("utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(rows)
    for row in rows[:clips]:
        audio = load_audio(folder / row["file"])
        rng = np.random.default_rng(_number(f"{kb}/{row['file']}"))
        noise = audio[: _samples(_PAD_MS) * 9 // 10]
        names = (row["file"], kb, row["voice"])
        yield _trial("whole", *names, [audio], noise, rng, pad_ms=_PAD_MS)
        words = word_starts(audio)
        if len(words) < 5:
            continue
        place = int(rng.integers(2, len(words) - 1))
        at = _quietest(audio, words[place][1])
        said = " ".join(word for word, _ in words[:place])
        parts = [audio[:at], audio[at:]]
        yield _trial("paused", *names, parts, noise, rng, pad_ms=_PAD_MS, said=said)


def recorded_numbers(data: Path, count: int) -> Iterator[Trial]:
    """Telephone numbers put together from single digits of ``audio.jsonl``, speaker by speaker."""
    digits = _recorded_digits(data)
    rng = random.Random(3)
    for n in range(count):
        speaker = sorted(digits)[n % len(digits)]
        groups = _GROUPINGS[n // len(digits) % len(_GROUPINGS)]
        noise = np.random.default_rng(n)
        parts = []
        for size in groups:
            clips = [
                load_audio(rng.choice(digits[speaker][rng.randrange(10)])) for _ in range(size)
            ]
            parts.append(_run_together([_trimmed(clip) for clip in clips], noise))
        kind = "digits" if len(groups) == 7 else "number"
        line = noise.normal(0, _LINE_RMS, _samples(_PAD_MS)).astype(np.int16)
        yield _trial(kind, f"{speaker} {n}", "", speaker, parts, line, noise)


def said_numbers(count: int) -> Iterator[Trial]:
    """Telephone numbers said by the product's own voice, announced or not."""
    voice, rng = Voice(), random.Random(4)
    for n in range(count):
        groups = _GROUPINGS[(0, 1, 3)[n % 3]]
        noise = np.random.default_rng(100 + n)
        announced = _ANNOUNCING[n % len(_ANNOUNCING)]
        parts = []
        for at, size in enumerate(groups):
            words = " ".join(rng.choice(_DIGITS) for _ in range(size))
            ending = "." if at == len(groups) - 1 else ","
            text = (announced if at == 0 else "") + words + ending
            parts.append(_trimmed(ulaw_decode(ulaw_encode(voice.render(Spoken(text))))))
        line = noise.normal(0, _LINE_RMS, _samples(_PAD_MS)).astype(np.int16)
        yield _trial("number", f"said {n}", "", "joe", parts, line, noise)


def word_starts(audio: Int16) -> list[tuple[str, float]]:
    """The words of ``audio`` (8 kHz) and when each begins, in seconds, as Whisper tells them."""
    heard = resample(to_float32(audio), RATE_HZ, 16000)
    segments, _ = _whisper().transcribe(
        heard, language="en", beam_size=1, word_timestamps=True, temperature=0.0
    )
    return [(word.word.strip(), word.start) for one in segments for word in one.words or ()]


@cache
def _whisper() -> Any:
    from faster_whisper import WhisperModel

    folder = verified("whisper-tiny-en").parent
    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)


def _trial(
    kind: str,
    name: str,
    kb: str,
    voice: str,
    parts: Sequence[Int16],
    line: Int16,
    rng: np.random.Generator,
    *,
    pad_ms: int = 0,
    said: str = "",
) -> Trial:
    """``parts`` with noise like ``line`` before, between and after them."""
    pieces, gaps, at = [_noise(line, LEAD_MS, rng)], [], float(LEAD_MS)
    for number, part in enumerate(parts):
        if number:
            pieces.append(_noise(line, PAUSE_MS, rng))
            gaps.append((at, at + PAUSE_MS))
            at += PAUSE_MS
        pieces.append(_faded(part, number > 0, number < len(parts) - 1))
        at += part.size * 1000 / RATE_HZ
    pieces.append(_noise(line, TAIL_MS, rng))
    audio = np.concatenate(pieces).clip(-32768, 32767).astype(np.int16)
    return Trial(kind, name, kb, voice, audio, tuple(gaps), at - pad_ms, said)


def _noise(line: Int16, length_ms: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise of the level and the spectrum of ``line``."""
    own = line.astype(float) * np.hanning(line.size)
    loud = np.abs(np.fft.rfft(own))
    size = _samples(length_ms)
    spectrum = np.fft.rfft(rng.normal(size=size))
    places = np.linspace(0, 1, spectrum.size)
    shaped = np.fft.irfft(spectrum * np.interp(places, np.linspace(0, 1, loud.size), loud), size)
    rms = np.sqrt(np.mean(np.square(line.astype(float))))
    gain = rms / max(float(np.sqrt(np.mean(np.square(shaped)))), 1e-9)
    return shaped * gain + rng.normal(0, 1.5, size)  # a line is never digital silence


def _faded(part: Int16, start: bool, end: bool) -> NDArray[np.float64]:
    """5 ms of fade where a pause joins, so that the cut does not click."""
    faded, size = part.astype(float), _samples(5)
    if start:
        faded[:size] *= np.linspace(0, 1, size)
    if end:
        faded[-size:] *= np.linspace(1, 0, size)
    return faded


def _quietest(audio: Int16, start_s: float) -> int:
    """The middle of the quietest 20 ms near ``start_s``, in samples."""
    half = _samples(10)
    middle, reach = int(start_s * RATE_HZ), _samples(_NEARBY_MS)
    places = range(max(half, middle - reach), min(audio.size - half, middle + reach), 20)
    return min(
        places,
        key=lambda at: float(np.square(audio[at - half : at + half].astype(float)).sum()),
        default=middle,
    )


def _recorded_digits(data: Path) -> dict[str, dict[int, list[Path]]]:
    """Clips by speaker and digit, of the speakers who said all ten."""
    found: dict[str, dict[int, list[Path]]] = {}
    for line in (data / "audio.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        word = (row["text"] or "").lower().strip(".")
        if word in _DIGITS and row["kind"] in ("isolated digit", "number/time/date word"):
            own = found.setdefault(row["speaker"], {})
            own.setdefault(_DIGITS.index(word), []).append(data / row["path"])
    return {speaker: own for speaker, own in found.items() if len(own) == len(_DIGITS)}


def _run_together(clips: Sequence[Int16], rng: np.random.Generator) -> Int16:
    """Clips with 60 ms between them."""
    between = [rng.normal(0, _LINE_RMS, _samples(60)).astype(np.int16) for _ in clips]
    return np.concatenate([piece for pair in zip(clips, between, strict=True) for piece in pair])[
        : -_samples(60)
    ]


def _trimmed(audio: Int16) -> Int16:
    """``audio`` without the silence around it."""
    frame = _samples(10)
    frames = audio[: audio.size // frame * frame].reshape(-1, frame).astype(float)
    rms = np.sqrt(np.square(frames).mean(axis=1))
    loud = np.flatnonzero(rms > max(rms.max() * 0.02, 40.0))
    return audio[loud[0] * frame : (loud[-1] + 1) * frame]


def _samples(length_ms: float) -> int:
    return int(length_ms * RATE_HZ / 1000)


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
