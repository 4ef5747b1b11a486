"""Flat search against the graph, on few rows."""

import json

import numpy as np
import pytest

from bench import nearest, results


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The folder that results go to; few questions are asked."""
    pytest.importorskip("faiss")
    folder = tmp_path / "results"
    monkeypatch.setattr(
        nearest,
        "write_result",
        lambda name, figures: results.write_result(name, figures, folder),
    )
    monkeypatch.setattr(nearest, "_QUERIES", 30)
    return folder


def at(rows, p50_ms):
    return {"rows": rows, "flat": {"p50_ms": p50_ms}}


def test_a_run_writes_a_row_a_size(written, tmp_path, capsys):
    assert nearest.main(["--rows", "600", "300", "--data", str(tmp_path)]) == 0
    found = json.loads((written / "nearest.json").read_text("utf-8"))
    assert [(row["rows"], row["queries"]) for row in found["synthetic"]] == [(300, 30), (600, 30)]
    assert found["flat_limit"] == nearest.flat_limit(found["synthetic"])
    assert found["flat_limit"] % 10_000 == 0
    for row in found["synthetic"]:
        assert row["hnsw"]["recall_at_10"] > 0.95
        assert row["flat"]["mb"] == round(row["rows"] * 384 * 4 / 1e6, 1)
        assert row["hnsw"]["mb"] > 0
        for search in (row["flat"], row["hnsw"]):
            assert 0 < search["p50_ms"] <= search["p95_ms"]
    assert "real" not in found
    *rows, left_out, last = capsys.readouterr().out.splitlines()
    assert [json.loads(row) for row in rows] == found["synthetic"]
    assert left_out.endswith("dstc10_kb.jsonl: recall on real vectors left out")
    assert last.startswith(f"flat up to {found['flat_limit']} rows; wrote ")


def test_real_vectors_are_those_of_passages_and_questions(written, tmp_path):
    passages = [{"title": f"What is on floor {n}?", "body": f"Room {n}."} for n in range(12)]
    passages.append(passages[0])
    files = {
        "dstc10_kb.jsonl": passages,
        "dstc_wrong_context_numbers.jsonl": [{"question": "where is room 7"}] * 3,
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert nearest.main(["--rows", "300", "--data", str(tmp_path)]) == 0
    real = json.loads((written / "nearest.json").read_text("utf-8"))["real"]
    assert (real["embedder"], real["rows"], real["queries"]) == ("minilm", 24, 3)
    assert real["hnsw"]["recall_at_10"] == 1.0


@pytest.mark.parametrize(
    ("measured", "limit"),
    [
        ([at(10_000, 1.0), at(50_000, 5.0)], 30_000),
        ([at(10_000, 1.0), at(50_000, 5.1)], 20_000),
        ([at(10_000, 0.5)], 60_000),
        ([at(10_000, 6.0)], 0),
        # A larger size that happened to be measured quicker does not raise it.
        ([at(10_000, 2.0), at(20_000, 1.0), at(40_000, 4.0)], 30_000),
    ],
)
def test_the_limit_is_where_flat_search_takes_three_milliseconds(measured, limit):
    assert nearest.flat_limit(measured) == limit


def test_recall_counts_what_is_as_near_as_the_tenth():
    vectors = np.zeros((30, 384), np.float32)
    vectors[:12, 0] = 1.0  # twelve equal ones: any ten of them are right
    vectors[12:, 1] = 1.0
    query = vectors[:1]
    exact = [np.arange(10)]
    assert nearest.recall(vectors, query, exact, [np.arange(2, 12)]) == 1.0
    assert nearest.recall(vectors, query, exact, [np.arange(5, 15)]) == 0.7


def test_rows_lie_in_clusters():
    rows = nearest.clustered(1000)
    assert rows.shape == (1000, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    near = (rows @ rows.T > 0.3).sum(axis=1)
    assert (near == 50).all()
    assert (nearest.clustered(1000) == rows).all()
