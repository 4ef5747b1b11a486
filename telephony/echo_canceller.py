"""What the loudspeaker plays, taken out of what the microphone hears.

A partitioned-block adaptive Kalman filter in the frequency domain: G. Enzner and P. Vary,
"Frequency-domain adaptive Kalman filter for acoustic echo control in hands-free telephones",
Signal Processing 86 (2006), doi:10.1016/j.sigpro.2005.09.013; partitioned by F. Kuech, E. Mabande
and G. Enzner, "State-space architecture of the partitioned-block-based acoustic echo controller",
ICASSP 2014. It holds how sure it is of each part of the path, so that it hardly adapts while the
caller speaks too; and once it knows the path it only subtracts, so that the caller's words come
through as they were. Before, for some seconds of the first reply, the echo goes through, and
``speech.echo`` tells it from a caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

BLOCK_MS = 10
REACH_MS = 320
"""From when a sample is played to the last of its echo: the devices' delays and the room."""
# Fitted on the agent's voice through rooms of 0.2 and 0.4 s, 10 and 20 dB down, 50 and 200 ms
# late: the path's gain in a frequency at first, how little it changes from block to block, and how
# smoothly the caller's and the room's own loudness is followed.
_FIRST_GAIN = 0.01
_STAYS = 0.9997
_SMOOTH = 0.8
_REMEMBERS = 0.95
"""Of a block to the next: 0.2 s, so that a caller's voice and an echo are not taken for alike."""
_LEARNS = 100
"""Blocks with an echo in them before a path is given up."""
_KNOWN = 0.03
"""Of what was heard is left, -15 dB: so far an echo goes through whole, since ``speech.echo`` knows
a whole one better than half of one."""
_QUIETEST = 0.0025
"""Of the power of what is left, -26 dB, where all of it may be echo."""
_TINY = 1e-10
_SILENT = 1e-8  # of a block's mean square: -80 dBFS


class EchoCanceller:
    """One microphone and one loudspeaker, at ``rate_hz``; 0.15 ms of work for a block of 10 ms."""

    def __init__(self, rate_hz: int) -> None:
        self.block = rate_hz * BLOCK_MS // 1000
        self._shape = (REACH_MS // BLOCK_MS, self.block + 1)
        self._begin()

    def _begin(self) -> None:
        self._played = np.zeros(2 * self.block, np.float32)
        self._spectra = np.zeros(self._shape, np.complex64)
        self._other = np.zeros(self._shape[1], np.float32)
        self._doubtful = self._loudness = 0.0
        self._gain = 1.0
        self._sums = (0.0, 0.0, 0.0)
        self._blocks = 0
        self._knows = False
        self._forget()

    def cancel(self, played: Float32, heard: Float32) -> Float32:
        """``heard``, one block, without the echo of what was ``played``; both in [-1, 1).

        ``played`` are the blocks that were played since the last call, as far as that is known:
        one as a rule, none or several where devices ask in bursts. What was played is at most
        ``REACH_MS`` older than its echo, and never newer.

        Raises:
            ValueError: either is no whole number of blocks.
        """
        if played.size % self.block or heard.shape != (self.block,):
            raise ValueError(f"blocks of {self.block} are due, not {played.shape}, {heard.shape}")
        blocks = played.reshape(-1, self.block)
        for one in blocks:
            self._remember(one)
        self._move(len(blocks) - 1)
        power = np.square(self._spectra.real) + np.square(self._spectra.imag)
        if float(power[:, 1:].mean()) < _SILENT * self.block:
            self._gain = 1.0
            return heard  # nothing was played lately: nothing to take out, or to learn from
        if float(heard @ heard) < _SILENT * self.block:
            return heard  # a microphone that is muted: to learn from it is to be sure of no echo
        echo = np.fft.irfft((self._path * self._spectra).sum(axis=0))[self.block :].astype(
            np.float32
        )
        left = heard - echo
        if not np.isfinite(left @ left):
            self._begin()  # else it would stay so for good
            return np.nan_to_num(heard)
        doubtful = self._learn(left, power)
        self._watch(heard, echo, left)
        quieter = self._quieten(left, doubtful)
        return quieter if self._knows else heard

    def _watch(self, heard: Float32, echo: Float32, left: Float32) -> None:
        """Note when the path is known, and when what is taken out was never there."""
        now = (float(left @ left), float(heard @ heard), float(echo @ echo))
        self._sums = left_, heard_, echo_ = (
            _REMEMBERS * self._sums[0] + now[0],
            _REMEMBERS * self._sums[1] + now[1],
            _REMEMBERS * self._sums[2] + now[2],
        )
        self._blocks += 1
        self._knows |= left_ < _KNOWN * heard_
        if self._blocks > _LEARNS and left_ - heard_ > 0.5 * echo_:
            self._forget()  # the devices' delay has changed

    def _forget(self) -> None:
        self._path = np.zeros(self._shape, np.complex64)
        self._unsure = np.full(self._shape, _FIRST_GAIN, np.float32)
        self._sums = (0.0, 0.0, 0.0)
        self._blocks = 0
        self._knows = False

    def _remember(self, played: Float32) -> None:
        self._played[: self.block] = self._played[self.block :]
        self._played[self.block :] = played
        self._spectra[1:] = self._spectra[:-1].copy()
        self._spectra[0] = np.fft.rfft(self._played)

    def _move(self, blocks: int) -> None:
        """What is played is known ``blocks`` sooner than before, so its echo comes later."""
        blocks = max(-self._shape[0], min(blocks, self._shape[0]))
        for kept, new in ((self._path, 0.0), (self._unsure, _FIRST_GAIN)):
            if blocks > 0:
                kept[blocks:] = kept[:-blocks].copy()
                kept[:blocks] = new
            elif blocks < 0:
                kept[:blocks] = kept[-blocks:].copy()
                kept[blocks:] = new

    def _learn(self, left: Float32, power: Float32) -> float:
        """Move the path towards one that would have left less, as far as it is unsure.

        Returns the share of ``left`` that is still the echo's, as far as the path is unsure.
        """
        error = np.fft.rfft(np.concatenate((np.zeros(self.block, np.float32), left)))
        loudness = (np.square(error.real) + np.square(error.imag)).astype(np.float32)
        self._other += (1 - _SMOOTH) * (loudness - self._other)
        echo = 0.5 * (self._unsure * power).sum(axis=0)
        step = self._unsure / (echo + self._other + _TINY)
        stays = _STAYS * _STAYS
        gain = np.square(self._path.real) + np.square(self._path.imag)
        self._unsure = stays * (1 - 0.5 * step * power) * self._unsure + (1 - stays) * gain
        change = np.fft.irfft(step * np.conj(self._spectra) * error, axis=1)
        change[:, self.block :] = 0  # of a circular convolution only what is linear
        self._path += np.fft.rfft(change, axis=1).astype(np.complex64)
        self._doubtful += (1 - _SMOOTH) * (float(echo.sum()) - self._doubtful)
        self._loudness += (1 - _SMOOTH) * (float(loudness.sum()) - self._loudness)
        return self._doubtful / (self._loudness + _TINY)

    def _quieten(self, left: Float32, doubtful: float) -> Float32:
        """``left`` without what of it is doubtful, from one block's gain to the next."""
        before, self._gain = self._gain, max(_QUIETEST, 1 - doubtful) ** 0.5
        return left * np.linspace(before, self._gain, self.block, dtype=np.float32)
