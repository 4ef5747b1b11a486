"""The remote embedder against a fake server that speaks the protocol over a real socket."""

import numpy as np
import pytest

from agent.remote_embedder import Endpoint, RemoteEmbedder
from agent.retrieval import embedder_of
from frontdesk import ConfigError, EmbedderError
from tests.agent.fake_openai import serving


def vectors(texts, dim=3):
    """(length of the text, 1, 0) for each, the rows in reverse order."""
    rows = [
        {
            "object": "embedding",
            "index": n,
            "embedding": [float(len(text)), 1.0] + [0.0] * (dim - 2),
        }
        for n, text in enumerate(texts)
    ]
    return {"object": "list", "data": rows[::-1], "model": "m"}


@pytest.fixture
def server(monkeypatch):
    with serving(lambda body: vectors(body["input"]), monkeypatch) as fake:
        yield fake


@pytest.fixture
def remote(server):
    """``remote(**changes)``: an embedder of the fake server; waits are kept in ``.waits``."""
    made = []

    def make(**changes):
        endpoint = Endpoint(**{"base_url": server.url, "model": "m", "timeout_s": 5.0, **changes})
        waits = []
        embedder = RemoteEmbedder(endpoint, sleep=waits.append)
        embedder.waits = waits
        made.append(embedder)
        return embedder

    yield make
    for embedder in made:
        embedder.close()


def test_vectors_come_in_the_order_of_the_texts_at_unit_length(remote, server):
    found = remote().encode(["abc", "", "four"])
    expected = np.array([[3, 1, 0], [0, 1, 0], [4, 1, 0]]) / np.sqrt([[10], [1], [17]])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32
    path, headers, body = server.requests[0]
    assert path == "/v1/embeddings"
    assert body == {"model": "m", "input": ["abc", "", "four"], "encoding_format": "float"}
    assert "Authorization" not in headers


def test_batches_of_64_with_progress(remote, server):
    seen = []
    texts = ["x" * n for n in range(130)]
    found = remote().encode(texts, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(64, 130), (128, 130), (130, 130)]
    assert [len(body["input"]) for _, _, body in server.requests] == [64, 64, 2]
    np.testing.assert_allclose(found[129], np.array([129, 1, 0]) / np.sqrt(129**2 + 1), atol=1e-6)


def test_prefixes_for_questions_and_passages(remote, server):
    embedder = remote(query_prefix="query: ", passage_prefix="passage: ")
    embedder.encode(["a"], query=True)
    embedder.embed("b")
    assert [body["input"] for _, _, body in server.requests] == [["query: a"], ["passage: b"]]


def test_the_key_comes_from_the_named_variable_alone(remote, server, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "k-123")
    remote(key_variable="OTHER_KEY").encode(["a"])
    assert server.requests[0][1]["Authorization"] == "Bearer k-123"
    monkeypatch.delenv("OTHER_KEY")
    with pytest.raises(ConfigError, match="key is not set; export OTHER_KEY="):
        remote(key_variable="OTHER_KEY")


def test_the_length_is_learned_from_the_first_answer(remote, server):
    embedder = remote()
    assert embedder.dim == 3
    assert embedder.dim == 3
    assert embedder.encode([]).shape == (0, 3)
    assert len(server.requests) == 1
    server.answers.append((200, {}, vectors(["a"], dim=4)))
    with pytest.raises(EmbedderError, match="vectors of 4 numbers, not 3; check dimensions"):
        embedder.encode(["a"])


def test_dimensions_are_asked_for_and_checked(remote, server):
    embedder = remote(dimensions=2)
    assert embedder.dim == 2
    with pytest.raises(EmbedderError, match="vectors of 3 numbers, not 2"):
        embedder.encode(["a"])
    assert server.requests[0][2]["dimensions"] == 2


