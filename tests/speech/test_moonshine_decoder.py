"""The decoder's memory follows the beams, and the audio is shared between them."""

import numpy as np
import onnxruntime as ort
import pytest

from speech.audio import resample, to_float32
from speech.moonshine_decoder import Decoding, Models

START = 1
ONE, OTHER, THIRD = 500, 900, 1300


@pytest.fixture(scope="module")
def models():
    return Models()


@pytest.fixture(scope="module")
def audio(over_telephone):
    return resample(to_float32(over_telephone("How do I get a refill?")), 8000, 16000)


def test_one_row_of_logits_a_beam(models, audio):
    decoding = Decoding(models, audio)
    first = decoding.step([START], [0])
    assert first.shape == (1, 32768)
    assert first.dtype == np.float32
    assert decoding.step([ONE, OTHER, THIRD], [0, 0, 0]).shape == (3, 32768)


def test_a_beam_goes_on_from_its_parent(models, audio):
    swapped, straight = Decoding(models, audio), Decoding(models, audio)
    for decoding in (swapped, straight):
        decoding.step([START], [0])
    swapped.step([ONE, OTHER], [0, 0])
    straight.step([OTHER, ONE], [0, 0])
    one = swapped.step([THIRD, THIRD], [1, 0])
    other = straight.step([THIRD, THIRD], [0, 1])
    assert np.array_equal(one, other)
    assert np.abs(one[0] - one[1]).max() > 0.1


def test_a_parent_may_have_several_children_or_none(models, audio):
    decoding, alone = Decoding(models, audio), Decoding(models, audio)
    for each in (decoding, alone):
        each.step([START], [0])
    decoding.step([ONE, OTHER, THIRD], [0, 0, 0])
    alone.step([OTHER, OTHER], [0, 0])
    both = decoding.step([ONE, ONE], [1, 1])
    assert np.array_equal(both[0], both[1])
    # Quantised with its whole batch, so not to the bit: the third was another one.
    assert np.abs(both - alone.step([ONE, ONE], [0, 1])).max() < 1.0


def test_audio_held_once_gives_the_bits_of_audio_repeated(models, audio):
    shared, repeated = Decoding(models, audio), Decoding(models, audio)
    for decoding in (shared, repeated):
        decoding.step([START], [0])
    repeated._audio = {
        name: ort.OrtValue.ortvalue_from_numpy(np.repeat(value.numpy(), 3, axis=0))
        for name, value in repeated._audio.items()
    }
    for tokens, parents in (([ONE, OTHER, THIRD], [0, 0, 0]), ([THIRD, ONE, ONE], [2, 0, 1])):
        assert np.array_equal(shared.step(tokens, parents), repeated.step(tokens, parents))


def test_utterances_do_not_share_memory(models, audio):
    alone = Decoding(models, audio)
    alone.step([START], [0])
    expected = alone.step([ONE], [0])
    one, other = Decoding(models, audio), Decoding(models, audio[::-1].copy())
    one.step([START], [0])
    other.step([START], [0])
    other.step([THIRD], [0])
    assert np.array_equal(one.step([ONE], [0]), expected)
