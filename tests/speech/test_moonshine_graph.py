"""The smaller decoder says what the published one says."""

import numpy as np
import onnxruntime as ort
import pytest

from frontdesk.models import verified
from speech import moonshine_graph as graph
from speech.audio import resample, to_float32
from speech.moonshine_decoder import Decoding, Models

START = 1


@pytest.fixture(scope="module")
def audio(over_telephone):
    return resample(to_float32(over_telephone("How do I get a refill?")), 8000, 16000)


def published_logits(models, audio, tokens):
    """Logits of the published graph after all of ``tokens`` at once."""
    session = ort.InferenceSession(
        str(verified("moonshine-decoder")), providers=["CPUExecutionProvider"]
    )
    mask = np.ones((1, audio.size), np.int64)
    (hidden,) = models.encoder.run(None, {"input_values": audio[None], "attention_mask": mask})
    feed = {
        "encoder_attention_mask": mask,
        "encoder_hidden_states": hidden,
        "use_cache_branch": np.array([False]),
        "input_ids": np.array([tokens], np.int64),
    }
    for node in session.get_inputs():
        if node.name.startswith("past"):
            feed[node.name] = np.zeros((1, graph.HEADS, 0, graph.HEAD_SIZE), np.float32)
    return session.run(["logits"], feed)[0][0]


def test_the_same_words_are_likely(audio):
    models = Models()
    decoding = Decoding(models, audio)
    tokens, rows = [START], []
    for _ in range(9):
        rows.append(decoding.step([tokens[-1]], [0])[0])
        tokens.append(int(rows[-1].argmax()))
    wanted = published_logits(models, audio, tokens[:-1])
    assert [int(row.argmax()) for row in wanted] == tokens[1:]
    # All words at once are quantised with one scale, word by word with one each; logits spread
    # over about 40.
    assert np.abs(np.array(rows) - wanted).mean() < 0.3


def test_signed_and_unsigned_weights_give_the_same(audio, monkeypatch):
    models = Models()
    rows = {}
    for signed in (True, False):
        monkeypatch.setattr(graph, "_signed_is_faster", lambda signed=signed: signed)
        step, heard = graph.build(verified("moonshine-decoder"))
        providers = ["CPUExecutionProvider"]
        models.decoder = ort.InferenceSession(step, providers=providers)
        models.audio = ort.InferenceSession(heard, providers=providers)
        decoding = Decoding(models, audio)
        decoding.step([START], [0])
        rows[signed] = decoding.step([500, 900], [0, 0])
    # Signed products are made from the same whole numbers; a processor without VNNI may saturate.
    assert rows[True].argmax(axis=1).tolist() == rows[False].argmax(axis=1).tolist()
