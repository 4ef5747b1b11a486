"""A bad line does to the caller's audio and frames what it says, and nothing else."""

import base64
import json

import numpy as np
import pytest

from frontdesk import ConfigError
from telephony.bad_line import BadLine, Transit
from telephony.caller import CallerTurn
from telephony.caller_protocol import CallerProtocol
from telephony.caller_script import Pace
from telephony.far_ends.twilio import TwilioFarEnd
from telephony.g711 import ulaw_decode, ulaw_encode

TONE = (8000 * np.sin(2 * np.pi * 440 * np.arange(8000) / 8000)).astype(np.int16)


def test_gain_noise_offset_and_clipping():
    assert np.abs(BadLine(gain_db=-20).heard(TONE) - TONE / 10).max() <= 0.5
    loud = BadLine(gain_db=30).heard(TONE)
    assert (loud.min(), loud.max()) == (-32768, 32767)
    assert BadLine(offset=5000).heard(TONE).mean() == pytest.approx(5000, abs=1)
    hiss = BadLine(noise_db=-40).heard(np.zeros(80000, np.int16))
    assert 20 * np.log10(np.std(hiss / 32768)) == pytest.approx(-40, abs=0.1)
    line = BadLine(noise_db=-40)
    assert np.array_equal(line.heard(TONE, 3), line.heard(TONE, 3))
    assert not np.array_equal(line.heard(TONE, 3), line.heard(TONE, 4))
    assert BadLine().heard(TONE) is TONE


def test_losses_and_gaps():
    line = BadLine(loss_percent=10)
    assert 0.08 < np.mean([line.lost(frame) for frame in range(5000)]) < 0.12
    lost = [frame for frame in range(200) if BadLine(gap_ms=500).lost(frame)]
    assert lost == [*range(50, 75), *range(150, 175)]
    heard = BadLine(gap_ms=20).heard_with_gaps(np.ones(9000, np.int16))
    assert np.flatnonzero(heard == 0).tolist() == list(range(8000, 8160))


def test_jitter_comes_in_bursts_and_in_order():
    transit = Transit(BadLine(jitter_ms=60))
    arrivals = {}
    for now in range(2200):
        if now % 20 == 0 and now < 2000:
            transit.send(now // 20, [str(now)], now)
        for message in transit.arrived(now):
            arrivals[int(message)] = now
    assert list(arrivals) == list(range(0, 2000, 20))
    late = [now - sent for sent, now in arrivals.items()]
    assert 0 <= min(late) <= 10
    assert 45 <= max(late) <= 61
    assert len(set(arrivals.values())) < 80  # several at once


def call(line, audio):
    """What reaches the agent: (arrival in ms, message), from a call of one turn."""
    turn = CallerTurn(audio, "one", expect_reply=False)
    caller = CallerProtocol(
        [turn], Pace(wait_greeting=False), far_end=TwilioFarEnd("CA1"), line=line
    )
    now = 100.0
    got = [(0.0, json.loads(message)) for message in caller.begin(now)]
    while not caller.over:
        now = caller.next_due
        got += [((now - 100.0) * 1000, json.loads(message)) for message in caller.tick(now)]
    return caller.result(), got


def test_a_call_over_a_bad_line():
    line = BadLine(loss_percent=20, jitter_ms=60, noise_db=-50, gain_db=-6)
    result, got = call(line, np.tile(TONE, 2))
    media = [(at, message["media"]) for at, message in got if message["event"] == "media"]
    stamps = [int(part["timestamp"]) for _, part in media]
    assert stamps == sorted(stamps)
    frames = len(result.recording) // 160
    assert stamps == [20 * frame for frame in range(frames) if not line.lost(frame)]
    late = [at - stamp - 20 for (at, _), stamp in zip(media, stamps, strict=True)]
    assert min(late) >= -0.01
    assert 40 < max(late) < 61
    numbers = [int(m["sequenceNumber"]) for _, m in got if "sequenceNumber" in m]
    assert numbers == sorted(set(numbers))
    assert got[-1][1]["event"] == "stop"
    # The recording is what arrived, silence for what did not.
    sent = np.zeros(frames * 160, np.int16)
    for _, part in media:
        at = int(part["timestamp"]) * 8
        sent[at : at + 160] = ulaw_decode(base64.b64decode(part["payload"]))
    assert np.array_equal(result.recording[:, 0], sent)
    assert 3000 < np.abs(sent).max() < 6000


def test_a_perfect_line_changes_nothing():
    assert BadLine(seed=7).perfect
    result, got = call(BadLine(), TONE)
    payloads = [base64.b64decode(m["media"]["payload"]) for _, m in got if m["event"] == "media"]
    assert ulaw_encode(TONE) in b"".join(payloads)
    assert (
        TONE.tolist()
        == result.recording[np.flatnonzero(result.recording[:, 0])[0] - 1 :, 0][:8000].tolist()
    )


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"loss_percent": 101}, "--loss"),
        ({"jitter_ms": -1}, "--jitter"),
        ({"gap_ms": 1001}, "--gap"),
        ({"noise_db": 3}, "--noise"),
        ({"gain_db": 99}, "--gain"),
        ({"offset": 40000}, "--offset"),
        ({"loss_percent": float("nan")}, "--loss"),
    ],
)
def test_a_line_that_cannot_be_is_one_line(fields, names):
    with pytest.raises(ConfigError, match=names):
        BadLine(**fields)
