import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from frontdesk import KnowledgeBaseError
from rag import calibration, documents, open_index, store
from rag.artefact import kinds_of
from rag.entry import Recipe
from rag.facts import read
from rag.floor import scorer_of
from tests.rag.shop_kb import HOURS, REPAIRS, floors, write_kb


class OtherEmbedder:
    """The same vectors under another name."""

    name = hash = "other"

    def __init__(self, real):
        self.dim, self.max_tokens = real.dim, real.max_tokens
        self.encode, self.embed, self.token_spans = real.encode, real.embed, real.token_spans

    def embed_all(self, texts):
        return [self.embed(text) for text in texts]


class Counting(OtherEmbedder):
    """Counts the passages it embeds."""

    def __init__(self, real):
        super().__init__(real)
        self.seen = []
        self.embed = lambda text, query=False: self.seen.append(text) or real.embed(text)


@pytest.fixture
def folder(tmp_path):
    return write_kb(tmp_path / "kb", hours=HOURS)


def own_floors(embedder):
    return {"en": floors(embedder.hash, scorer=scorer_of(embedder))}


def in_service(folder):
    home = folder / ".frontdesk"
    return home / (home / "current").read_text("utf-8").strip()


def test_read_as_it_was_built(folder, embedder):
    (folder / "floors.json").write_text(calibration.dump(own_floors(embedder)), "utf-8")
    made = open_index(folder, embedder)
    first = in_service(folder)
    read = open_index(folder, embedder)
    assert in_service(folder) == first
    assert list(read.sentences) == list(made.sentences)
    assert list(read.kb.passages) == list(documents.load(folder).passages)
    assert dict(read.kb.texts) == {"kb-hours": HOURS}
    assert read.calibrations == made.calibrations == own_floors(embedder)
    assert isinstance(read.keys, np.memmap)
    kinds = kinds_of(read)
    assert kinds["chunk"] == 3
    assert kinds["sentence"] == len(read.sentences)


def test_what_has_not_changed_is_taken_over(folder, embedder):
    counting = Counting(embedder)
    before = store.rebuild(folder, counting)
    assert (before.reused, before.embedded) == (0, 3)
    write_kb(folder, hours=HOURS.replace("1 p.m.", "2 p.m."), repairs=REPAIRS)
    counting.seen.clear()
    after = store.rebuild(folder, counting)
    assert (after.reused, after.embedded) == (2, 4)
    assert not any("Christmas" in text for text in counting.seen)
    whole = open_index(folder, counting)
    fresh = store.building.build(documents.load(folder), counting, {})
    np.testing.assert_array_equal(whole.keys, fresh.keys)
    np.testing.assert_array_equal(whole.piece_values, fresh.piece_values)
    assert list(whole.sentences) == list(fresh.sentences)
    assert whole.pieces[0 : len(whole.pieces)] == fresh.pieces[0 : len(fresh.pieces)]
    assert whole.weights(["tire"], ()).tolist() == fresh.weights(["tire"], ()).tolist()


def test_files_that_have_not_changed_are_not_read_again(folder, embedder, monkeypatch):
    write_kb(folder, repairs=REPAIRS)
    store.rebuild(folder, embedder)
    read = []
    real = documents.read
    monkeypatch.setattr(documents, "read", lambda path: read.append(path.name) or real(path))
    write_kb(folder, hours=HOURS + "\nWe are in Bay Street.\n")
    store.rebuild(folder, embedder)
    assert read == ["kb-hours.md"]


def test_another_recipe_is_another_index(folder, embedder):
    open_index(folder, embedder)
    first = in_service(folder)
    plain = open_index(folder, embedder, Recipe(expand=False, chunker="sentence_window"))
    assert in_service(folder) != first
    kinds = kinds_of(plain)
    assert kinds["made"] == 0
    assert kinds["chunk"] == 6


