"""Made noises and hard voices for measuring what is taken for speech.

Two families of every kind of noise, made by different code: what is fitted on one is reported on
the other. Everything is mono float32 at 8 kHz, the telephone's rate, from a seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bench.recordings import AUDIO, clips
from speech.audio import Float32
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.recording import load_audio

RATE_HZ = 8000
_KEY_LOW, _KEY_HIGH = (697.0, 770.0, 852.0, 941.0), (1209.0, 1336.0, 1477.0)
Wave = npt.NDArray[np.float64]
Maker = Callable[[np.random.Generator, int], Wave]


def noise(family: str, kind: str, seed: int) -> Float32:
    """One noise of ``kind``, 0.6 to 4 s, at -38 to -12 dB of full scale, over a faint hiss."""
    rng = np.random.default_rng([seed, *kind.encode(), *family.encode()])
    size = int(rng.uniform(0.6, 4.0) * RATE_HZ)
    wave = FAMILIES[family][kind](rng, size)[:size]
    wave = wave / (np.sqrt(np.mean(np.square(wave))) + 1e-9) * 10 ** (rng.uniform(-38, -12) / 20)
    wave = np.pad(wave, (0, size - wave.size)) + rng.normal(0, 10 ** (-65 / 20), size)
    return over_telephone(wave)


def over_telephone(wave: Wave | Float32) -> Float32:
    """``wave`` through µ-law."""
    pcm = np.clip(np.rint(np.asarray(wave) * 32768), -32768, 32767).astype(np.int16)
    return ulaw_decode(ulaw_encode(pcm)).astype(np.float32) / np.float32(32768)


def _time(size: int) -> Wave:
    return np.arange(size) / RATE_HZ


def _coloured(rng: np.random.Generator, size: int, slope: float) -> Wave:
    """Noise whose power falls as ``f ** -slope``: 0 white, 1 pink, 2 brown."""
    spectrum = np.fft.rfft(rng.normal(size=size))
    frequency = np.maximum(np.fft.rfftfreq(size, 1 / RATE_HZ), 20)
    return np.fft.irfft(spectrum * frequency ** (-slope / 2), size)


def _band(wave: Wave, low: float, high: float) -> Wave:
    spectrum = np.fft.rfft(wave)
    frequency = np.fft.rfftfreq(wave.size, 1 / RATE_HZ)
    spectrum[(frequency < low) | (frequency > high)] = 0
    return np.fft.irfft(spectrum, wave.size)


def _tones(size: int, hz: tuple[float, ...], on_s: float = 9.0, off_s: float = 0.0) -> Wave:
    t = _time(size)
    wave: Wave = np.sum([np.sin(2 * np.pi * f * t) for f in hz], axis=0)
    return wave * (t % (on_s + off_s) < on_s)


def _events(
    rng: np.random.Generator, size: int, every_s: tuple[float, float], make: Callable[[], Wave]
) -> Wave:
    """``make()`` again and again, ``every_s`` apart, the first one near the start."""
    wave = np.zeros(size)
    at = int(rng.uniform(0.05, 0.3) * RATE_HZ)
    while at < size:
        one = make()[: size - at]
        wave[at : at + one.size] += one
        at += int(rng.uniform(*every_s) * RATE_HZ)
    return wave


def _voices(rng: np.random.Generator, names: tuple[str, ...], size: int, *, back: bool) -> Wave:
    """Two recorded callers at once, backwards if ``back``: the sound of speech, no words."""
    wave = np.zeros(size)
    for _ in range(2):
        mine = [clip for clip in clips() if clip["voice"] == names[rng.integers(len(names))]]
        audio = load_audio(AUDIO / mine[rng.integers(len(mine))]["file"]) / 32768.0
        audio = np.resize(audio[::-1] if back else audio, size)
        wave += audio / (np.sqrt(np.mean(np.square(audio))) + 1e-9)
    return wave


def _key(rng: np.random.Generator, size: int) -> Wave:
    """One telephone key, held for ``size`` samples."""
    return _tones(size, (_KEY_LOW[rng.integers(4)], _KEY_HIGH[rng.integers(3)]))


# --- the first family


def _cough(rng: np.random.Generator) -> Wave:
    size = int(rng.uniform(0.15, 0.35) * RATE_HZ)
    envelope = np.minimum(_time(size) / 0.01, 1) * np.exp(-_time(size) / rng.uniform(0.04, 0.1))
    return _band(rng.normal(size=size), 200, rng.uniform(1500, 3400)) * envelope


def _chords(rng: np.random.Generator, size: int) -> Wave:
    step = int(rng.uniform(0.3, 0.8) * RATE_HZ)
    parts = []
    for _ in range(-(-size // step)):
        root = 220 * 2 ** (rng.integers(0, 12) / 12)
        t = _time(step)
        parts.append(
            np.sum([np.sin(2 * np.pi * root * r * t) for r in (1, 1.26, 1.5, 2)], 0)
            * np.exp(-t / 0.4)
        )
    return np.concatenate(parts)


def _garbled_speech(rng: np.random.Generator, size: int) -> Wave:
    """The µ-law bytes of speech, read as 16-bit samples: half as long, all noise."""
    pcm = _spoken(rng, ("awb", "slt"), 2 * size)
    return np.frombuffer(ulaw_encode(pcm), np.int16) / 32768.0


def _spoken(rng: np.random.Generator, names: tuple[str, ...], size: int) -> npt.NDArray[np.int16]:
    wave = _voices(rng, names, size, back=False)
    return np.rint(wave / np.abs(wave).max() * 12000).astype(np.int16)


def _bark(rng: np.random.Generator) -> Wave:
    size = int(rng.uniform(0.1, 0.25) * RATE_HZ)
    t = _time(size)
    pitch = rng.uniform(350, 700) * (1 - 0.8 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE_HZ
    wave: Wave = np.sum([np.sin(k * phase) / k for k in (1, 2, 3, 4)], 0)
    return wave * np.sin(np.pi * t / t[-1])


_FIRST: dict[str, Maker] = {
    "hiss": lambda rng, n: _coloured(rng, n, 0),
    "hum": lambda rng, n: _tones(n, (50, 150, 250, 350)) + 0.1 * rng.normal(size=n),
    "clicks": lambda rng, n: _events(rng, n, (0.05, 0.6), lambda: rng.normal(size=12)),
    "coughs": lambda rng, n: _events(rng, n, (0.3, 0.9), lambda: _cough(rng)),
    "music": _chords,
    "babble": lambda rng, n: _voices(rng, ("awb", "slt"), n, back=True),
    "dial tone": lambda rng, n: _tones(n, (350, 440)),
    "ringing": lambda rng, n: _tones(n, (440, 480), 1.0, rng.uniform(0.3, 1)),
    "keys": lambda rng, n: _events(
        rng,
        n,
        (0.12, 0.4),
        lambda: _tones(800, (_KEY_LOW[rng.integers(4)], _KEY_HIGH[rng.integers(3)])),
    ),
    "traffic": lambda rng, n: (
        _coloured(rng, n, 2) * (1 + 0.8 * np.sin(2 * np.pi * rng.uniform(0.2, 0.6) * _time(n)))
    ),
    "wrong codec": _garbled_speech,
    "breath": lambda rng, n: (
        _band(rng.normal(size=n), 300, 2500)
        * np.square(np.sin(2 * np.pi * rng.uniform(0.2, 0.5) * _time(n)))
    ),
    "barks": lambda rng, n: _events(rng, n, (0.2, 0.8), lambda: _bark(rng)),
}

# --- the second family


def _hack(rng: np.random.Generator) -> Wave:
    """A cough in two strokes through a throat's resonances, the second one voiced."""
    size = int(rng.uniform(0.3, 0.5) * RATE_HZ)
    t = _time(size)
    stroke = np.exp(-np.square((t - 0.04) / 0.02)) + 0.5 * np.exp(-np.square((t - 0.2) / 0.05))
    source = rng.normal(size=size) + 2 * np.sign(np.sin(2 * np.pi * 130 * t)) * (t > 0.15)
    return _resonate(source * stroke, ((600, 150), (1300, 250), (2500, 400)))


