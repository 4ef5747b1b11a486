import json
import subprocess
import sys

import numpy as np
import pytest

from rag import documents, make_query, search
from rag.answer import best_answer
from rag.building import build
from rag.entry import KINDS
from rag.pieces import stopwords, whole_words
from tests.rag.shop_kb import write_kb


def test_vectors_are_unit_length_and_do_not_depend_on_company(embedder):
    alone = embedder.encode(["what time do you open"])
    together = embedder.encode(["what time do you open", "x " * 300, ""])
    assert together.shape == (3, 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(alone[0], together[0])


def test_close_texts_are_close(embedder):
    a, b, c = embedder.encode(["when do you open", "what are your opening hours", "a flat tire"])
    assert a @ b > 0.5 > a @ c


def test_word_pieces_come_with_their_places(embedder):
    found = embedder.embed("Refills, please")
    assert found.pieces == ("ref", "##ill", "##s", ",", "please")
    assert found.spans == ((0, 3), (3, 6), (6, 7), (7, 8), (9, 15))
    assert found.piece_vectors.shape == (5, 384)


def test_search_finds_by_passage_or_sentence(index, embedder):
    vector = embedder.embed("what time does the workshop close").vector
    hits = index.search(vector, 3)
    assert hits[0].passage.id == "kb-hours#1"
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    cosines, kinds = index.key_cosines(vector, 0)
    own = cosines[kinds == KINDS.index("chunk")].max()
    sentences = [float(index.sentence_vectors[n] @ vector) for n in index.sentence_numbers(0)]
    assert cosines[kinds == KINDS.index("sentence")].max() == pytest.approx(max(sentences))
    assert max(sentences) > own
    assert hits[0].score == pytest.approx(index.cosine(vector, 0))
    assert hits[0].score >= max(sentences)


def test_passages_left_out_count_as_absent(index, embedder):
    vector = embedder.embed("what time does the workshop close").vector
    assert index.search(vector, 99)[0].passage.id == "kb-hours#1"
    left = index.search(vector, 99, {"kb-hours#1"})
    assert len(left) == len(index.kb.passages) - 1
    assert all(h.passage.id != "kb-hours#1" for h in left)
    assert index.search(vector, 2, {p.id for p in index.kb.passages}) == ()


def test_passages_are_found_by_number_and_id(index):
    for number, passage in enumerate(index.kb.passages):
        assert index.passage_number(passage.id) == number
        for n in index.sentence_numbers(number):
            assert index.sentences[n].passage == number
            assert index.sentences[n].text in passage.text
    assert index.sentences[-1] == index.sentences[len(index.sentences) - 1]
    with pytest.raises(IndexError):
        index.sentences[len(index.sentences)]


def test_eight_bits_keep_the_word_pieces(index, embedder):
    passage = index.kb.passages[3]
    whole = embedder.embed(passage.text)
    numbers = index.sentence_numbers(3)
    rows = slice(index.sentences[numbers[0]].start, index.sentences[numbers[-1]].end)
    assert index.pieces[rows] == whole.pieces
    cosines = (index.piece_vectors[rows] * whole.piece_vectors).sum(axis=1)
    assert cosines.min() > 0.999


def test_sentences_know_their_word_pieces(index):
    sentence = index.sentences[1]
    assert sentence.text == "The workshop closes at 4:30 p.m."
    pieces = index.pieces[sentence.start : sentence.end]
    assert "".join(pieces).replace("#", "") == "theworkshopclosesat4:30p.m."


def test_focus_weighs_twice(index, embedder):
    asked = embedder.embed("how much is a helmet skateboard")
    plain = index.weights(asked.pieces, ())
    focused = index.weights(asked.pieces, ("skateboard",))
    at = [n for n, piece in enumerate(asked.pieces) if piece.strip("#") in "skateboard"]
    rest = asked.pieces.index("helmet") if "helmet" in asked.pieces else 0
    assert plain.sum() == pytest.approx(1)
    assert focused.sum() == pytest.approx(1)
    ratio = (focused[at[-1]] / focused[rest]) / (plain[at[-1]] / plain[rest])
    assert ratio == pytest.approx(2, rel=1e-4)


def test_a_passage_longer_than_the_model_reads(tmp_path, embedder):
    long = " ".join(f"Rule {n} says that bicycles must be parked in rack {n}." for n in range(40))
    kb = documents.load(write_kb(tmp_path, rules=long))
    index = build(kb, embedder, {})
    assert len(index.sentences) == 40
    assert all(s.end > s.start for s in index.sentences[:18])
    last = index.sentences[-1]
    assert "".join(index.pieces[last.start : last.end]).startswith("rule39says")


def test_search_on_the_sample_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = search("what time do you open on saturday")
    assert len(found) == 3
    assert found[0][0] == "kb-hours#2"
    assert 0.5 < found[0][1] < 1
    assert found[0][1] >= found[1][1] >= found[2][1]
    assert search("what time do you open on saturday", 1) == found[:1]
    assert search("   ") == []


def test_importing_loads_no_model():
    code = (
        "import sys, rag, json;"
        "print(json.dumps([m for m in ('onnxruntime', 'tokenizers') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_whole_words():
    words = whole_words(["##x", "re", "##fill", "##s", "the", "5"])
    assert [(w.text, w.start, w.end) for w in words] == [
        ("x", 0, 1),
        ("refills", 1, 4),
        ("the", 4, 5),
        ("5", 5, 6),
    ]
    assert [w.has_subject for w in words] == [True, True, False, False]
    assert whole_words([]) == []


def test_stopwords_are_words():
    assert {"the", "what", "?", "s"} <= stopwords()
    assert "# Words that say nothing" not in stopwords()


@pytest.mark.parametrize("beside", ["We open at 9 a.m.\n", ""])
def test_a_paragraph_that_the_tokenizer_makes_nothing_of(tmp_path, embedder, beside):
    folder = write_kb(tmp_path, odd=f"\ufffd\ufffd\ufffd\n\n{beside}")
    index = build(documents.load(folder), embedder, {})
    found = best_answer(make_query("when do you open"), index)
    assert len(index.kb.passages) == 1 + bool(beside)
    assert found.hits[0].passage.text == (beside.strip() or "\ufffd" * 3)
