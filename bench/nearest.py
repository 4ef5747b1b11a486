"""From how many rows on the graph is worth it: flat search against HNSW, and what both cost.

python -m bench.nearest [--rows N ...] [--data FOLDER]

Synthetic rows are clusters of fifty around random centres. Where FOLDER holds ``dstc10_kb.jsonl``
and ``dstc_wrong_context_numbers.jsonl`` (12,039 passages of small businesses and 524 questions),
recall is measured on the embedder's own vectors too. Searches run on one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bench.results import write_result
from rag.nearest import FLAT_LIMIT, Flat, Hnsw

Vectors = NDArray[np.float32]

_ROWS = (10_000, 40_000, 120_000, 400_000, 1_000_000)
_DIM = 384
_QUERIES = 500
_K = 10
_PER_CLUSTER = 50
# How far rows lie from their centre, which is 1 long: cosines within a cluster are about 0.5.
_SPREAD = 1.0
# What search may take of the 10 ms that an answer has. Flat is exact and needs nothing installed,
# so it is used as far as it goes.
_FLAT_MS = 3.0
_DATA = Path("../shared/data")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write ``bench/results/nearest.json``."""
    parser = argparse.ArgumentParser(prog="python -m bench.nearest")
    parser.add_argument("--rows", type=int, nargs="+", default=list(_ROWS))
    parser.add_argument("--data", type=Path, default=_DATA)
    args = parser.parse_args(argv)
    synthetic = []
    for count in sorted(args.rows):
        vectors = clustered(count + _QUERIES)
        synthetic.append(measure(vectors[_QUERIES:], vectors[:_QUERIES]))
        print(json.dumps(synthetic[-1]))
    figures: dict[str, Any] = {
        "dim": _DIM,
        "k": _K,
        "flat_ms": _FLAT_MS,
        "flat_limit": flat_limit(synthetic),
        "flat_limit_in_use": FLAT_LIMIT,
        "synthetic": synthetic,
    }
    passages = args.data / "dstc10_kb.jsonl"
    if passages.exists():
        figures["real"] = real(passages, args.data / "dstc_wrong_context_numbers.jsonl")
        print(json.dumps(figures["real"]))
    else:
        print(f"no {passages}: recall on real vectors left out")
    print(f"flat up to {figures['flat_limit']} rows; wrote {write_result('nearest', figures)}")
    return 0


def clustered(count: int, seed: int = 0) -> Vectors:
    """``count`` unit vectors, float32 (count, 384), in clusters and in random order."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((-(-count // _PER_CLUSTER), _DIM), np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows: Vectors = np.repeat(centres, _PER_CLUSTER, axis=0)[:count]
    rows += rng.standard_normal(rows.shape, np.float32) * np.float32(_SPREAD / _DIM**0.5)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rng.shuffle(rows)
    return rows


def measure(vectors: Vectors, queries: Vectors) -> dict[str, Any]:
    """Both over the same rows: milliseconds a search, recall, seconds to build, megabytes."""
    flat = Flat(vectors)
    flat_ms, exact = timed(flat.search, queries)
    start = time.perf_counter()
    with tqdm(total=len(vectors), desc="graph", unit="row", disable=not sys.stderr.isatty()) as bar:
        built = Hnsw.build(vectors, lambda done, _total: bar.update(done - bar.n))
    build_s = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built.save(folder)
        megabytes = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        hnsw = Hnsw.open(folder)
        hnsw_ms, found = timed(hnsw.search, queries)
    return {
        "rows": len(vectors),
        "queries": len(queries),
        "flat": {**flat_ms, "mb": round(vectors.nbytes / 1e6, 1)},
        "hnsw": {
            **hnsw_ms,
            "recall_at_10": recall(vectors, queries, exact, found),
            "build_s": round(build_s, 1),
            "mb": round(megabytes, 1),
        },
    }


def timed(
    search: Callable[[Vectors, int], tuple[Vectors, NDArray[np.int64]]], queries: Vectors
) -> tuple[dict[str, float], list[NDArray[np.int64]]]:
    """p50 and p95 in ms, observed values, and the rows found for each query."""
    found, taken = [], []
    for query in queries[:20]:  # warm-up, not counted
        search(query, _K)
    for query in queries:
        start = time.perf_counter_ns()
        rows = search(query, _K)[1]
        taken.append((time.perf_counter_ns() - start) / 1e6)
        found.append(rows)
    p50, p95 = np.percentile(taken, (50, 95), method="lower")
    return {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}, found


def recall(
    vectors: Vectors,
    queries: Vectors,
    exact: Sequence[NDArray[np.int64]],
    found: Sequence[NDArray[np.int64]],
) -> float:
    """Share of the rows found that are as near as the tenth nearest, ties at the cut included."""
    right = 0
    for query, best, rows in zip(queries, exact, found, strict=True):
        # 1e-6: two copies of a row may differ in the last digit of their cosines.
        least = float(np.vecdot(vectors[best], query).min()) - 1e-6
        right += int((np.vecdot(vectors[rows], query) >= least).sum())
    return round(right / (len(queries) * _K), 4)


def flat_limit(measured: Sequence[dict[str, Any]]) -> int:
    """From how many rows on flat search takes longer than it may (p50), in steps of 10,000.

    In between the sizes measured, and beyond them, the time is taken to grow with the rows.
    """
    rows = np.array([0, *(m["rows"] for m in measured)], float)
    p50 = np.maximum.accumulate([0.0, *(m["flat"]["p50_ms"] for m in measured)])
    if p50[-1] <= _FLAT_MS:
        limit = float(rows[-1] * _FLAT_MS / p50[-1])
    else:
        limit = float(np.interp(_FLAT_MS, p50, rows))
    return int(limit // 10_000) * 10_000


def real(passages: Path, questions: Path) -> dict[str, Any]:
    """The same on the embedder's vectors of the passages and their questions, in both files."""
    from rag.embedders import make

    embedder = make("minilm")
    rows = [json.loads(line) for line in passages.read_text("utf-8").splitlines()]
    texts = list(dict.fromkeys(row[key] for row in rows for key in ("body", "title")))
    asked = [json.loads(line)["question"] for line in questions.read_text("utf-8").splitlines()]
    with tqdm(total=len(texts), unit="text", disable=not sys.stderr.isatty()) as bar:
        vectors = embedder.encode(texts, progress=lambda done, _total: bar.update(done - bar.n))
    return {"embedder": embedder.name, **measure(vectors, embedder.encode(asked, query=True))}


if __name__ == "__main__":
    raise SystemExit(main())
