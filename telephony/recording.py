"""Audio files: callers' questions in, stereo recordings of calls out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from frontdesk import ConfigError
from telephony.g711 import SAMPLE_RATE_HZ, alaw_decode, ulaw_decode

_Sample = TypeVar("_Sample", np.int16, np.float32)

MAX_SECONDS = 600
AUDIO_SUFFIXES = frozenset(
    ".wav .flac .ogg .oga .opus .mp3 .aiff .aif .aifc .au .snd .caf .w64 .rf64 .gsm "
    ".ul .ulaw .mulaw .al .alaw .raw .pcm .m4a .mp4 .aac .amr .wma .webm .3gp .g729".split()
)
"""What a name ends in that is meant as an audio file, readable or not."""

_HEADERLESS: dict[str, Callable[[bytes], NDArray[np.int16]]] = {
    **dict.fromkeys((".ul", ".ulaw", ".mulaw"), ulaw_decode),
    **dict.fromkeys((".al", ".alaw"), alaw_decode),
}
_RATES_HZ = (1000, 768_000)
_CANCELLED = 0.1  # of the loudest channel's RMS, 20 dB below it


def load_audio(path: str | Path) -> NDArray[np.int16]:
    """The audio of a file as int16, 8 kHz, shape (n,): what the telephone would carry of it.

    Anything libsndfile reads (WAV, FLAC, Ogg, MP3, AIFF, AU …), at 1 to 768 kHz, of any number of
    channels, 8 to 32 bits, float, µ-law or A-law; and headerless ``.ulaw`` and ``.alaw``. Channels
    are averaged, or the loudest is taken where they cancel out; what passes full scale is
    clipped; 16-bit mono at 8 kHz comes through unchanged.

    Raises:
        ConfigError: if the file is missing, is no audio file, is empty, holds numbers that are
            none, or runs for more than ten minutes.
    """
    path = Path(path)
    decode = _HEADERLESS.get(path.suffix.lower())
    try:
        if decode is not None:
            return _not_empty(path, decode(_headerless(path)))
        if path.suffix.lower() in (".raw", ".pcm") and path.is_file():
            raise ConfigError(
                f"cannot read audio file {path}: without a header its rate and format are not "
                f"known; give it one: sox -t raw -r 8000 -e signed -b 16 -c 1 {path.name} a.wav"
            )
        wave, rate = _read(path)
    except (soundfile.LibsndfileError, OSError, TypeError, ValueError) as error:
        raise ConfigError(f"cannot read audio file {path}: {_reason(error)}") from None
    mono = _mono(_not_empty(path, wave))
    if not np.isfinite(mono).all():
        raise ConfigError(f"audio file {path} holds samples that are no numbers")
    if rate != SAMPLE_RATE_HZ:
        mono = soxr.resample(mono, rate, SAMPLE_RATE_HZ)
    return _not_empty(path, np.clip(np.rint(mono * 32768), -32768, 32767).astype(np.int16))


def write_recording(path: str | Path, recording: NDArray[np.int16]) -> None:
    """Write ``recording`` (int16, shape (n, 2): caller, agent) as a 16-bit stereo WAV at 8 kHz.

    Raises:
        ConfigError: if the file cannot be written.
    """
    try:
        soundfile.write(str(path), recording, SAMPLE_RATE_HZ, subtype="PCM_16", format="WAV")
    except (soundfile.LibsndfileError, OSError) as error:
        raise ConfigError(f"cannot write recording {path}: {_reason(error)}") from None


def _read(path: Path) -> tuple[NDArray[np.float32], int]:
    """Samples in [-1, 1], shape (n, channels), and their rate.

    As float: libsndfile hands the samples of a float file over unscaled where int16 is asked for,
    as so many zeros.
    """
    with soundfile.SoundFile(str(path)) as file:
        rate = int(file.samplerate)
        if not _RATES_HZ[0] <= rate <= _RATES_HZ[1]:
            raise ValueError(f"its rate of {rate} Hz is not one of audio")
        # One more than allowed, whatever the header says: it may lie.
        wave = file.read(MAX_SECONDS * rate + 1, dtype="float32", always_2d=True)
    _check_length(len(wave), rate)
    return wave, rate


def _headerless(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_SECONDS * SAMPLE_RATE_HZ + 1)
    _check_length(len(data), SAMPLE_RATE_HZ)
    return data


def _check_length(samples: int, rate_hz: int) -> None:
    if samples > MAX_SECONDS * rate_hz:
        raise ValueError(f"it runs for more than {MAX_SECONDS // 60} minutes")


def _mono(wave: NDArray[np.float32]) -> NDArray[np.float32]:
    """The channels' average, unless they cancel each other out (one of them upside down)."""
    if wave.shape[1] == 1:
        return wave[:, 0]
    mean: NDArray[np.float32] = wave.mean(axis=1)
    loudness = np.sqrt(np.square(wave).mean(axis=0))
    loudest = int(np.argmax(loudness))
    if np.sqrt(np.square(mean).mean()) < _CANCELLED * loudness[loudest]:
        return wave[:, loudest]
    return mean


def _not_empty(path: Path, samples: NDArray[_Sample]) -> NDArray[_Sample]:
    if not len(samples):
        raise ConfigError(f"audio file {path} is empty")
    return samples


def _reason(error: Exception) -> str:
    if isinstance(error, soundfile.LibsndfileError):
        return f"{error.error_string.rstrip('.')}; convert it: ffmpeg -i IN -ar 8000 -ac 1 out.wav"
    return str(error).rstrip(".")
