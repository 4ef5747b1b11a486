import json
import subprocess
import sys

import numpy as np
import pytest

from frontdesk import KnowledgeBaseError
from rag import calibration, documents, open_index, search, store
from rag.index import build
from rag.pieces import stopwords, whole_words
from tests.rag.shop_kb import HOURS, REPAIRS, floors, write_kb


class OtherEmbedder:
    """The same vectors under another name."""

    def __init__(self, real):
        self.hash, self.dim, self.encode, self.embed = "other", real.dim, real.encode, real.embed


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
    own = float(index.passage_vectors[0] @ vector)
    sentences = [float(index.sentence_vectors[n] @ vector) for n in index.sentence_numbers(0)]
    assert hits[0].score == pytest.approx(max(own, *sentences))
    assert max(sentences) > own


def test_sentences_know_their_word_pieces(index):
    sentence = index.sentences[1]
    assert sentence.text == "The workshop closes at 4:30 p.m."
    pieces = index.pieces[sentence.start : sentence.end]
    assert "".join(pieces).replace("#", "") == "theworkshopclosesat4:30p.m."


def test_support_is_high_for_words_that_are_there(index, embedder):
    passage = index.passage_number("kb-repairs#3")
    there, not_there = (
        embedder.embed(text) for text in ("how much is a helmet", "how much is a skateboard")
    )
    helmet, _ = index.support(there, index.weights(there.pieces, ()), passage)
    skateboard, by_sentence = index.support(not_there, index.weights(not_there.pieces, ()), passage)
    assert helmet > 0.7 > 0.6 > skateboard
    assert len(by_sentence) == 2
    assert max(by_sentence) <= skateboard + 1e-6


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


def test_saved_and_loaded_alike(tmp_path, embedder):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    (folder / "floors.json").write_text(calibration.dump({"en": floors(embedder.hash)}), "utf-8")
    made = open_index(folder, embedder)
    path = store.artefact_path(folder)
    assert path.is_file()
    assert list(path.parent.iterdir()) == [path]
    read = store.load(path, documents.load(folder), embedder)
    assert read.sentences == made.sentences
    assert read.pieces == made.pieces
    assert read.calibrations == made.calibrations == {"en": floors(embedder.hash)}
    for name in ("passage_vectors", "sentence_vectors", "piece_vectors"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    written = path.stat().st_mtime_ns
    open_index(folder, embedder)
    assert path.stat().st_mtime_ns == written


def test_changed_documents_are_indexed_again(tmp_path, embedder):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    open_index(folder, embedder)
    write_kb(folder, repairs=REPAIRS)
    assert len(open_index(folder, embedder).kb.passages) == 6
    store.artefact_path(folder).write_bytes(b"not an index")
    assert len(open_index(folder, embedder).kb.passages) == 6


def test_another_embedder_is_refused(tmp_path, embedder):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    open_index(folder, embedder)
    with pytest.raises(KnowledgeBaseError, match=r"another embedder .* run: frontdesk kb build$"):
        open_index(folder, OtherEmbedder(embedder))


def test_other_floors_are_refused(tmp_path, embedder):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    own = folder / "floors.json"
    own.write_text(calibration.dump({"en": floors(embedder.hash)}), "utf-8")
    index = open_index(folder, embedder)
    changed = {"en": floors(embedder.hash, floor=0.01)}
    store.save(build(index.kb, embedder, changed), store.artefact_path(folder))
    with pytest.raises(KnowledgeBaseError, match=r"other floors .* run: frontdesk kb build$"):
        open_index(folder, embedder)
    own.write_text(calibration.dump({"en": floors("someone else's")}), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"another embedder; run: frontdesk kb calibrate"):
        open_index(folder, embedder)
    own.write_text("{]", "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"does not hold floors .* frontdesk kb calibrate"):
        open_index(folder, embedder)


def test_other_documents_are_refused_when_loaded_by_hand(tmp_path, embedder):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    open_index(folder, embedder)
    write_kb(folder, hours=HOURS + "\nMore.")
    with pytest.raises(KnowledgeBaseError, match="made from other documents"):
        store.load(store.artefact_path(folder), documents.load(folder), embedder)


def test_a_folder_that_cannot_be_written_to(tmp_path, embedder, caplog):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    (folder / ".frontdesk").write_text("in the way", "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3
    assert "kept in memory only" in caplog.text


def test_default_floors_are_the_sample_clinics_and_say_so(tmp_path):
    folder = write_kb(tmp_path / "kb", hours=HOURS)
    sample = calibration.read(search.__globals__["SAMPLE_KB"] / "floors.json")["en"]
    default = calibration.for_folder(folder)["en"]
    assert default.is_default
    assert not sample.is_default
    assert (default.floor, default.support_floor) == (sample.floor, sample.support_floor)


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
