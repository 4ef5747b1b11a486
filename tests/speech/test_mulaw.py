"""µ-law as the wire has it."""

import numpy as np

from speech import mulaw
from telephony import g711

EVERY = np.arange(-32768, 32768).astype(np.int16)


def test_it_is_decoded_as_on_the_wire():
    codes = np.arange(256, dtype=np.uint8)
    assert np.array_equal(mulaw.decode(codes), g711.ulaw_decode(codes.tobytes()))


def test_the_wire_sends_the_bytes_that_were_kept():
    kept = mulaw.encode(EVERY)
    assert g711.ulaw_encode(mulaw.decode(kept)) == kept.tobytes()
    assert np.array_equal(mulaw.encode(mulaw.decode(kept)), kept)


def test_every_sample_takes_the_nearest_level():
    levels = np.sort(mulaw.decode(np.arange(256, dtype=np.uint8)).astype(int))
    chosen = mulaw.decode(mulaw.encode(EVERY)).astype(int)
    nearest = np.abs(EVERY.astype(int)[:, None] - levels[None, :]).min(axis=1)
    assert np.array_equal(np.abs(EVERY - chosen), nearest)


def test_silence_is_the_byte_of_silence():
    assert mulaw.encode(np.zeros(3, np.int16)).tobytes() == bytes([g711.ULAW_SILENCE] * 3)