@pytest.mark.parametrize(("dimensions", "asked"), [({}, None), ({"dimensions": 3}, 3)])
def test_the_settings_say_how_many_dimensions(server, settings, dimensions, asked):
    chosen = settings(
        retrieval={"embedder": "remote"},
        embeddings={"base_url": server.url, "model": "m", **dimensions},
    )
    embedder = embedder_of(chosen)
    embedder.encode(["a"])
    embedder.close()
    assert server.requests[0][2].get("dimensions") == asked


def test_the_hash_is_of_model_dimensions_and_prefixes(remote):
    base = remote().hash
    assert remote(base_url="http://elsewhere/v1", timeout_s=1.0, max_tokens=9).hash == base
    others = [
        remote(model="n").hash,
        remote(dimensions=2).hash,
        remote(query_prefix="q").hash,
        remote(passage_prefix="q").hash,
    ]
    assert len({base, *others}) == 5


def test_words_stand_in_for_tokens(remote):
    embedder = remote()
    assert embedder.token_spans("Flu shots: $25") == [(0, 3), (4, 9), (9, 10), (11, 12), (12, 14)]
    found = embedder.embed("Flu shots: $25")
    assert found.pieces == ("flu", "shots", ":", "$", "25")
    assert found.spans == tuple(embedder.token_spans("Flu shots: $25"))
    assert found.piece_vectors.shape == (0, 3)


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry-After": "2"}, 2.0),
        (503, {}, 1.0),
        (500, {"Retry-After": "3600"}, 10.0),
        (502, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 1.0),
        (503, {"Retry-After": "nan"}, 0.0),
    ],
)
def test_one_retry_when_the_server_is_busy(remote, server, status, headers, wait):
    embedder = remote()
    server.answers.append((status, headers, b"busy"))
    np.testing.assert_allclose(embedder.encode([""]), [[0, 1, 0]])
    assert embedder.waits == [wait]
    server.answers += [(status, headers, b"busy\nstill")] * 2
    with pytest.raises(EmbedderError, match=rf"answered {status} \(busy still\); ") as raised:
        embedder.encode(["a"])
    assert raised.value.retryable
    assert raised.value.stage == "embed"
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "check the key in key_variable"),
        (404, "check base_url and the model 'm'"),
        (400, "check model and texts"),
    ],
)
def test_a_refusal_is_not_tried_again(remote, server, status, hint):
    server.answers.append((status, {}, {"error": {"message": "no"}}))
    with pytest.raises(EmbedderError, match=rf"answered {status} .*; {hint}$"):
        remote().encode(["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (b"<html>", "something else than embeddings"),
        ({"data": [{"index": 0}]}, "something else than embeddings"),
        ({"data": "none"}, "something else than embeddings"),
        ([], "something else than embeddings"),
        ({"data": []}, "0 vectors for 1 texts"),
        (vectors(["a", "b"]), "2 vectors for 1 texts"),
        ({"data": [{"index": 0, "embedding": [0, 0]}]}, "an empty or infinite vector"),
        ({"data": [{"index": 0, "embedding": [float("nan"), 0]}]}, "an empty or infinite vector"),
    ],
)
def test_an_answer_that_is_no_embedding(remote, server, answer, line):
    server.answers.append((200, {}, answer))
    with pytest.raises(EmbedderError, match=line):
        remote().encode(["a"])


def test_a_server_that_does_not_answer_in_time(remote, server):
    server.wait.clear()
    with pytest.raises(EmbedderError, match=r"no answer within 0\.05 s; raise timeout_s"):
        remote(timeout_s=0.05).encode(["a"])
    server.wait.set()


def test_a_server_that_is_not_there(remote, server):
    with pytest.raises(EmbedderError, match=r"cannot be reached .*; check base_url"):
        remote(base_url="http://127.0.0.1:9/v1").encode(["a"])


@pytest.mark.parametrize("changes", [{"base_url": ""}, {"base_url": "host:80"}, {"model": ""}])
def test_an_endpoint_without_address_or_model(remote, changes):
    with pytest.raises(ConfigError, match=r"needs base_url .* and model"):
        remote(**changes)
