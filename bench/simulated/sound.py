"""What a simulated caller sends: voices, noise behind them, keys and silence. No clock.

The same conversation gives the same samples, on any run.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.noises import FAMILIES, RATE_HZ
from bench.simulated.plan import Conversation, Expect, Noise, Turn
from bench.simulated.voices import Cast
from speech.audio import to_float32, to_int16
from telephony.caller_types import AUDIBLE, CallerTurn, pressing
from telephony.recording import load_audio

Int16 = NDArray[np.int16]
NOISE_FAMILY = "second"
"""Of :mod:`bench.noises`: the one on which nothing of the agent was fitted."""
AROUND_S = 0.3
"""The noise is heard so long before and after the words."""
_AROUND = int(AROUND_S * RATE_HZ)


def caller_turns(call: Conversation, cast: Cast) -> list[CallerTurn]:
    """The turns of ``call`` as the test caller takes them.

    Raises:
        ConfigError: if its voice does not say something, or an audio file cannot be read.
        ModelFileError: if a voice's files are missing.
    """
    return [_turn(call, number, turn, cast) for number, turn in enumerate(call.turns)]


def digest(turns: Sequence[CallerTurn]) -> str:
    """The same for the same audio, keys and timing: what "the same call" means."""
    summed = 0
    for turn in turns:
        heard = turn.audio.tobytes() + turn.digits.encode() + repr(turn.interrupt_after_ms).encode()
        summed = zlib.crc32(heard, summed)
    return f"{summed:08x}"


def noise_in(call: Conversation, turn: Turn, cast: Cast) -> str:
    """What the caller is heard over: "babble, 10 dB", "recorded over hum", "none"."""
    if call.noise:
        return f"{call.noise.kind}, {call.noise.snr_db:g} dB"
    clip = cast.recorded.get(turn.words, {}).get(call.voice)
    return f"recorded over {clip.noise}" if clip and clip.noise else "none"


def _turn(call: Conversation, number: int, turn: Turn, cast: Cast) -> CallerTurn:
    expects_reply = turn.gold.expect is not Expect.NOTHING
    if turn.keys:
        plain = pressing(turn.keys)
        return CallerTurn(
            plain.audio, turn.label, turn.cuts_in_ms, expect_reply=expects_reply, digits=turn.keys
        )
    if turn.silent_s:
        return CallerTurn(np.zeros(int(turn.silent_s * RATE_HZ), np.int16), turn.label)
    audio = _spoken(call, turn, cast)
    if call.noise:
        audio = over_noise(audio, call.noise, seed=call.seed * 1000 + number)
    return CallerTurn(audio, turn.label, turn.cuts_in_ms, expect_reply=expects_reply)


def _spoken(call: Conversation, turn: Turn, cast: Cast) -> Int16:
    if turn.audio:
        return load_audio(turn.audio)
    audio = cast.speak(call.voice, turn.words)
    if not turn.but:
        return audio
    pause = np.zeros(int(turn.pause_ms * RATE_HZ / 1000), np.int16)
    return np.concatenate([_trimmed(audio), pause, cast.speak(call.voice, turn.but)])


def _trimmed(audio: Int16) -> Int16:
    """``audio`` without what is inaudible behind it, so that a pause is as long as it says."""
    loud = np.flatnonzero(np.abs(audio.astype(np.int32)) > AUDIBLE)
    return audio[: int(loud[-1]) + 1] if loud.size else audio


def over_noise(audio: Int16, noise: Noise, seed: int) -> Int16:
    """``audio`` with ``noise`` before, behind and after it, at the SNR over the audible samples."""
    rng = np.random.default_rng([seed, *noise.kind.encode()])
    wave = np.pad(to_float32(audio).astype(np.float64), _AROUND)
    made = FAMILIES[NOISE_FAMILY][noise.kind](rng, wave.size)
    made = np.resize(made, wave.size)
    loud = np.abs(audio.astype(np.int32)) > AUDIBLE
    spoken = to_float32(audio)[loud]
    if not spoken.size:
        return to_int16(wave.astype(np.float32))
    level = _rms(spoken) * 10 ** (-noise.snr_db / 20)
    mixed = wave + made * level / (_rms(made) + 1e-9)
    return to_int16(np.clip(mixed, -1.0, 32767 / 32768).astype(np.float32))


def _rms(wave: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.mean(np.square(wave, dtype=np.float64))))
