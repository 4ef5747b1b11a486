"""Where speech is said to begin and end, at both rates, loud and quiet."""

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADState

from speech.audio import resample
from speech.vad import SharedSileroAnalyzer


def line(speech: np.ndarray, rate_hz: int, noise: float = 3.0) -> np.ndarray:
    """``speech`` between a second and a second and a half of line noise."""
    rng = np.random.default_rng(1)
    padded = np.pad(speech.astype(np.float64), (rate_hz, rate_hz * 3 // 2))
    return np.clip(padded + rng.normal(0, noise, padded.size), -32768, 32767).astype(np.int16)


async def events(vad: SharedSileroAnalyzer, audio: np.ndarray, rate_hz: int):
    """``(ms, state)`` for each change between quiet and speaking, in 20 ms frames."""
    vad.set_sample_rate(rate_hz)
    found, state = [], VADState.QUIET
    frame = rate_hz // 50
    for at in range(0, audio.size - frame + 1, frame):
        new = await vad.analyze_audio(audio[at : at + frame].tobytes())
        if new != state and new in (VADState.QUIET, VADState.SPEAKING):
            found.append(((at + frame) * 1000 / rate_hz, new))
            state = new
    return found


def audible_ms(audio: np.ndarray, rate_hz: int) -> tuple[float, float]:
    at = np.flatnonzero(np.abs(audio.astype(int)) > 300) * 1000 / rate_hz
    return float(at[0]), float(at[-1])


@pytest.fixture(scope="module")
def speech(over_telephone):
    return over_telephone("How do I get a refill?")


@pytest.mark.parametrize("rate_hz", [8000, 16000])
@pytest.mark.parametrize("first_stage", ["level", "webrtc", None])
async def test_begins_and_ends_once(speech, rate_hz, first_stage):
    audio = line(resample(speech, 8000, rate_hz), rate_hz)
    found = await events(SharedSileroAnalyzer(first_stage=first_stage), audio, rate_hz)
    begins, ends = audible_ms(audio, rate_hz)
    assert [state for _, state in found] == [VADState.SPEAKING, VADState.QUIET]
    assert 60 <= found[0][0] - begins <= 250
    assert 80 <= found[1][0] - ends <= 200


async def test_level_gate_makes_the_end_earlier(speech):
    audio = line(speech, 8000)
    gated = await events(SharedSileroAnalyzer(), audio, 8000)
    alone = await events(SharedSileroAnalyzer(silence_below_speech_db=None), audio, 8000)
    assert gated[-1][0] <= alone[-1][0] - 20


async def test_quiet_caller_is_heard(speech):
    audio = line((speech * 0.05).astype(np.int16), 8000)
    found = await events(SharedSileroAnalyzer(), audio, 8000)
    assert [state for _, state in found] == [VADState.SPEAKING, VADState.QUIET]


def looked_at(vad: SharedSileroAnalyzer) -> list[int]:
    """Counts the windows that reach the model."""
    count = [0]
    model = vad._model

    class Counting:
        reset_states = model.reset_states

        def __call__(self, samples, rate_hz):
            count[0] += 1
            return model(samples, rate_hz)

    vad._model = Counting()
    return count


@pytest.mark.parametrize("first_stage", ["level", "webrtc"])
async def test_first_stage_spares_the_model_plain_silence(first_stage):
    noise = line(np.zeros(8000 * 4, np.int16), 8000, noise=30)
    vad = SharedSileroAnalyzer(first_stage=first_stage)
    count = looked_at(vad)
    assert await events(vad, noise, 8000) == []
    assert count[0] <= 0.1 * noise.size / 256


async def test_speech_begins_as_early_behind_the_level_gate(speech):
    for level in (1.0, 0.1):
        audio = line((speech * level).astype(np.int16), 8000, noise=12)
        gated = await events(SharedSileroAnalyzer(), audio, 8000)
        alone = await events(SharedSileroAnalyzer(first_stage=None), audio, 8000)
        assert gated[0][0] <= alone[0][0] + 64


async def test_a_pause_is_told_before_it_is_sure(speech):
    vad = SharedSileroAnalyzer()
    vad.set_sample_rate(8000)
    audio = line(speech, 8000)
    pausing, quiet = [], []
    for at in range(0, audio.size - 159, 160):
        was = vad.is_pausing
        state = await vad.analyze_audio(audio[at : at + 160].tobytes())
        if vad.is_pausing and not was:
            pausing.append(at)
        if was and state == VADState.QUIET:
            quiet.append(at)
    assert quiet
    assert quiet[-1] - pausing[-1] >= 320  # two windows of 32 ms at least, in 20 ms frames


async def test_noise_and_silence_are_not_speech():
    rng = np.random.default_rng(2)
    for audio in (
        np.zeros(24000, np.int16),
        rng.normal(0, 500, 24000).astype(np.int16),
        np.full(24000, 8000, np.int16),
    ):
        assert await events(SharedSileroAnalyzer(), audio, 8000) == []


async def test_resumed_speech_is_flagged_at_once(speech):
    pause = np.zeros(8000 * 3 // 10, np.int16)
    audio = line(np.concatenate((speech, pause, speech)), 8000)
    found = await events(SharedSileroAnalyzer(), audio, 8000)
    assert [state for _, state in found] == [VADState.SPEAKING, VADState.QUIET] * 2
    first_audible = int(np.flatnonzero(np.abs(speech.astype(int)) > 300)[0])
    resumed_ms = 1000 + (speech.size + pause.size + first_audible) / 8
    first_delay = found[0][0] - audible_ms(audio, 8000)[0]
    assert found[2][0] - resumed_ms <= first_delay - 40


async def test_calls_do_not_share_state(speech):
    audio = line(speech, 8000)
    alone = await events(SharedSileroAnalyzer(), audio, 8000)
    one, other = SharedSileroAnalyzer(), SharedSileroAnalyzer()
    other.set_sample_rate(8000)
    one.set_sample_rate(8000)
    assert one._model._session is other._model._session
    rng = np.random.default_rng(3)
    found, state = [], VADState.QUIET
    for at in range(0, audio.size - 159, 160):
        await other.analyze_audio(rng.normal(0, 3000, 160).astype(np.int16).tobytes())
        new = await one.analyze_audio(audio[at : at + 160].tobytes())
        if new != state and new in (VADState.QUIET, VADState.SPEAKING):
            found.append(((at + 160) / 8, new))
            state = new
    assert found == alone


def test_other_rates_are_refused():
    with pytest.raises(ValueError, match="16000 or 8000"):
        SharedSileroAnalyzer().set_sample_rate(44100)
