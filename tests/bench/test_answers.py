import csv
import gzip
import json
from pathlib import Path

import pytest

from bench import answers, corpus
from bench.corpus import Corpus, build_corpus, open_corpus
from rag import store


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """64 passages of two businesses, and the folder that their index is kept in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "_FLOOR_QUESTIONS", 300)
        patch.setattr(corpus, "_STEP", 40)
        patch.setattr(answers, "_in_a_process", lambda work, *arguments: work(*arguments))
        folder = tmp_path_factory.mktemp("cache")
        found, timed = answers.bench_corpus(64, "minilm", 30, 0, folder)
        yield found, timed, folder


def test_figures_say_what_was_asked_of_what(small):
    found, timed, _ = small
    assert (found["passages"], found["queries"], found["answerable"]) == (64, 30, 27)
    assert (found["embedder"], found["vectors"], found["search"]) == ("minilm", "embedded", "flat")
    assert found["keys"]["chunk"] == 64
    assert sum(found["outcomes"].values()) == 30
    assert found["outcomes"]["right"] > 20
    assert found["right_passage_first"] > 18
    assert found["languages"]["en"]["p50_ms"] == found["p50_ms"]
    assert {"clean", "embed", "search", "verify"} <= set(found["stages"])
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["p100_ms"]
    assert found["own_mb"] <= found["rss_mb"]
    assert found["index_mb"] > 0
    for one in timed:
        assert (
            one.total_ms
            >= sum(ms for stage, ms in one.stages_ms.items() if stage not in ("total",)) - 0.1
        )


def test_the_index_is_kept_for_the_next_run(small, monkeypatch):
    _, _, folder = small

    def rebuild(*_, **__):
        raise AssertionError("built again")

    monkeypatch.setattr(store, "rebuild", rebuild)
    monkeypatch.setattr(corpus, "_FLOOR_QUESTIONS", 300)
    build_corpus(Corpus(64, ("en",)), "minilm", folder)
    index = open_corpus(Corpus(64, ("en",)), "minilm", folder)
    assert len(index.kb.passages) == 64
    assert index.calibrations["en"].set == "synthetic"


def test_a_build_that_was_stopped_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_STEP", 40)
    rebuild, embedded = store.rebuild, []

    def counted(*args, **kwargs):
        built = rebuild(*args, **kwargs)
        embedded.append((built.reused, built.embedded))
        return built

    monkeypatch.setattr(store, "rebuild", counted)
    build_corpus(Corpus(64, ("en",)), "minilm", tmp_path)
    assert embedded == [(0, 40), (40, 24)]


def test_large_corpora_have_made_vectors(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "MODEL_LIMIT", 40)
    monkeypatch.setattr(corpus, "_FLOOR_QUESTIONS", 300)
    monkeypatch.setattr("bench.made_vectors._SAMPLE", 100)
    monkeypatch.setattr(answers, "_in_a_process", lambda work, *arguments: work(*arguments))
    found, _ = answers.bench_corpus(64, "minilm", 20, 0, tmp_path)
    assert found["vectors"] == "made"
    assert found["keys"]["made"] == 0
    assert sum(found["outcomes"].values()) == 20


def test_a_process_of_its_own_says_what_went_wrong(tmp_path):
    work = tmp_path / "made"
    answers._in_a_process(Path.mkdir, work)
    assert work.is_dir()
    with pytest.raises(FileExistsError):
        answers._in_a_process(Path.mkdir, work)


def test_results_by_question_are_kept(small, tmp_path):
    _, timed, _ = small
    path = answers.write_queries("rag-64", timed, tmp_path)
    assert path.name == "rag-64-queries.csv.gz"
    rows = list(csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()))
    assert [row["id"] for row in rows] == [one.question.id for one in timed]
    assert {row["language"] for row in rows} == {"en"}
    assert [row["answerable"] for row in rows].count("0") == 3
    assert float(rows[0]["total_ms"]) == pytest.approx(timed[0].total_ms, abs=0.001)
    assert float(rows[0]["embed_ms"]) == timed[0].stages_ms["embed"]
    before = path.read_bytes()
    assert answers.write_queries("rag-64", timed, tmp_path).read_bytes() == before


def test_the_command_prints_and_writes(small, monkeypatch, tmp_path, capsys):
    from agent import cli

    found, timed, _ = small
    monkeypatch.setattr(answers, "bench_corpus", lambda *_: (found, timed))
    monkeypatch.setattr("bench.results.RESULTS", tmp_path)
    assert cli.main(["bench", "rag", "--passages", "1000", "--json", "--no-save"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == 30
    assert cli.main(["bench", "rag", "--passages", "1000", "--no-save"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("30 queries over 64 passages: ")
    assert any(line.startswith("  in en ") for line in lines)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--passages", "10"], "--passages takes 1000 or more, --queries 1 or more"),
        (["--passes", "0"], "--passes takes 1 or more"),
        (
            ["--passages", "200000", "--embedder", "e5"],
            "--embedder e5 takes at most 100,000 passages",
        ),
    ],
)
def test_wrong_usage_is_one_line(arguments, line, capsys):
    from agent import cli

    assert cli.main(["bench", "rag", *arguments]) == 2
    assert capsys.readouterr().err == f"frontdesk bench: {line}\n"
