import warnings

import numpy as np
import pytest

from telephony.g711 import ULAW_SILENCE, alaw_decode, alaw_encode, ulaw_decode, ulaw_encode

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    audioop = pytest.importorskip("audioop", reason="audioop left Python in 3.13")

SAMPLES = np.arange(65536, dtype=np.uint16).view(np.int16)
BYTES = bytes(range(256))


def test_every_sample_encodes_as_audioop_did():
    assert ulaw_encode(SAMPLES) == audioop.lin2ulaw(SAMPLES.tobytes(), 2)
    assert alaw_encode(SAMPLES) == audioop.lin2alaw(SAMPLES.tobytes(), 2)


def test_every_byte_decodes_as_audioop_did():
    assert ulaw_decode(BYTES).tobytes() == audioop.ulaw2lin(BYTES, 2)
    assert alaw_decode(BYTES).tobytes() == audioop.alaw2lin(BYTES, 2)


def test_silence_and_extremes():
    assert ulaw_encode(np.zeros(3, np.int16)) == bytes([ULAW_SILENCE]) * 3
    assert ulaw_decode(bytes([ULAW_SILENCE])).tolist() == [0]
    assert ulaw_decode(ulaw_encode(np.array([32767, -32768], np.int16))).tolist() == [32124, -32124]


def test_a_strided_view_and_no_samples():
    assert ulaw_encode(SAMPLES[::2]) == ulaw_encode(SAMPLES[::2].copy())
    assert ulaw_encode(np.zeros(0, np.int16)) == b""
    assert ulaw_decode(b"").shape == (0,)
