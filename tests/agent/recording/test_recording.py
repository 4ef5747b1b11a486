"""Where a recording puts what was heard and said: real files, a clock that the test moves."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from agent.recording import Recording, check_recording, read_recording, seal
from agent.records_settings import RecordSettings
from frontdesk import ConfigError, Spoken
from tests.agent.recording.taped import PACKET, RATE, Taped, noise, place_of


def span_of_event(recording):
    """What an event says of the recording, and it is written."""
    found = list(recording.so_far())
    recording.taken()
    return found


@pytest.fixture
def taped(tmp_path):
    return Taped(tmp_path)


def test_both_sides_lie_where_they_were_heard(taped):
    caller, agent = noise(1.0, 1), noise(0.5, 2)
    taped.passes(1000)
    taped.hears(caller)
    taped.passes(500)
    taped.says(agent)
    taped.passes(1000)
    left, right = taped.closed()
    assert left.size == right.size == 3.5 * RATE
    assert np.array_equal(left[RATE : 2 * RATE], caller)
    assert np.array_equal(right[20000:24000], agent)
    left[RATE : 2 * RATE], right[20000:24000] = 0, 0
    assert not left.any()
    assert not right.any()


def test_others_can_play_it(taped):
    taped.hears(noise(1.0))
    ours, _ = taped.closed()
    theirs, rate = soundfile.read(str(taped.path), dtype="int16")
    assert rate == RATE
    assert soundfile.info(str(taped.path)).subtype == "ULAW"
    assert np.array_equal(theirs[:, 0], ours)


def test_it_is_never_more_than_a_packet_behind(taped):
    caller = noise(3.0)
    for at in range(0, caller.size, PACKET):
        taped.hears(caller[at : at + PACKET])
        samples, _ = read_recording(taped.path)
        assert np.array_equal(samples[:, 0], caller[: at + PACKET])


@pytest.mark.parametrize("stall_ms", [100, 500, 1500])
def test_a_burst_after_a_stall_lies_where_it_was_spoken(taped, stall_ms):
    """The network stands still from the first second on and then hands over everything."""
    caller = noise(4.0)

    def late(at_ms):
        return max(0.0, 1000 + stall_ms - at_ms) if at_ms > 1000 else 0.0

    taped.hears(caller[:RATE])
    taped.passes(stall_ms - 20)  # silence is written meanwhile
    taped.hears(caller[RATE:], late_ms=late, from_ms=1000)
    left, _ = taped.closed()
    at, alike = place_of(caller[2 * RATE :], left)
    assert abs(at - 2 * RATE) <= 0.02 * RATE
    assert alike > 0.99
    at, alike = place_of(caller[: 2 * RATE], left)
    assert at <= 0.02 * RATE
    assert alike > 0.95


def test_jitter_moves_nothing_by_more_than_a_packet_or_two(taped):
    random = np.random.default_rng(4)
    caller = noise(10.0)
    taped.hears(caller, late_ms=lambda at_ms: random.choice([0, 0, 5, 15, 35, 60]))
    left, _ = taped.closed()
    for second in range(1, 9):
        at, alike = place_of(caller[second * RATE : second * RATE + 4000], left)
        assert abs(at - second * RATE) <= 0.04 * RATE
        assert alike > 0.9


@pytest.mark.parametrize("drift", [-2e-3, 2e-3])
def test_a_telephone_with_another_clock_does_not_drift_away(taped, drift):
    caller, late_ms = noise(30.0), 60
    for begin in range(0, caller.size, RATE):
        caller[begin : begin + 2000] = 0  # people pause
    taped.hears(caller, late_ms=lambda at_ms: at_ms * drift + late_ms)
    left, _ = taped.closed()
    last = caller[28 * RATE + 2000 : 29 * RATE]
    at, alike = place_of(last, left)
    came = (28 * RATE + 2000) * (1 + drift) + late_ms * 8
    assert abs(at - came) <= 0.05 * RATE
    assert alike > 0.5


def test_on_hold_time_goes_on(taped):
    first, second = noise(0.5, 1), noise(0.5, 2)
    taped.hears(first)
    taped.now_ms += 30_000
    taped.hears(second)
    left, _ = taped.closed()
    assert place_of(second, left) == (round(30.5 * RATE), pytest.approx(1.0))
    assert not left[4000 : round(30.5 * RATE)].any()


@pytest.mark.parametrize(("drops", "left_over"), [(True, 0), (False, PACKET)])
def test_what_a_barge_in_drops_is_not_in_it(taped, drops, left_over):
    """Three seconds were sent; after one the caller speaks. A piece was still going out."""
    agent, again = noise(3.0, 2), noise(0.5, 3)
    taped.says(agent[: 2 * RATE])
    taped.passes(1000)
    taped.recording.cut(drops=drops)
    taped.now_ms += 10
    taped.says(agent[2 * RATE : 2 * RATE + PACKET])
    taped.now_ms += 10
    taped.passes(980)
    taped.says(again)
    taped.passes(1000)
    _, right = taped.closed()
    assert np.array_equal(right[:RATE], agent[:RATE])
    assert np.count_nonzero(right[RATE : 2 * RATE]) <= left_over
    assert np.array_equal(right[2 * RATE : 2 * RATE + 4000], again)


def test_what_nobody_could_hear_any_more_is_not_in_it(taped):
    taped.says(noise(3.0))
    taped.passes(1000)
    _, right = taped.closed()
    assert right.size == RATE


def test_a_caller_who_sends_too_much_is_held_to_the_time(taped):
    for _ in range(1000):
        taped.recording.heard(noise(0.02).tobytes())
    taped.passes(100)
    left, _ = taped.closed()
    assert left.size == 0.1 * RATE


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path):
    with pytest.raises(ConfigError, match=r"records\.folder"):
        Recording(tmp_path / "none" / "call.wav", RATE, lambda: 0.0)


def events_of(taped, ms=9000, every_ms=700):
    """A call whose events are hashed with its sound."""
    made = [{"event": "recording", "rate_hz": RATE, "audio": span_of_event(taped.recording)}]
    for number in range(ms // every_ms):
        taped.says(noise(0.2, number))
        taped.hears(noise(every_ms / 1000, 100 + number))
        made.append({"event": "said", "audio": span_of_event(taped.recording)})
    return made


def ended(taped, events):
    taped.recording.close()
    return [*events, {"event": "call_ended", "audio": span_of_event(taped.recording)}]


def test_any_byte_that_is_changed_is_found(taped):
    events = ended(taped, events_of(taped))
    assert check_recording(taped.path, events) == ""
    data = taped.path.read_bytes()
    random = np.random.default_rng(0)
    places = [*range(58), *random.integers(58, len(data), 60), len(data) - 1]
    for at in places:
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(random.integers(8))
        taped.path.write_bytes(damaged)
        assert check_recording(taped.path, events), at
    for other in (data[:-2], data + b"\xff\xff", b""):
        taped.path.write_bytes(other)
        assert check_recording(taped.path, events)
    taped.path.unlink()
    assert check_recording(taped.path, events)


def test_its_hashes_are_those_of_the_file(taped):
    events = ended(taped, events_of(taped))
    sound, begin = taped.path.read_bytes()[58:], 0
    for event in events:
        until, digest = event["audio"]
        assert hashlib.sha256(sound[begin:until]).hexdigest() == digest
        begin = until
    assert begin == len(sound)


@pytest.mark.parametrize(
    ("from_ms", "to_ms"), [(1000, 2500), (7500, 8700), (3000, 8900), (-5, 99999)]
)
def test_silence_is_proven_and_the_rest_still_is(taped, from_ms, to_ms):
    """Old sound, sound that no event has hashed yet, and both."""
    events = events_of(taped)
    before, _ = read_recording(taped.path)
    silence = taped.recording.silence(from_ms, to_ms)
    events.append({"event": "silenced", **silence.fields, "audio": span_of_event(taped.recording)})
    silence.done()
    taped.hears(noise(3.0, 55))
    events = ended(taped, events)
    assert check_recording(taped.path, events) == ""
    samples, _ = read_recording(taped.path)
    low, high = max(0, from_ms) * 8, min(to_ms * 8, len(before))
    assert not samples[low:high, 0].any()
    assert np.array_equal(samples[: len(before), 1], before[:, 1])
    untouched = np.r_[0:low, high : len(before)]
    assert np.array_equal(samples[untouched, 0], before[untouched, 0])
    data = bytearray(taped.path.read_bytes())
    data[58 + 2 * low] ^= 0x11
    taped.path.write_bytes(data)
    assert check_recording(taped.path, events)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_happens_all_of_it_is_proven(tmp_path, seed):
    """Stalls and bursts, pauses, interruptions and silence in any order."""
    random, taped = np.random.default_rng(seed), Taped(tmp_path)
    events = [{"event": "recording", "rate_hz": RATE, "audio": span_of_event(taped.recording)}]
    for number in range(120):
        match random.choice(["hears", "burst", "passes", "says", "cut", "silence"]):
            case "hears":
                taped.hears(noise(random.uniform(0.02, 1), number))
            case "burst":
                taped.passes(random.uniform(0, 1500))
                since = taped.now_ms - random.uniform(0, 1500)
                taped.hears(noise(random.uniform(0.02, 1.5), number), from_ms=since)
            case "passes":
                taped.passes(random.uniform(0, 500))
            case "says":
                taped.says(noise(random.uniform(0.02, 2), number))
            case "cut":
                taped.recording.cut(drops=bool(random.integers(2)))
            case "silence":
                low = taped.now_ms - random.uniform(0, 4000)
                silence = taped.recording.silence(low, low + random.uniform(0, 4000))
                if silence is not None:
                    fields = {**silence.fields, "audio": span_of_event(taped.recording)}
                    events.append({"event": "silenced", **fields})
                    silence.done()
        if random.integers(3) == 0:
            events.append({"event": "said", "audio": span_of_event(taped.recording)})
    assert check_recording(taped.path, ended(taped, events)) == ""


def test_a_kill_between_the_event_and_the_silence_is_mended(taped):
    events = events_of(taped)
    silence = taped.recording.silence(500, 2000)
    events.append({"event": "silenced", **silence.fields, "audio": span_of_event(taped.recording)})
    killed = taped.path.with_name("killed.wav")
    killed.write_bytes(taped.path.read_bytes() + b"\x00")  # half a sample more, and no end
    assert np.any(read_recording(killed)[0][4000:16000, 0])
    events.append({"event": "call_ended", "audio": seal(killed, events)})
    assert check_recording(killed, events) == ""
    assert not np.any(read_recording(killed)[0][4000:16000, 0])
    assert soundfile.info(str(killed)).frames == 9000 // 700 * 700 * 8


@pytest.mark.parametrize("channels", [1, 3])
def test_a_file_that_is_not_stereo_is_refused(tmp_path, channels):
    soundfile.write(tmp_path / "a.wav", np.zeros((80, channels), np.int16), RATE)
    with pytest.raises(ConfigError, match="two channels"):
        read_recording(tmp_path / "a.wav")
    (tmp_path / "b.wav").write_bytes(b"RIFF")
    with pytest.raises(ConfigError, match=r"b\.wav"):
        read_recording(tmp_path / "b.wav")


FULL = """
import resource, signal, sys
from pathlib import Path
from tests.agent.recording.taped import Taped, noise
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20058, 20058))
taped = Taped(Path(sys.argv[1]))
taped.hears(noise(2.0))
print(taped.stopped, taped.recording.so_far()[0])
taped.recording.close()
"""


def test_on_a_full_disk_it_ends_and_the_call_goes_on(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-1] == "19840"
    assert "File too large" in done.stdout
    samples, _ = read_recording(tmp_path / "call.wav")
    assert np.array_equal(samples[:, 0], noise(2.0)[: len(samples)])
    assert len(samples) == 9920
    assert soundfile.info(str(tmp_path / "call.wav")).frames == 9920


@pytest.mark.parametrize(
    ("recording", "words"),
    [("off", "Hello."), ("on", "Hello."), ("announced", "This call is recorded. Hello.")],
)
def test_the_first_words_say_that_a_call_is_recorded(recording, words):
    settings = RecordSettings(recording=recording)
    assert settings.announced(Spoken("Hello.").slowly()) == Spoken(words).slowly()


@pytest.mark.parametrize("more", [[], ["--flac"]])
def test_the_command_makes_a_file_for_any_player(command, taped, more):
    taped.hears(noise(0.5))
    left, _ = taped.closed()
    out = taped.path.with_name("out")
    code, said, _ = command("calls", "audio", taped.path, "--out", out, *more)
    assert code == 0
    assert "0.5 s" in said
    samples, rate = soundfile.read(out, dtype="int16")
    assert rate == RATE
    assert np.array_equal(samples[:, 0], left)
    assert command("calls", "audio", "CA-none", "--out", out)[0] == 2
