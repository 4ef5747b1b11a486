import pytest

from frontdesk import ConfigError, KnowledgeBaseError
from rag.chunkers import CHUNKERS, Source
from rag.chunking import bake_off, table
from tests.rag.table_embedder import TableEmbedder

TABLE = {
    "Open at 8.": [1, 0, 0, 0],
    "Fees are 50.": [0, 1, 0, 0],
    "Open at 8. Fees are 50.": [0.8, 0.8, 0, 0],
    "Fees rose.": [0.3, 0.9, 0, 0],
    "Park here.": [0, 0, 1, 0],
    "when open": [1, 0, 0, 0.1],
    "what fees": [0.3, 1, 0, 0],
}
DOCUMENTS = [
    ("kb#1", Source("Open at 8. Fees are 50.", "en", "paragraph", "")),
    ("kb#2", Source("Fees rose.", "en", "paragraph", "")),
    ("kb#3", Source("Park here.", "en", "paragraph", "")),
    ("kb#4", Source(" ", "en", "paragraph", "")),
]
QUESTIONS = [("when open", ["kb#1"]), ("what fees", ["kb#2", "kb#1"]), ("pizza", [])]


def measured(**options):
    return bake_off(DOCUMENTS, QUESTIONS, TableEmbedder(TABLE), **options)


def test_passages_are_ranked_by_their_best_chunk_and_counted_once():
    result = measured(names=["sentence_window", "recursive"], tokens=16)
    counts = {key: result[key] for key in ("embedder", "tokens", "passages")}
    assert counts == {"embedder": "table", "tokens": 16, "passages": 4}
    assert (result["questions"], result["skipped"]) == (2, 1)
    windows, whole = result["chunkers"]["sentence_window"], result["chunkers"]["recursive"]
    assert list(result["chunkers"]) == ["sentence_window", "recursive"]
    assert (windows["chunks"], windows["mean_tokens"]) == (4, 2.5)
    assert (whole["chunks"], whole["mean_tokens"]) == (3, 3.3)
    # Two chunks of kb#1 are one hit: kb#2 is second for "what fees" at the latest.
    names = ("recall_at_1", "recall_at_3", "hit_at_10", "mrr", "n")
    assert [windows[name] for name in names] == [0.75, 1.0, 1.0, 1.0, 2]
    assert windows["ndcg"] == 1.0
    assert 0 < windows["query_p50_ms"] < 1000
    assert 0 <= windows["build_s"] < 60


def test_a_chunker_that_finds_the_wrong_passage_scores_less():
    questions = [("when open", ["kb#3"])]
    result = bake_off(DOCUMENTS, questions, TableEmbedder(TABLE), names=["recursive"])
    found = result["chunkers"]["recursive"]
    assert found["recall_at_1"] == 0.0
    assert found["mrr"] in (0.5, 0.3333)


def test_a_gold_passage_that_is_not_there_is_a_miss():
    questions = [("when open", ["kb#1"]), ("what fees", ["kb-gone#1"])]
    result = bake_off(DOCUMENTS, questions, TableEmbedder(TABLE), names=["fixed"])
    assert result["skipped"] == 0
    assert result["chunkers"]["fixed"]["recall_at_1"] == 0.5


def test_every_chunker_takes_part_unless_named():
    assert list(measured()["chunkers"]) == list(CHUNKERS)


def test_progress_is_told_by_chunker():
    told = []
    measured(names=["fixed"], progress=lambda *at: told.append(at))
    assert told == [("fixed", n, 6) for n in range(1, 7)]


def test_the_table_is_markdown_that_lines_up():
    result = measured(names=["sentence_window", "fixed"])
    heading, blank, *lines = table(result).splitlines()
    assert heading == (
        "table, chunks of up to 64 tokens, 4 passages, 2 questions "
        "(1 without a gold passage skipped)"
    )
    assert blank == ""
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == [
        "chunker", "recall@1", "recall@3", "hit@10", "MRR", "nDCG@10", "chunks", "tokens a chunk",
        "build s", "query ms p50",
    ]  # fmt: skip
    assert cells[1][0] == "-" * 15
    assert cells[1][1] == "-------:"
    assert [row[0] for row in cells[2:]] == ["sentence_window", "fixed"]
    assert cells[2][1:8] == ["0.750", "1.000", "1.000", "1.000", "1.000", "4", "2.5"]


def test_what_cannot_be_measured_is_refused():
    embedder = TableEmbedder(TABLE)
    with pytest.raises(KnowledgeBaseError, match="none of 1 questions names the passage that"):
        bake_off(DOCUMENTS, QUESTIONS[2:], embedder)
    with pytest.raises(KnowledgeBaseError, match="none of 1 passages holds text; add documents"):
        bake_off(DOCUMENTS[3:], QUESTIONS, embedder)
    with pytest.raises(ConfigError, match="unknown chunker 'other'"):
        bake_off(DOCUMENTS, QUESTIONS, embedder, names=["other"])
