"""The answer path alone: text in, verdict out, by stage and by language."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from tqdm import tqdm

from agent.garbage import set_aside
from agent.retrieval import index_of, policy_of
from agent.settings import load_settings
from bench.corpus import Corpus, build_corpus, index_files, open_corpus
from bench.recordings import ROOT
from bench.results import RESULTS, percentiles
from bench.synthetic import LANGUAGES
from rag import Policy, answer, make_query, questions
from rag.artefact import kinds_of
from rag.entry import facts_of
from rag.evaluate import judge_one
from rag.index import Index
from rag.questions import Question
from rag.sentences import sentence_spans

CACHE = ROOT / "out" / "bench"
_WARM_UP = 100
_FACTS_OF = 40_000


@dataclass(frozen=True, slots=True)
class Timed:
    """One question, what came of it, and the milliseconds from text to verdict.

    ``outcome`` is how the verdict compares with the gold answer, ``is_first`` whether a passage
    that answers it came first. ``stages_ms`` are those of the verdict, and ``clean``: the question
    made from the text. The verdict itself is not kept: with thousands of them in memory the
    garbage collector halts a query for 100 ms.
    """

    question: Question
    decision: str
    reason: str
    outcome: str
    is_first: bool
    total_ms: float
    stages_ms: dict[str, float]


def bench_sample(passes: int) -> dict[str, Any]:
    """Time every question of the configured knowledge base, as heard, ``passes`` times."""
    settings = load_settings()
    index = index_of(settings)
    rows = [row for row in questions.read(settings.kb / questions.QUESTIONS_FILE) if row.asr]
    timed = timings(index, rows * passes, policy_of(settings), warm_up=rows)
    return {"passages": len(index.kb.passages), **figures(timed), **memory(index)}


def bench_corpus(
    passages: int, embedder_name: str, queries: int, seed: int, cache: Path = CACHE
) -> tuple[dict[str, Any], list[Timed]]:
    """Time ``queries`` questions over ``passages`` synthetic passages, the languages in turn.

    English for MiniLM, six languages for a multilingual embedder. The index is kept below
    ``cache`` for the next run.
    """
    languages = ("en",) if embedder_name == "minilm" else LANGUAGES
    corpus = Corpus(passages, languages, seed)
    _in_a_process(build_corpus, corpus, embedder_name, cache)
    index = open_corpus(corpus, embedder_name, cache)
    warm_up = corpus.questions(_WARM_UP, draw=2)
    timed = timings(index, corpus.questions(queries), Policy(), warm_up=warm_up)
    found = {
        "passages": passages,
        "embedder": embedder_name,
        "vectors": "embedded" if corpus.is_embedded else "made",
        "search": type(index.nearest).__name__.lower(),
        "keys": kinds_of(index),
        "seed": seed,
        **figures(timed),
        "languages": {
            language: figures([one for one in timed if one.question.kind == language])
            for language in languages
        },
        **memory(index),
        "facts": facts_cost(index),  # last, for it fills what is kept of texts
    }
    return found, timed


def facts_cost(index: Index) -> dict[str, Any]:
    """Reading the facts of up to 40,000 passages again, as a build does, on one thread."""
    times = []
    for number in range(min(len(index.kb.passages), _FACTS_OF)):
        passage = index.kb.passages[number]
        spans = tuple(sentence_spans(passage.text))
        start = time.perf_counter_ns()
        facts_of(passage, spans)
        times.append((time.perf_counter_ns() - start) / 1e6)
    return {
        "passages": len(times),
        "seconds": round(sum(times) / 1000, 1),
        **percentiles(times),
    }


def timings(
    index: Index,
    asked: Sequence[Question],
    policy: Policy,
    *,
    warm_up: Sequence[Question] = (),
) -> list[Timed]:
    """Every question from its text to a verdict, one after the other, after a warm-up.

    What is loaded by then is left out of garbage collection, as in the server.
    """
    for question in warm_up:
        _timed(index, question, policy)
    set_aside()
    bar = tqdm(asked, unit="question", disable=not sys.stderr.isatty())
    return [_timed(index, question, policy) for question in bar]


def figures(timed: Sequence[Timed]) -> dict[str, Any]:
    """Percentiles of the whole and of each stage, and how the verdicts compare with the gold."""
    stages = list(dict.fromkeys(stage for one in timed for stage in one.stages_ms))
    outcomes = [one.outcome for one in timed]
    return {
        "queries": len(timed),
        **percentiles([one.total_ms for one in timed]),
        "stages": {
            stage: percentiles([t.stages_ms[stage] for t in timed if stage in t.stages_ms])
            for stage in stages
        },
        "outcomes": {name: outcomes.count(name) for name in sorted(set(outcomes))},
        "right_passage_first": sum(one.is_first for one in timed),
        "answerable": sum(bool(one.question.relevant) for one in timed),
    }


def memory(index: Index) -> dict[str, float]:
    """Megabytes: resident, of those this process's own, and of the index's files on disk.

    The rest of what is resident are pages of files, of which there is one copy for all processes.
    """
    used = psutil.Process().memory_info()
    own = used.rss - getattr(used, "shared", 0)  # Linux tells which pages are of files
    size = sum(path.stat().st_size for path in index_files(index.kb.folder))
    return {
        "rss_mb": round(used.rss / 1e6, 1),
        "own_mb": round(own / 1e6, 1),
        "index_mb": round(size / 1e6, 1),
    }


def write_queries(name: str, timed: Iterable[Timed], folder: Path = RESULTS) -> Path:
    """One row a question into ``NAME-queries.csv.gz``; return the file."""
    timed = list(timed)
    stages = dict.fromkeys(stage for one in timed for stage in one.stages_ms)
    stages.pop("total", None)  # the verdict's own, without cleaning
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(
        ["id", "language", "answerable", "decision", "reason", "outcome", "first", "total_ms"]
        + [f"{stage}_ms" for stage in stages]
    )
    for one in timed:
        rows.writerow(
            [
                one.question.id,
                one.question.kind,
                int(bool(one.question.relevant)),
                one.decision,
                one.reason,
                one.outcome,
                int(one.is_first),
                round(one.total_ms, 3),
                *(one.stages_ms.get(stage, "") for stage in stages),
            ]
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-queries.csv.gz"
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    return path


def _in_a_process(work: Callable[..., None], *arguments: object) -> None:
    """Do ``work`` in a process of its own, whose memory is gone when it ends."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(work, *arguments).result()


def _timed(index: Index, question: Question, policy: Policy) -> Timed:
    start = time.perf_counter_ns()
    query = make_query(question.asr or question.text, question.context, fillers=index.kb.fillers)
    cleaned = time.perf_counter_ns()
    verdict = answer(query, index, policy)
    end = time.perf_counter_ns()
    stages = {"clean": round((cleaned - start) / 1e6, 3), **verdict.timings_ms}
    return Timed(
        question,
        verdict.decision.value,
        verdict.reason.value,
        judge_one(question, verdict),
        bool(verdict.hits) and verdict.hits[0].passage.id in question.relevant,
        (end - start) / 1e6,
        stages,
    )
