"""The answer path alone: text in, verdict out, by stage."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from typing import Any

import psutil
from tqdm import tqdm

from agent.settings import load_settings
from bench.recordings import questions
from bench.results import percentiles
from rag import Policy, answer, make_query, open_index


def bench_rag(passes: int) -> dict[str, Any]:
    """Time every question of the sample knowledge base, ``passes`` times, in this process."""
    index = open_index(load_settings().kb)
    policy = Policy()
    rows = [row for row in questions().values() if row["asr"]]
    whole: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    for row in rows:  # warm-up, not counted
        answer(make_query(row["asr"], row["context"]), index, policy)
    for _ in tqdm(range(passes), unit="pass", disable=not sys.stderr.isatty()):
        for row in rows:
            start = time.perf_counter_ns()
            verdict = answer(make_query(row["asr"], row["context"]), index, policy)
            whole.append((time.perf_counter_ns() - start) / 1e6)
            for stage, ms in verdict.timings_ms.items():
                stages[stage].append(ms)
    return {
        "passages": len(index.kb.passages),
        "queries": len(whole),
        **percentiles(whole),
        "stages": {stage: percentiles(values) for stage, values in stages.items()},
        "rss_mb": round(psutil.Process().memory_info().rss / 1e6, 1),
    }