def test_a_damaged_index_is_built_again(folder, embedder, caplog):
    open_index(folder, embedder)
    (in_service(folder) / "meta.json").write_text("{", "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3
    assert "building it again" in caplog.text
    with (in_service(folder) / "keys.f32").open("ab") as file:
        file.write(b"more")
    with pytest.raises(KnowledgeBaseError, match=r"keys.f32 has .* bytes, not"):
        open_index(folder, embedder)
    assert store.rebuild(folder, embedder).reused == 0
    assert len(open_index(folder, embedder).kb.passages) == 3
    store.artefact_path(folder).write_text("index-gone", "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3
    store.artefact_path(folder).write_text("../../etc", "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3


def test_a_damaged_index_of_words_is_built_again(folder, embedder, caplog):
    recipe = Recipe(sparse=True)
    open_index(folder, embedder, recipe)
    rows = in_service(folder) / "words" / "rows.npy"
    rows.write_bytes(rows.read_bytes()[:40])
    with pytest.raises(KnowledgeBaseError, match=r"cannot be read .*; run: frontdesk kb build"):
        store.load(folder, embedder)
    assert store.rebuild(folder, embedder, recipe).embedded
    assert "building it whole" in caplog.text
    assert store.load(folder, embedder).words


@pytest.mark.parametrize("key", ["kb", "embedder", "keys", "pieces", "languages", "vocabulary"])
def test_an_index_that_does_not_say_what_it_is_is_built_again(folder, embedder, caplog, key):
    open_index(folder, embedder)
    path = in_service(folder) / "meta.json"
    meta = json.loads(path.read_text("utf-8"))
    del meta[key]
    path.write_text(json.dumps(meta), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=f"meta.json lacks {key}.*run: frontdesk kb build"):
        store.load(folder, embedder)
    assert len(open_index(folder, embedder).kb.passages) == 3
    assert "building it again" in caplog.text


def test_an_index_that_older_readers_made_is_built_again_from_the_files(folder, embedder, caplog):
    open_index(folder, embedder)
    first = in_service(folder)
    meta = first / "meta.json"
    meta.write_text(meta.read_text("utf-8").replace('"format": 5', '"format": 4'), "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3
    assert "format 4, not 5" in caplog.text
    assert in_service(folder) != first


def test_another_embedder_is_refused(folder, embedder):
    open_index(folder, embedder)
    with pytest.raises(KnowledgeBaseError, match=r"another embedder .* run: frontdesk kb build$"):
        open_index(folder, OtherEmbedder(embedder))


def test_other_floors_are_refused(folder, embedder):
    own = folder / "floors.json"
    own.write_text(calibration.dump(own_floors(embedder)), "utf-8")
    open_index(folder, embedder)
    meta = in_service(folder) / "meta.json"
    meta.write_text(meta.read_text("utf-8").replace('"floor": 0.3', '"floor": 0.01'), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"other floors .* run: frontdesk kb build$"):
        open_index(folder, embedder)
    own.write_text(calibration.dump({"en": floors("someone else's")}), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"another embedder; run: frontdesk kb calibrate"):
        open_index(folder, embedder)
    own.write_text(calibration.dump({"en": floors(embedder.hash, scorer="older")}), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"another score; run: frontdesk kb calibrate"):
        open_index(folder, embedder)
    own.write_text("{]", "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"does not hold floors .* frontdesk kb calibrate"):
        open_index(folder, embedder)


def test_other_documents_are_refused_when_nothing_may_be_built(folder, embedder):
    with pytest.raises(KnowledgeBaseError, match=r"is not there yet; run: frontdesk kb build$"):
        store.load(folder, embedder)
    open_index(folder, embedder)
    assert len(store.load(folder, embedder).kb.passages) == 3
    write_kb(folder, hours=HOURS + "\nMore.")
    with pytest.raises(KnowledgeBaseError, match="made from other documents"):
        store.load(folder, embedder)


def test_a_folder_that_cannot_be_written_to(folder, embedder, caplog):
    (folder / ".frontdesk").write_text("in the way", "utf-8")
    assert len(open_index(folder, embedder).kb.passages) == 3
    assert "kept until this process ends" in caplog.text


def test_no_room_for_temporary_files_either(folder, embedder):
    (folder / ".frontdesk").write_text("in the way", "utf-8")
    full = OSError(28, "No space left on device")
    with pytest.raises(store.NotWrittenError, match=r"\(No space left on device\).*set TMPDIR"):
        open_index(folder, Stopping(embedder, full))


def test_the_last_but_one_is_kept_and_older_ones_go(folder, embedder):
    for n in range(4):
        write_kb(folder, hours=HOURS + f"\nNotice {n}.\n")
        open_index(folder, embedder)
    kept = sorted(path.name for path in (folder / ".frontdesk").iterdir())
    assert len(kept) == 3
    assert kept[0] == "current"
    assert in_service(folder).name in kept


def test_an_index_in_use_outlives_its_files(folder, embedder):
    old = open_index(folder, embedder)
    for n in range(3):
        write_kb(folder, hours=HOURS + f"\nNotice {n}.\n")
        open_index(folder, embedder)
    vector = embedder.embed("is it closed on christmas day").vector
    assert old.search(vector, 1)[0].passage.id == "kb-hours#3"


class Stopping(OtherEmbedder):
    """Fails, as a full disk would, at the second passage."""

    def __init__(self, real, error):
        super().__init__(real)
        done = []

        def embed(text, query=False):
            if "Christmas" in text:
                raise error
            done.append(text)
            return real.embed(text)

        self.embed = embed


def test_a_build_that_fails_leaves_the_last_one(folder, embedder):
    plain = OtherEmbedder(embedder)
    write_kb(folder, hours="We open at 8 a.m.")
    open_index(folder, plain)
    first = in_service(folder)
    write_kb(folder, hours=HOURS)
    full = OSError(28, "No space left on device")
    with pytest.raises(KnowledgeBaseError, match=r"No space left on device.*still in service"):
        store.rebuild(folder, Stopping(embedder, full))
    assert in_service(folder) == first
    assert [p.name for p in (folder / ".frontdesk").iterdir() if "unfinished" in p.name] == []
    write_kb(folder, hours="We open at 8 a.m.")
    assert [p.text for p in store.load(folder, plain).kb.passages] == ["We open at 8 a.m."]


def test_a_disk_that_fills_at_the_index_of_words(folder, embedder, monkeypatch, caplog):
    recipe = Recipe(sparse=True)
    open_index(folder, embedder, recipe)
    write_kb(folder, hours="We open at 9 a.m.")

    save = np.save

    def full(path, array):
        if "words" in str(path):
            raise OSError(28, "No space left on device")
        save(path, array)

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(store.NotWrittenError, match="No space left on device"):
        store.rebuild(folder, embedder, recipe)
    assert open_index(folder, embedder, recipe).kb.passages[0].text.startswith("On weekdays")
    assert "answering from the documents as they were before" in caplog.text


def test_a_killed_build_is_cleaned_up_by_the_next(folder, embedder):
    code = (
        "import sys, time; from rag import store, building;"
        "building.entry = lambda *a: (print('on', flush=True), time.sleep(60));"
        f"store.rebuild({str(folder)!r})"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"on\n"
        left = [p for p in (folder / ".frontdesk").iterdir() if p.name.startswith("unfinished-")]
        assert len(left) == 1
        process.send_signal(signal.SIGKILL)
    assert store.open_index(folder, embedder).kb.passages[0].id == "kb-hours#1"
    assert [p.name for p in (folder / ".frontdesk").iterdir() if "unfinished" in p.name] == []


def test_a_build_in_another_container_is_left_alone(folder, embedder):
    # There a process has an id that no process has here.
    code = (
        "import os; os.getpid = lambda: 4194305;"
        "from rag import store, building; real = building.entry; wait = [1];"
        "building.entry = lambda *a: (wait and (wait.pop(), print('on', flush=True), input()),"
        "real(*a))[1];"
        f"store.rebuild({str(folder)!r})"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdout.readline() == b"on\n"
        (building,) = (folder / ".frontdesk").glob("unfinished-*")
        open_index(folder, embedder)
        first = in_service(folder)
        assert list((folder / ".frontdesk").glob("unfinished-*")) == [building]
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0
    assert in_service(folder) != first
    assert len(store.load(folder, embedder).kb.passages) == 3
    assert list((folder / ".frontdesk").glob("unfinished-*")) == []


def test_the_facts_of_every_sentence_are_kept_when_a_passage_is_taken_over(folder, embedder):
    before = open_index(folder, embedder)
    assert [list(one) for one in before.facts] == [list(read(s.text)) for s in before.sentences]
    (folder / "new.md").write_text("# New\n\nRacks cost $12 on Monday and $15 on Tuesday.", "utf-8")
    after = open_index(folder, embedder)
    assert len(after.sentences) > len(before.sentences)
    assert [list(one) for one in after.facts] == [list(read(s.text)) for s in after.sentences]


def test_the_opposites_that_a_knowledge_base_sets_are_kept(folder, embedder):
    text = "# New\n\nUnblocking a sink is $85.\n\nUnblocking a toilet is $110."
    (folder / "new.md").write_text(text, "utf-8")
    contrasts = open_index(folder, embedder).contrasts
    assert "toilet" in contrasts.of_stem["sink"]
    assert contrasts == open_index(folder, embedder).contrasts
