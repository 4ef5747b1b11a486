import dataclasses
import hashlib
import os
from pathlib import Path

import pytest

from frontdesk import KnowledgeBaseError
from rag import documents
from rag.readers import Document, markdown, to_passages
from rag.sentences import split_sentences
from tests.rag.shop_kb import HOURS, write_kb


def passages_of(doc, text):
    content = markdown.parse(text)
    return to_passages(Document(doc, Path(f"{doc}.md"), content.text, content.blocks, ""))


def test_passages_of_a_document():
    passages = passages_of("kb-hours", HOURS)
    assert [p.id for p in passages] == ["kb-hours#1", "kb-hours#2", "kb-hours#3"]
    first = passages[0]
    assert first.text == (
        "On weekdays the bike shop is open from 8 a.m. to 6 p.m. The workshop closes at 4:30 p.m."
    )
    assert [p.heading for p in passages] == ["Opening hours", "Opening hours", "Holidays"]
    assert first.sha256 == hashlib.sha256(first.text.encode()).hexdigest()
    for passage in passages:
        assert " ".join(HOURS[passage.start : passage.end].split()) == passage.text


def test_a_heading_without_a_blank_line_and_odd_space():
    text = "# One\n  First\tline\n   goes  on.  \n# Two\nSame paragraph.\r\n \t\nNext."
    passages = passages_of("kb-x", text)
    assert [(p.heading, p.text) for p in passages] == [
        ("One", "First line goes on. Same paragraph."),
        ("Two", "Next."),
    ]
    assert text[passages[0].start : passages[0].end].startswith("First")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Open from 8 a.m. to 6 p.m.", ["Open from 8 a.m. to 6 p.m."]),
        ("Open until 1 p.m. On Sunday we rest.", ["Open until 1 p.m.", "On Sunday we rest."]),
        ("From 8 a.m. Monday through Friday.", ["From 8 a.m. Monday through Friday."]),
        (
            "We close at 6 p.m. Saturday hours are short.",
            ["We close at 6 p.m.", "Saturday hours are short."],
        ),
        ("See Dr. Smith. He is in.", ["See Dr. Smith.", "He is in."]),
        ("Ask Dr. J. Smith about it.", ["Ask Dr. J. Smith about it."]),
        ("Take vitamin D. Results follow.", ["Take vitamin D.", "Results follow."]),
        ("We are on Main St. Parking is free.", ["We are on Main St.", "Parking is free."]),
        ("It is near St. Mary's church.", ["It is near St. Mary's church."]),
        ("Room No. 5 is up. No. We do not.", ["Room No. 5 is up.", "No.", "We do not."]),
        ("Bring ID, e.g. A passport.", ["Bring ID, e.g. A passport."]),
        ("It costs $3.50. Pay cash.", ["It costs $3.50.", "Pay cash."]),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences


def test_load(tmp_path):
    folder = write_kb(tmp_path / "kb", b="Bee.", a="Ay.")
    (folder / "README.md").write_text("Not ours.", "utf-8")
    kb = documents.load(folder)
    assert [p.id for p in kb.passages] == ["kb-a#1", "kb-b#1"]
    assert kb.texts == {"kb-a": "Ay.", "kb-b": "Bee."}
    (folder / "fillers.txt").write_text("halo\n", "utf-8")
    again = documents.load(folder)
    assert "halo" in again.fillers
    assert "halo" not in kb.fillers
    assert again.sha256 != kb.sha256


def test_the_hash_follows_the_text(tmp_path):
    folder = write_kb(tmp_path / "kb", a="Ay.")
    before = documents.load(folder).sha256
    assert documents.load(folder).sha256 == before
    write_kb(folder, a="Ay!")
    assert documents.load(folder).sha256 != before


def refusal(folder):
    with pytest.raises(KnowledgeBaseError) as error:
        documents.load(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_missing_and_empty_folders(tmp_path):
    assert "gone does not exist; give" in refusal(tmp_path / "gone")
    assert "holds no passages; add documents (.md," in refusal(tmp_path)
    write_kb(tmp_path, a="# Only a heading\n")
    assert "holds no passages" in refusal(tmp_path)


def test_files_that_cannot_be_read_are_named_and_left_out(tmp_path):
    (tmp_path / "kb-a.md").write_text("Ay.", "utf-8")
    (tmp_path / "kb-b.md").write_bytes(b"")
    (tmp_path / "prices.pdf").write_bytes(b"%PDF-1.4 and no more")
    kb = documents.load(tmp_path)
    assert [p.id for p in kb.passages] == ["kb-a#1"]
    failed = {one.path.name: one.reason for one in kb.skipped if one.kind == "failed"}
    assert failed["kb-b.md"] == "it is empty; add text or remove it"
    assert set(failed) == {"kb-b.md", "prices.pdf"}
    (tmp_path / "kb-a.md").unlink()
    assert "holds no passages; kb-b.md: it is empty; add text or remove it" in refusal(tmp_path)


def test_known_documents_are_taken_over(tmp_path):
    first = documents.load(write_kb(tmp_path, a="Ay.", b="Bee.\n\nSea."))
    marked = dataclasses.replace(first, texts={**first.texts, "kb-b": "taken over"})
    again = documents.load(write_kb(tmp_path, a="Eh."), known=marked)
    assert again.texts == {"kb-a": "Eh.", "kb-b": "taken over"}
    assert [p.text for p in again.passages] == ["Eh.", "Bee.", "Sea."]
    assert [(s.id, s.first, s.count) for s in again.sources] == [("kb-a", 0, 1), ("kb-b", 1, 2)]


def test_a_document_that_is_written_to_while_it_is_read(tmp_path):
    path = write_kb(tmp_path, a="We open at 8.", b="Bee.") / "kb-a.md"
    listed = documents.listing(tmp_path)
    before = path.read_bytes()
    path.write_text("We open at 9.", "utf-8")
    kb = documents.read_listing(listed)
    assert kb.texts["kb-a"] == "We open at 9."
    assert kb.sha256 == documents.listing(tmp_path).sha256
    path.write_bytes(before)
    assert documents.listing(tmp_path).sha256 == listed.sha256 != kb.sha256
    assert documents.load(tmp_path, known=kb).texts["kb-a"] == before.decode()


def test_a_name_that_is_not_utf_8(tmp_path):
    folder = write_kb(tmp_path, a="Ay.")
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("Coffee is $3.", "utf-8")
    (folder / os.fsdecode(b"th\xe9.md")).write_bytes(b"")
    kb = documents.load(folder)
    assert [source.path for source in kb.sources] == ["caf\ufffd.md", "kb-a.md"]
    assert [p.text for p in kb.passages] == ["Coffee is $3.", "Ay."]


def test_progress_is_told(tmp_path):
    told = []
    documents.load(write_kb(tmp_path, a="Ay.", b="Bee."), progress=lambda *at: told.append(at))
    assert told == [("read", 0, 2), ("read", 1, 2), ("read", 2, 2)]
