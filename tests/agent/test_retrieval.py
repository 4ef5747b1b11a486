import pytest

from agent.retrieval import embedder_of
from frontdesk import ConfigError


def test_chunks_that_the_embedder_does_not_read_whole(settings):
    assert embedder_of(settings(retrieval={"chunk_tokens": 248})).name == "minilm"
    with pytest.raises(ConfigError, match=r"chunk_tokens is 249, but .*'minilm' reads 248 tokens"):
        embedder_of(settings(retrieval={"chunk_tokens": 249}))


def test_chunks_that_a_remote_embedder_does_not_read_whole(settings):
    chosen = settings(
        retrieval={"embedder": "remote", "chunk_tokens": 300},
        embeddings={"base_url": "http://127.0.0.1:9/v1", "model": "m", "max_tokens": 208},
    )
    with pytest.raises(ConfigError, match=r"chunk_tokens is 300, but .*'remote' reads 200 tokens"):
        embedder_of(chosen)
