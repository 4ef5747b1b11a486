import numpy as np
import pytest

from bench import made_vectors, synthetic
from bench.made_vectors import MadeVectors, pieces_of, sample
from rag.embed import default_embedder


@pytest.fixture(scope="module")
def made(monkeypatch_module):
    monkeypatch_module.setattr(made_vectors, "_SAMPLE", 300)
    return MadeVectors(default_embedder())


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_pieces_are_those_of_the_model():
    real = default_embedder()
    for text in sample("en", 20, seed=3):
        found = real.embed(text)
        assert pieces_of(text, found.spans) == found.pieces


def test_vectors_lie_near_the_real_ones(made):
    real = default_embedder()
    texts = sample("en", 30, seed=3)
    found, expected = made.encode(texts), real.encode(texts)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    cosines = found @ expected.T
    assert np.diag(cosines).mean() > 0.8
    assert (cosines.argmax(axis=1) == np.arange(30)).mean() > 0.9


def test_they_are_read_with_the_real_embedder_and_never_change(made):
    real = default_embedder()
    assert (made.name, made.hash, made.dim) == (real.name, real.hash, real.dim)
    text = synthetic.business("en", 7).facts[0].text
    once, again = made.embed(text), made.embed(text)
    assert (once.vector == again.vector).all()
    assert once.pieces == real.embed(text).pieces
    assert once.piece_vectors.shape == (len(once.pieces), 384)


def test_a_word_outside_the_sample_is_embedded_by_itself(made):
    assert made.embed("Zebra crossing").vector.shape == (384,)
    assert "zebra" in made.embed("Zebra crossing").pieces
