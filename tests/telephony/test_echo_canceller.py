"""What is left of an echo, and of a caller who speaks over it."""

import numpy as np
import pytest
import soundfile

from bench.recordings import AUDIO
from speech.audio import resample
from telephony.echo_canceller import EchoCanceller

RATE_HZ = 16000
SECOND = RATE_HZ


def voice(name, level_db):
    audio, rate_hz = soundfile.read(AUDIO / f"{name}.flac", dtype="int16")
    wave = resample(audio, rate_hz, RATE_HZ).astype(np.float32) / 32768
    loud = wave[np.abs(wave) > 0.003]
    return wave * np.float32(10 ** (level_db / 20) / np.sqrt(np.square(loud).mean()))


def speech(voice_name, count, level_db=-20):
    pause = np.zeros(RATE_HZ // 4, np.float32)
    found = (voice(f"{voice_name}/q{n:03}", level_db) for n in range(1, count + 1))
    return np.concatenate([part for one in found for part in (one, pause)])


def room(delay_ms, t60_s, gain_db, seed=1):
    """From the loudspeaker to the microphone: a delay and a room of decaying noise."""
    n = int(RATE_HZ * t60_s)
    tail = np.random.default_rng(seed).standard_normal(n) * 10 ** (-3 * np.arange(n) / n) / 4
    tail[0] = 1
    tail *= 10 ** (gain_db / 20) / np.sqrt(np.square(tail).sum())
    return np.concatenate((np.zeros(delay_ms * RATE_HZ // 1000), tail))


def echo_of(played, path):
    size = played.size + path.size
    both = np.fft.rfft(played, size) * np.fft.rfft(path, size)
    return np.fft.irfft(both, size)[: played.size].astype(np.float32)


def noise(size):
    return np.random.default_rng(2).standard_normal(size).astype(np.float32) * np.float32(1e-3)


def run(played, heard, canceller=None):
    canceller = canceller or EchoCanceller(RATE_HZ)
    size = canceller.block
    whole = heard.size // size * size
    return np.concatenate(
        [
            canceller.cancel(played[at : at + size], heard[at : at + size])
            for at in range(0, whole, size)
        ]
    )


def db(one, other):
    return 10 * np.log10(np.square(one).sum() / np.square(other).sum())


@pytest.mark.parametrize(("delay_ms", "t60_s", "gain_db"), [(50, 0.2, -10), (200, 0.4, -20)])
def test_an_echo_is_taken_out_once_the_path_is_known(delay_ms, t60_s, gain_db):
    played = speech("joe", 5)
    heard = echo_of(played, room(delay_ms, t60_s, gain_db)) + noise(played.size)
    left = run(played, heard)
    known = slice(5 * SECOND, left.size)
    assert db(heard[known], left[known]) > 14


def test_a_caller_over_the_echo_comes_through_whole():
    played = speech("joe", 6)
    caller = np.zeros_like(played)
    said = speech("slt", 2, level_db=-26)
    caller[6 * SECOND : 6 * SECOND + said.size] = said
    both = caller + echo_of(played, room(100, 0.3, -10)) + noise(played.size)
    left = run(played, both)
    over = slice(6 * SECOND, min(left.size, 6 * SECOND + said.size))
    clean = caller[over]
    before, after = db(clean, both[over] - clean), db(clean, left[over] - clean)
    assert before < 8
    assert after > before + 10


def test_where_nothing_is_played_nothing_is_touched():
    said = speech("slt", 1)
    left = run(np.zeros_like(said), said)
    assert np.array_equal(left, said[: left.size])


def test_a_delay_that_changes_is_learnt_anew():
    played = speech("joe", 8)
    half = 8 * SECOND
    near, far = (echo_of(played, room(ms, 0.2, -10)) for ms in (60, 95))
    heard = np.concatenate((near[:half], far[half:])) + noise(played.size)
    left = run(played, heard)
    assert db(heard[half : half + SECOND], left[half : half + SECOND]) < 8
    again = slice(half + 3 * SECOND, left.size)
    assert db(heard[again], left[again]) > 10


def test_pieces_that_come_in_bursts_keep_what_was_learnt():
    """The speaker's pieces come none at a time and three at a time, as devices ask for them."""
    played = speech("joe", 6)
    heard = echo_of(played, room(150, 0.2, -10)) + noise(played.size)
    canceller = EchoCanceller(RATE_HZ)
    size = canceller.block
    steps = heard.size // size
    left, given = [], 0
    for step in range(steps):
        until = given if step % 200 in (100, 101) else step + 1
        blocks = played[given * size : until * size]
        left.append(canceller.cancel(blocks, heard[step * size : (step + 1) * size]))
        given = until
    left = np.concatenate(left)
    known = slice(6 * SECOND, left.size)
    assert db(heard[known], left[known]) > 12


def test_other_sizes_are_refused():
    canceller = EchoCanceller(RATE_HZ)
    block = np.zeros(160, np.float32)
    for played, heard in ((block[:7], block), (block, block[:7])):
        with pytest.raises(ValueError, match="blocks of 160"):
            canceller.cancel(played, heard)


def test_with_headphones_the_caller_comes_through_untouched():
    played = speech("joe", 5)
    said = np.resize(speech("slt", 3, level_db=-26), played.size) + noise(played.size)
    left = run(played, said)
    assert np.array_equal(left, said[: left.size])


def test_headphones_put_on_in_a_call_hurt_for_a_moment_only():
    played = speech("joe", 8)
    half = 5 * SECOND
    echo = echo_of(played, room(100, 0.2, -10))
    echo[half:] = 0
    said = np.resize(speech("slt", 4, level_db=-26), played.size)
    said[:half] = 0
    left = run(played, echo + said + noise(played.size))
    later = slice(half + 2 * SECOND, left.size)
    clean = said[later]
    assert db(clean, left[later] - clean) > 20


def test_a_microphone_that_was_muted_is_learnt_all_the_same():
    played = np.resize(speech("joe", 12), 60 * SECOND)
    heard = echo_of(played, room(100, 0.2, -10)) + noise(played.size)
    until = 50 * SECOND
    heard[:until] = 0
    left = run(played, heard)
    known = slice(until + 4 * SECOND, left.size)
    assert db(heard[known], left[known]) > 12


def hum(wave):
    return np.sin(np.arange(wave.size) / 6)


@pytest.mark.parametrize(
    ("played", "heard"),
    [
        (lambda wave: np.sign(wave), lambda echo: np.sign(echo)),
        (lambda wave: wave, lambda echo: np.clip(100 * echo, -1, 1)),
        (lambda wave: np.ones_like(wave), lambda echo: -np.ones_like(echo)),
        (lambda wave: wave, lambda echo: np.zeros_like(echo)),
        (hum, hum),
    ],
)
def test_no_sound_makes_it_louder_than_what_is_heard(played, heard):
    wave = speech("joe", 4)
    echo = heard(echo_of(wave, room(60, 0.2, -10))).astype(np.float32)
    left = run(played(wave).astype(np.float32), echo)
    assert np.isfinite(left).all()
    assert np.square(left).sum() <= 1.01 * np.square(echo).sum()


def test_what_is_no_number_is_forgotten():
    played = speech("joe", 5)
    heard = echo_of(played, room(60, 0.2, -10)) + noise(played.size)
    heard[SECOND] = np.nan
    left = run(played, heard)
    assert np.isfinite(left).all()
    known = slice(6 * SECOND, left.size)
    assert db(heard[known], left[known]) > 12
