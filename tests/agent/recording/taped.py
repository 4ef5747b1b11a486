"""A recording on a clock that the test moves, and what comes of it."""

import numpy as np

from agent.recording import Recording, read_recording
from telephony.g711 import ulaw_decode, ulaw_encode

RATE = 8000
PACKET = 160


class Taped:
    """A recording at 8 kHz; ``tick`` is how far the clock goes with each packet."""

    def __init__(self, folder, name="call.wav"):
        self.now_ms = 0.0
        self.stopped = []
        self.path = folder / name
        self.recording = Recording(self.path, RATE, lambda: self.now_ms, self.stopped.append)

    def hears(self, samples, *, late_ms=lambda at_ms: 0.0, from_ms=None):
        """``samples`` come in packets of 20 ms, each when it has been spoken or later."""
        began = self.now_ms if from_ms is None else from_ms
        for at in range(0, samples.size, PACKET):
            spoken = began + (at + PACKET) / 8
            self.now_ms = max(self.now_ms, spoken + late_ms(spoken))
            self.recording.heard(samples[at : at + PACKET].tobytes())

    def says(self, samples, piece=320):
        """``samples`` are all sent now, ahead of their time."""
        for at in range(0, samples.size, piece):
            self.recording.played(samples[at : at + piece].tobytes())

    def passes(self, ms):
        """Time passes, and nothing comes."""
        for _ in range(int(ms // 20)):
            self.now_ms += 20
            self.recording.flush()

    def closed(self):
        """The call ends; both sides of it."""
        self.recording.close()
        samples, rate = read_recording(self.path)
        assert rate == RATE
        return samples[:, 0], samples[:, 1]


def noise(seconds, seed=1, level=6000):
    """Speech of nobody: no part of it is like any other, and it is as µ-law has it."""
    wave = np.random.default_rng(seed).normal(0, level, round(seconds * RATE))
    return as_heard(wave.clip(-30000, 30000).astype(np.int16))


def as_heard(samples):
    return ulaw_decode(ulaw_encode(samples))


def place_of(part, whole):
    """At which sample ``part`` lies in ``whole``, and how like it is what lies there (-1 to 1)."""
    part, whole = part.astype(float), whole.astype(float)
    size = 1 << int(np.ceil(np.log2(part.size + whole.size)))
    spectra = np.fft.rfft(whole, size) * np.conj(np.fft.rfft(part, size))
    at = int(np.argmax(np.fft.irfft(spectra, size)[: max(1, whole.size - part.size + 1)]))
    there = whole[at : at + part.size]
    norms = np.linalg.norm(there) * np.linalg.norm(part)
    return at, float(there @ part[: there.size] / norms) if norms else 0.0
