"""BM25 against the formula worked out the slow way, its languages and its files."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from frontdesk import KnowledgeBaseError
from rag import bm25
from rag.bm25 import Bm25, terms

TEXTS = [
    "We are open from 9 to 5 on weekdays.",
    "Parking is free behind the building.",
    "The building opens at 8, the parking lot at 7; parking needs a ticket.",
    "Dogs are welcome.",
]


def by_hand(texts, query, k1=1.2, b=0.75):
    """Robertson's BM25 of each text for ``query``."""
    bags = [Counter(terms(text)) for text in texts]
    average = sum(bag.total() for bag in bags) / len(bags)
    scores = []
    for bag in bags:
        damping = k1 * (1 - b + b * bag.total() / average)
        score = 0.0
        for term, times in Counter(terms(query)).items():
            n = sum(term in other for other in bags)
            idf = math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
            score += times * idf * bag[term] * (k1 + 1) / (bag[term] + damping)
        scores.append(score)
    return scores


def test_terms_are_lower_case_words_and_their_grams():
    assert terms("Okay, go!") == ["okay", "~<oka", "~okay", "~kay>", "go", "~<go>"]
    assert terms("I've 24") == ["i", "ve", "~<ve>", "24", "~<24>"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("पार्किंग कहाँ है।", ["पार्किंग", "कहाँ", "है"]),
        ("క్లినిక్ ఎప్పుడు?", ["క్లినిక్", "ఎప్పుడు"]),
        ("પાર્કિંગ ક્યાં છે", ["પાર્કિંગ", "ક્યાં", "છે"]),
        ("ক্লিনিক কখন", ["ক্লিনিক", "কখন"]),
        ("மருத்துவமனை எங்கே", ["மருத்துவமனை", "எங்கே"]),
        ("Cafe\u0301 NAÏVE", ["café", "naïve"]),
        ("क्\u200dष", ["क्ष"]),  # a joiner changes the looks only
    ],
)
def test_words_keep_their_combining_marks(text, words):
    assert [term for term in terms(text) if not term.startswith("~")] == words


def test_scores_are_those_of_the_formula_and_repeated_words_count_again():
    for query in ("is parking free", "parking parking opens", "what are the opening hours"):
        expected = by_hand(TEXTS, query)
        scores, rows = Bm25.build(TEXTS).search(query, 4)
        assert scores.dtype == np.float32
        assert rows.dtype == np.int64
        assert list(rows) == [n for n in np.argsort(-np.array(expected)) if expected[n] > 0]
        assert scores == pytest.approx([expected[n] for n in rows], rel=1e-5)


def test_a_misheard_ending_still_finds_the_text():
    index = Bm25.build(TEXTS)
    assert index.search("bilding behin", 1)[1].tolist() == [1]
    assert index.search("dog welcoming", 1)[1].tolist() == [3]


def test_equal_scores_are_ordered_by_row():
    index = Bm25.build(["same words", "other", "same words", "same words"])
    scores, rows = index.search("same words", 2)
    assert rows.tolist() == [0, 2]
    assert scores[0] == scores[1]


def test_only_texts_that_share_a_term_are_found():
    index = Bm25.build(TEXTS)
    assert index.search("dogs", 10)[1].tolist() == [3]
    for query, k in (("zzz", 5), ("", 5), ("dogs", 0), ("dogs", -1)):
        scores, rows = index.search(query, k)
        assert (len(scores), len(rows)) == (0, 0)


def test_no_texts_and_texts_without_words():
    assert len(Bm25.build([])) == 0
    assert Bm25.build([]).search("parking", 3)[1].tolist() == []
    index = Bm25.build(["", "...", "parking"])
    assert len(index) == 3
    assert index.search("parking", 3)[1].tolist() == [2]


@pytest.fixture(scope="module")
def many():
    """4,000 texts over words as unevenly used as those of a language."""
    rng = random.Random(7)
    words = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{n:x}" for n in range(3000)]
    weights = [1 / (n + 1) for n in range(len(words))]
    texts = [" ".join(rng.choices(words, weights, k=rng.randint(1, 25))) for _ in range(4000)]
    return texts, [" ".join(rng.choices(words, weights, k=8)) for _ in range(30)]


def test_leaving_out_what_cannot_win_changes_nothing(many, monkeypatch):
    texts, queries = many
    monkeypatch.setattr(bm25, "_BATCH", 700)
    monkeypatch.setattr(bm25, "_BLOCK", 8)
    index = Bm25.build(texts)
    probed = []
    searchsorted = np.searchsorted
    monkeypatch.setattr(
        bm25.np,
        "searchsorted",
        lambda a, v, *side: probed.append(len(v)) or searchsorted(a, v, *side),
    )
    for query in queries:
        scores, rows = index.search(query, 5)
        full = np.zeros(len(texts), np.float32)
        for each in index._postings(query):
            full[each.rows] += each.added(slice(None))
        expected = np.lexsort((np.arange(len(full)), -full))[:5]
        assert rows.tolist() == expected.tolist()
        assert scores.tolist() == full[expected].tolist()
    # Twice a query to find its terms, the rest to look up rows in postings.
    assert len(probed) > 4 * len(queries)


def test_the_batches_make_no_difference(many, monkeypatch):
    texts, _ = many
    whole = Bm25.build(texts)
    monkeypatch.setattr(bm25, "_BATCH", 999)
    parts = Bm25.build(texts)
    for name in ("hashes", "starts", "rows", "impacts", "highest"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name


def test_progress_ends_at_the_total(monkeypatch):
    monkeypatch.setattr(bm25, "_BATCH", 3)
    seen = []
    Bm25.build(TEXTS, lambda done, total: seen.append((done, total)))
    assert seen == [(3, 4), (4, 4)]


def test_what_is_saved_is_opened_mapped_and_finds_the_same(tmp_path):
    index = Bm25.build(TEXTS)
    index.save(tmp_path / "bm25")
    opened = Bm25.open(tmp_path / "bm25")
    assert len(opened) == 4
    for array in (opened.rows, opened.impacts, opened.hashes):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
    for query in ("parking", "open on weekdays"):
        for got, expected in zip(opened.search(query, 3), index.search(query, 3), strict=True):
            assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("texts", [[], ["..."]])
def test_an_index_without_a_term_can_be_saved_too(tmp_path, texts):
    Bm25.build(texts).save(tmp_path)
    opened = Bm25.open(tmp_path)
    assert len(opened) == len(texts)
    assert opened.search("parking", 3)[1].tolist() == []


@pytest.mark.parametrize("name", ["rows", "impacts", "starts", "hashes", "highest", "size"])
def test_a_missing_or_cut_file_is_refused(tmp_path, name):
    Bm25.build(TEXTS).save(tmp_path)
    path = tmp_path / f"{name}.npy"
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(KnowledgeBaseError, match=f"cannot open {tmp_path}: "):
            Bm25.open(tmp_path)
    path.unlink()
    with pytest.raises(KnowledgeBaseError, match=f"{name}.npy"):
        Bm25.open(tmp_path)


def test_files_of_two_indexes_are_refused(tmp_path):
    Bm25.build(TEXTS).save(tmp_path)
    Bm25.build(TEXTS[:2]).save(tmp_path / "other")
    (tmp_path / "other" / "starts.npy").rename(tmp_path / "starts.npy")
    with pytest.raises(KnowledgeBaseError, match="do not belong together"):
        Bm25.open(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        Bm25.build(TEXTS).save(tmp_path / "file")
