"""The tone after which a voicemail records: a single pitch, steady, and then nothing.

Pure: samples in, tones out, times by the count of samples. No standard says how such a tone
sounds; makers choose one pitch for 70 ms to 1.5 s
(https://paperzz.com/doc/8728512/tone-detection-specifications-pdf). What else sounds steady on a
telephone has two pitches at once (keys, ringing, busy; ITU-T Q.23, E.180), or several in a row
(special information tones, E.180; music), or comes again and again (ringing and busy of one
pitch): the first two are told apart here, the last by who counts the tones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from speech.audio import Float32, Int16

LOWEST_HZ = 380.0
HIGHEST_HZ = 2100.0
SHORTEST_MS = 120.0
"""Of the steady part: 40 ms less than the tone itself, which the window smears at both ends."""

_WINDOW_MS = 32
_HOP_MS = 10
_LOBE_HZ = 75.0  # half of a Hann window's main lobe, rounded up
_PURITY = 0.6  # of the power in the lobe; the rest is noise
_SECOND = 0.06  # of the peak's power, at any other pitch; a key's two differ by 8 dB at most: 0.16
_QUIETEST_DB = -50.0
_DRIFT_HZ = 10.0
_SWING_DB = 6.0  # a note of music dies away
_QUIETER_DB = 4.0  # is what comes behind a beep; in music the rest goes on
_APART_MS = 90.0
_GAP_MS = 50.0  # a click in the middle
_OTHER_MS = 50.0  # what is shorter is a click or a glide, not a pitch


@dataclass(frozen=True, slots=True)
class Tone:
    """One steady pitch and when it sounded, in ms since the first sample.

    ``alone`` is False where another pitch came right before or right after it: music, a chime,
    the special information tones.
    """

    hz: float
    started_ms: float
    ended_ms: float
    alone: bool = True

    @property
    def ms(self) -> float:
        """How long it sounded."""
        return self.ended_ms - self.started_ms


@dataclass(slots=True)
class _Run:
    """Hops of one pitch so far."""

    hz: float
    started_ms: float
    last_ms: float
    loudest_db: float
    hops: int = 1

    def takes(self, hz: float, db: float) -> bool:
        return abs(hz - self.hz) <= _DRIFT_HZ and self.loudest_db - db <= _SWING_DB

    def add(self, hz: float, db: float, at_ms: float) -> None:
        self.hops += 1
        weight = min(self.hops, 10)
        self.hz += (hz - self.hz) / weight
        self.loudest_db = max(self.loudest_db, db)
        self.last_ms = at_ms

    @property
    def ms(self) -> float:
        return self.last_ms - self.started_ms + _HOP_MS


class BeepDetector:
    """Finds tones in int16 audio of one rate; about 20 µs of work for each 10 ms."""

    def __init__(self, rate_hz: int = 8000) -> None:
        """Listen at ``rate_hz``, 8000 or more."""
        self._rate_hz = rate_hz
        self._size = rate_hz * _WINDOW_MS // 1000
        self._hop = rate_hz * _HOP_MS // 1000
        self._window = np.hanning(self._size).astype(np.float32)
        self._scale = float(2.0 / np.square(self._window).sum() / self._size)
        bin_hz = rate_hz / self._size
        self._bin_hz = bin_hz
        self._lobe = int(np.ceil(_LOBE_HZ / bin_hz))
        self._low = int(LOWEST_HZ / bin_hz)
        self._high = int(HIGHEST_HZ / bin_hz) + 1
        self._kept: Float32 = np.zeros(0, np.float32)
        self._taken = 0
        self._run: _Run | None = None
        self._before: _Run | None = None
        self._due: _Run | None = None

    def feed(self, samples: Int16) -> list[Tone]:
        """Take the next samples; the tones whose end is sure by now, 90 ms after it."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32) / np.float32(32768)))
        found: list[Tone] = []
        while self._kept.size >= self._size:
            at_ms = (self._taken + self._size / 2) * 1000 / self._rate_hz
            found += self._step(at_ms, *self._pitch(self._kept[: self._size]))
            self._kept = self._kept[self._hop :]
            self._taken += self._hop
        return found

    def _pitch(self, samples: Float32) -> tuple[float, float]:
        """Pitch in Hz and level in dB of full scale; 0 Hz where there is no single one."""
        spectrum = np.fft.rfft((samples - samples.mean()) * self._window)
        power = np.square(np.abs(spectrum)) * self._scale
        total = float(power.sum())
        db = 10 * float(np.log10(total + 1e-12))
        if db < _QUIETEST_DB:
            return 0.0, db
        peak = self._low + int(power[self._low : self._high].argmax())
        lobe = slice(max(0, peak - self._lobe), peak + self._lobe + 1)
        here = float(power[peak])
        if float(power[lobe].sum()) < _PURITY * total:
            return 0.0, db
        others = np.concatenate((power[: lobe.start], power[lobe.stop :]))
        if float(others.max()) > _SECOND * here:
            return 0.0, db
        before, here, after = np.sqrt(power[peak - 1 : peak + 2])
        if here < before or here < after:  # the true peak lies outside the band
            return 0.0, db
        # A Hann window's peak between two bins, by the ratio of its neighbours.
        shift = 2 * float(after - before) / float(before + 2 * here + after)
        return (peak + shift) * self._bin_hz, db

    def _step(self, at_ms: float, hz: float, db: float) -> list[Tone]:
        run, found = self._run, []
        if hz and run is not None and run.takes(hz, db):
            run.add(hz, db, at_ms)
        elif hz or (run is not None and at_ms - run.last_ms > _GAP_MS):
            found = self._ended(run)
            self._run = _Run(hz, at_ms, at_ms, db) if hz else None
        due, run = self._due, self._run
        if due is not None and run is not None and run.ms >= _OTHER_MS:
            found.append(self._tone(due, after=run))
        elif due is not None and run is None and at_ms - due.last_ms >= _APART_MS:
            goes_on = db > due.loudest_db - _QUIETER_DB
            found.append(self._tone(due, alone=not goes_on))
        return found

    def _ended(self, run: _Run | None) -> list[Tone]:
        """``run`` is over: due as a tone if it was long enough, gone if it was next to nothing."""
        if run is None or run.ms < _OTHER_MS:
            return []
        found = [] if self._due is None else [self._tone(self._due, after=run)]
        if run.ms >= SHORTEST_MS:
            self._due = run
        else:
            self._before = run
        return found

    def _tone(self, run: _Run, after: _Run | None = None, alone: bool = True) -> Tone:
        """``run`` as a tone, ``after`` the one that begins behind it."""
        before, self._before, self._due = self._before, run, None
        alone = alone and (after is None or not _near(run, after))
        alone = alone and (before is None or not _near(before, run))
        # The window is half full of the tone before it begins, and after it has ended.
        return Tone(run.hz, run.started_ms, run.last_ms + _HOP_MS, alone)


def _near(one: _Run, other: _Run) -> bool:
    return other.started_ms - one.last_ms - _HOP_MS < _APART_MS