def _resonate(source: Wave, formants: tuple[tuple[float, float], ...]) -> Wave:
    spectrum = np.fft.rfft(source)
    f = np.fft.rfftfreq(source.size, 1 / RATE_HZ)
    gain = np.sum([1 / (1 + np.square((f - at) / width)) for at, width in formants], 0)
    return np.fft.irfft(spectrum * gain, source.size)


def _tune(rng: np.random.Generator, size: int) -> Wave:
    """A saw-tooth tune with a beat."""
    step = int(rng.uniform(0.12, 0.3) * RATE_HZ)
    parts = []
    for beat in range(-(-size // step)):
        t = _time(step)
        hz = 261.6 * 2 ** (rng.choice([0, 2, 4, 5, 7, 9, 11, 12]) / 12)
        note = 2 * (t * hz % 1) - 1 + 0.5 * (2 * (t * hz / 2 % 1) - 1)
        drum = rng.normal(size=step) * np.exp(-t / 0.02) * (beat % 2)
        parts.append(note * np.minimum(1, 20 * (t[-1] - t)) + drum)
    return _band(np.concatenate(parts), 100, 3400)


def _pops(rng: np.random.Generator) -> Wave:
    t = _time(400)
    return np.sin(2 * np.pi * rng.uniform(400, 2500) * t) * np.exp(-t / 0.004)


def _linear_as_ulaw(rng: np.random.Generator, size: int) -> Wave:
    """The bytes of 16-bit speech, read as µ-law: twice as long, all noise."""
    data = _spoken(rng, ("rms", "kal16"), size // 2 + 1).tobytes()
    return ulaw_decode(data) / 32768.0


def _passing(rng: np.random.Generator, size: int) -> Wave:
    t = _time(size)
    cars = [np.exp(-np.square((t - rng.uniform(0, t[-1])) / rng.uniform(0.2, 0.8)))] * 2
    engine = _tones(size, (rng.uniform(60, 110), rng.uniform(120, 200)))
    return (_coloured(rng, size, 1.4) * 20 + engine) * (0.2 + np.sum(cars, 0))


def _howl(rng: np.random.Generator) -> Wave:
    """A dog's or a baby's long cry: a gliding pitch with many harmonics."""
    t = _time(int(rng.uniform(0.3, 0.8) * RATE_HZ))
    pitch = rng.uniform(380, 600) + rng.uniform(-120, 160) * np.sin(np.pi * t / t[-1])
    phase = 2 * np.pi * np.cumsum(pitch) / RATE_HZ
    wave: Wave = np.sum([np.sin(k * phase) / np.sqrt(k) for k in range(1, 7)], 0)
    return wave * np.sqrt(np.abs(np.sin(np.pi * t / t[-1])))


_SECOND: dict[str, Maker] = {
    "hiss": lambda rng, n: _coloured(rng, n, rng.uniform(0.5, 1.2)),
    "hum": lambda rng, n: (
        np.sign(np.sin(2 * np.pi * 60 * _time(n))) + 0.3 * _tones(n, (120, 180, 1020))
    ),
    "clicks": lambda rng, n: _events(rng, n, (0.03, 0.4), lambda: _pops(rng)),
    "coughs": lambda rng, n: _events(rng, n, (0.5, 1.2), lambda: _hack(rng)),
    "music": _tune,
    "babble": lambda rng, n: _voices(rng, ("rms", "kal16", "joe"), n, back=True),
    "dial tone": lambda rng, n: _tones(n, (425,), rng.choice([0.24, 0.5, 9.0]), 0.25),
    "ringing": lambda rng, n: np.concatenate([_tones(2640, (hz,)) for hz in (950, 1400, 1800)] * 6),
    "keys": lambda rng, n: _events(
        rng,
        n,
        (0.25, 0.7),
        lambda: _tones(1600, (_KEY_LOW[rng.integers(4)], _KEY_HIGH[rng.integers(3)])),
    ),
    "traffic": _passing,
    "wrong codec": _linear_as_ulaw,
    "breath": lambda rng, n: _events(
        rng,
        n,
        (0.8, 1.6),
        lambda: _resonate(rng.normal(size=5000) * np.hanning(5000), ((500, 300), (1600, 500))),
    ),
    "barks": lambda rng, n: _events(rng, n, (0.5, 1.3), lambda: _howl(rng)),
}

FAMILIES: dict[str, dict[str, Maker]] = {"first": _FIRST, "second": _SECOND}
KINDS = tuple(_FIRST)
