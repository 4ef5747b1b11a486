"""Audio files: callers' questions in, stereo recordings of calls out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from frontdesk import ConfigError
from telephony.g711 import SAMPLE_RATE_HZ


def load_audio(path: str | Path) -> NDArray[np.int16]:
    """The audio of a WAV or FLAC file as int16, 8 kHz, shape (n,).

    Channels are averaged and other rates resampled; 16-bit mono at 8 kHz comes through unchanged.

    Raises:
        ConfigError: if the file is missing, is no audio file, or is empty.
    """
    try:
        samples, rate = soundfile.read(str(path), dtype="int16", always_2d=True)
    except (soundfile.LibsndfileError, OSError) as error:
        reason = getattr(error, "error_string", None) or error
        raise ConfigError(f"cannot read audio file {path}: {str(reason).rstrip('.')}") from None
    if not len(samples):
        raise ConfigError(f"audio file {path} is empty")
    if rate == SAMPLE_RATE_HZ and samples.shape[1] == 1:
        return samples[:, 0]
    mono = soxr.resample(samples.astype(np.float32).mean(axis=1), rate, SAMPLE_RATE_HZ)
    return np.clip(np.rint(mono), -32768, 32767).astype(np.int16)


def write_recording(path: str | Path, recording: NDArray[np.int16]) -> None:
    """Write ``recording`` (int16, shape (n, 2): caller, agent) as a 16-bit stereo WAV at 8 kHz.

    Raises:
        ConfigError: if the file cannot be written.
    """
    try:
        soundfile.write(str(path), recording, SAMPLE_RATE_HZ, subtype="PCM_16", format="WAV")
    except (soundfile.LibsndfileError, OSError) as error:
        reason = getattr(error, "error_string", None) or error
        raise ConfigError(f"cannot write recording {path}: {str(reason).rstrip('.')}") from None
