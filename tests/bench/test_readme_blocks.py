"""Every figure block of the README, on result files written here."""

import json

import pytest

from bench import figures, readme, readme_retrieval

MACHINE = {"cpu": "a CPU", "cores": 2, "date": "2026-01-02", "commit": "abc"}
RATE = {"rate": 0.25, "n": 8, "low": 0.0715, "high": 0.5907}
RANKED = {
    "recall_at_1": 0.5,
    "recall_at_3": 0.75,
    "hit_at_10": 1.0,
    "mrr": 0.6,
    "ndcg": 0.7,
    "n": 3,
}
TIMES = {f"p{p}_ms": p / 10 for p in (50, 70, 90, 95, 100)}
MEASURED = "a CPU, 2 cores, 2026-01-02, commit abc."


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    monkeypatch.setattr(readme_retrieval, "RESULTS", tmp_path)

    def write(name, **found):
        (tmp_path / f"{name}.json").write_text(json.dumps({"machine": MACHINE, **found}), "utf-8")

    return write


def test_retrieval(results):
    legs = dict.fromkeys(("dense", "hybrid", "words", "quoted"), RANKED)
    right = {"dense": 10, "hybrid": 8, "words": 7, "quoted": 9}
    core = {"typed": {"n": 10, "raw": right, "rewritten": {**right, "words": 6}}}
    results("retrieval", raw=legs, rewritten=legs, core=core)
    lines = readme.BLOCKS["retrieval"]().splitlines()
    assert lines[0] == "| questions | ranked by | recall@1 | recall@3 | hit@10 | MRR | nDCG |"
    assert lines[1] == "|---|---|---|---|---|---|---|"
    assert lines[2] == "| raw | meaning (cosine) | 0.500 | 0.750 | 1.000 | 0.600 | 0.700 |"
    assert "words alone (BM25) 7 and 6; how they are quoted (the score) 9 and 9." in lines[11]
    assert lines[-1] == f"`frontdesk eval retrieval` over 3 heard questions on {MEASURED}"


def test_rag_by_size_and_by_language(results):
    shared = {
        "queries": 2000, "search": "hnsw", "stages": {"embed": TIMES, "search": TIMES},
        "own_mb": 300.0, "index_mb": 100.0, **TIMES,
    }  # fmt: skip
    languages = {"en": {"queries": 334, **TIMES}, "hi": {"queries": 333, **TIMES}}
    results("rag-1000000", passages=1_000_000, embedder="minilm", **shared)
    results("rag-40000", passages=40_000, embedder="minilm", **shared)
    results("rag-40000-e5", passages=40_000, embedder="e5", languages=languages, **shared)
    lines = readme.BLOCKS["rag"]().splitlines()
    times = "5.0 | 7.0 | 9.0 | 9.5 | 10.0 | 5.0 | 5.0 | 300.0 | 100.0"
    assert lines[2:5] == [
        f"| 40,000 | e5, hnsw | {times} |",
        f"| 40,000 | minilm, hnsw | {times} |",
        f"| 1,000,000 | minilm, hnsw | {times} |",
    ]
    assert lines[-1] == f"`frontdesk bench rag --passages N`, 2000 queries, on {MEASURED}"
    lines = readme.BLOCKS["rag_languages"]().splitlines()
    assert lines[2] == "| en | 334 | 5.0 | 7.0 | 9.0 | 9.5 | 10.0 |"
    assert lines[-1] == f"40,000 passages, on {MEASURED}"


def test_xquad(results):
    found = {"words": 0.9, "dense": 0.8, "quoted": 0.95}
    top1 = {"minilm, en": {"clean": found, "heard": found}, "e5, hi": {"hindi": found}}
    published = {"clean": 0.913, "heard": 0.771, "hindi": 0.9}
    results("public-xquad", passages=240, questions=373, published_bm25=published, top1=top1)
    lines = readme.BLOCKS["xquad"]().splitlines()
    assert lines[3] == "| read aloud, as recognised | en | 0.771 | 0.900 | 0.800 | 0.950 |"
    assert lines[4] == "| in Hindi | hi | 0.9 | 0.900 | 0.800 | 0.950 |"
    assert "373 questions over 240 passages" in lines[-1]


def test_refusals(results):
    kinds = {
        "kinds": {
            "asked": {"n": 8, "over_refused": RATE, "wrong": RATE},
            "not there": {"n": 8, "wrongly_answered": RATE, "auc": 0.9},
        }
    }
    results("public-stackfaq", **kinds)
    results("public-covid", whole=kinds, pairs=kinds)
    results(
        "public-clinc",
        out_of_scope={"n": 8, "wrongly_answered": RATE},
        clinic={"n": 8, "over_refused": RATE},
    )
    lines = readme.BLOCKS["refusals"]().splitlines()
    assert lines[2] == "| StackFAQ | asked | over refused | 25.0 % | 7.1 to 59.1 % | 8 |"
    assert lines[4] == "| StackFAQ | not there | wrongly answered | 25.0 % | 7.1 to 59.1 % | 8 |"
    assert len([line for line in lines if line.startswith("| ")]) == 1 + 3 * 3 + 2


def test_blocks_are_put_where_the_text_names_them(results):
    results("rag-40000-e5", passages=40_000, languages={"ta": {"queries": 1, **TIMES}})
    text = "a\n<!-- figures: rag_languages -->\nold\n<!-- end -->\nb\n"
    found = readme.rendered(text)
    assert "old" not in found
    assert "| ta | 1 | 5.0 | 7.0 | 9.0 | 9.5 | 10.0 |\n" in found
    assert readme.rendered(found) == found
