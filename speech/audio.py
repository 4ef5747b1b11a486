"""Sample conversion (rates, int16 against float32), of whole signals and of streams, and level.

Mono throughout.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
import numpy.typing as npt
import soxr

Float32 = npt.NDArray[np.float32]
Int16 = npt.NDArray[np.int16]


def to_float32(samples: Float32 | Int16) -> Float32:
    """``int16`` samples as ``float32`` in [-1, 1); ``float32`` comes back unchanged.

    Raises:
        TypeError: for any other sample type.
    """
    if samples.dtype == np.float32:
        return samples.view()  # type: ignore[return-value]
    if samples.dtype != np.int16:
        raise TypeError(f"audio must be int16 or float32, not {samples.dtype}")
    return samples.astype(np.float32) / np.float32(32768)


def to_int16(samples: Float32 | Int16) -> Int16:
    """``float32`` samples in [-1, 1] as ``int16``, clipped; ``int16`` comes back unchanged.

    Raises:
        TypeError: for any other sample type.
    """
    if samples.dtype == np.int16:
        return samples.view()  # type: ignore[return-value]
    if samples.dtype != np.float32:
        raise TypeError(f"audio must be int16 or float32, not {samples.dtype}")
    scaled: Float32 = np.rint(samples * np.float32(32768))
    return scaled.clip(-32768, 32767).astype(np.int16)


@overload
def resample(samples: Float32, from_hz: int, to_hz: int) -> Float32: ...
@overload
def resample(samples: Int16, from_hz: int, to_hz: int) -> Int16: ...
def resample(samples: Float32 | Int16, from_hz: int, to_hz: int) -> Float32 | Int16:
    """The whole of ``samples`` (1-d, mono) at ``to_hz``, in the type it came in.

    Whole signals only: run on each 20 ms of a stream it clicks at every join, all clicks together
    40 to 50 dB under a 1 kHz tone. ``Resampler`` is for those.

    Raises:
        TypeError: if the samples are neither int16 nor float32.
        ValueError: if they are not one-dimensional.
    """
    if samples.ndim != 1:
        raise ValueError(f"audio must be one-dimensional, got shape {samples.shape}")
    if samples.dtype not in (np.float32, np.int16):
        raise TypeError(f"audio must be int16 or float32, not {samples.dtype}")
    if from_hz == to_hz or not samples.size:
        return samples
    return soxr.resample(samples, from_hz, to_hz, quality="HQ")  # type: ignore[no-any-return]


class Resampler:
    """A stream of chunks from one rate to another; joined, its output is that of ``resample``.

    soxr's HQ filter with its history kept between chunks: a minute of tone in 20 ms chunks is the
    whole minute's, bit for bit in float32 and within 1 in int16. It holds back the last 33 ms (8
    to 16 kHz or back) or 75 ms (22.05 to 8) until more, or ``flush``, comes: where a whole phrase
    is at hand, ``resample`` is sooner.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        """Begin a stream of samples at ``from_hz``, wanted at ``to_hz``."""
        self._same = from_hz == to_hz
        self._type: type[np.int16] | type[np.float32] = np.float32
        # In float32 whatever comes in: soxr dithers what it rounds to int16 itself.
        self._stream = soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32", quality="HQ")

    @overload
    def feed(self, samples: Float32) -> Float32: ...
    @overload
    def feed(self, samples: Int16) -> Int16: ...
    def feed(self, samples: Float32 | Int16) -> Float32 | Int16:
        """What is ready after the next ``samples`` (1-d, mono), in the type they came in.

        Raises:
            TypeError: if the samples are neither int16 nor float32.
            ValueError: if they are not one-dimensional.
        """
        if samples.ndim != 1:
            raise ValueError(f"audio must be one-dimensional, got shape {samples.shape}")
        wave = to_float32(samples)
        self._type = np.int16 if samples.dtype == np.int16 else np.float32
        if self._same:
            return samples
        return self._typed(self._stream.resample_chunk(wave))

    def flush(self) -> Float32 | Int16:
        """What was held back, in the type fed last; then a new stream begins."""
        if self._same:
            return self._typed(np.zeros(0, np.float32))
        rest = self._stream.resample_chunk(np.zeros(0, np.float32), last=True)
        self._stream.clear()
        return self._typed(rest)

    def _typed(self, wave: Float32) -> Float32 | Int16:
        return to_int16(wave) if self._type is np.int16 else wave


def levels(samples: Float32, rate_hz: int) -> tuple[float, float]:
    """RMS of the loudest 20 ms window, and of speech: the windows within 20 dB of that one, so
    that pauses don't count. Zeros for less than a window.
    """
    window = rate_hz // 50
    whole = samples[: samples.size // window * window].reshape(-1, window)
    energy = np.square(whole).mean(axis=1)
    if not energy.size:
        return 0.0, 0.0
    loudest = energy.max()
    speech = energy[energy >= loudest * np.float32(0.01)].mean()
    return math.sqrt(float(loudest)), math.sqrt(float(speech))
