"""``frontdesk kb calibrate``: what it writes, prints and leaves alone."""

import io
import json
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from agent.commands.kb_calibrate import PAGE
from frontdesk import KnowledgeBaseError, ModelFileError
from rag import calibration, open_index, store
from rag.answerability import default_floor
from rag.floor import scorer_of
from rag.self_made import ROUGH
from tests.rag.shop_kb import HOURS, REPAIRS, floors, write_kb

HINDI = "दुकान सोमवार से शुक्रवार तक सुबह 9 बजे खुलती है।\n\nशनिवार को दुकान बंद रहती है।\n"


@pytest.fixture
def calibrate(command):
    """Run ``frontdesk kb calibrate``; exit code, stdout and stderr."""
    return partial(command, "kb", "calibrate")


@pytest.fixture
def folder(tmp_path):
    return write_kb(tmp_path / "shop", hours=HOURS, repairs=REPAIRS)


def ask(folder, answerable, unanswerable):
    """A questions.jsonl of opening hours, and of what is in no document."""
    rows = [
        ("What time do you open on Saturday?", ["kb-hours#2"], "9 a.m."),
        ("How much is a helmet for a child?", ["kb-repairs#3"], "$35"),
    ][:answerable]
    table = [
        {"id": f"a{n}", "text": text, "relevant": relevant, "answerable": True, "facts": [fact],
         "kind": "hours"}
        for n, (text, relevant, fact) in enumerate(rows)
    ] + [
        {"id": f"u{n}", "text": text, "relevant": [], "answerable": False, "facts": []}
        for n, text in enumerate(unanswerable)
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in table)
    (folder / "questions.jsonl").write_text(lines, "utf-8")


FRANCE = [f"Who was the president of France in {year}?" for year in range(1970, 2000)]


def test_labelled_questions_set_the_floor(calibrate, folder):
    ask(folder, 2, FRANCE)
    code, out, err = calibrate(folder, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["en"]
    assert (found["set"], found["note"]) == ("questions.jsonl", "")
    assert (found["alpha"], found["confidence"]) == (0.1, 0.95)
    assert (found["n_answerable"], found["n_unanswerable"]) == (2, 30)
    assert (found["over_refusal"]["n"], found["wrongly_answered"]["n"]) == (2, 30)
    assert found["over_refusal"]["rate"] == 0.0
    assert found["kinds"]["over_refusal"]["hours"]["n"] == 2
    assert found["auc"] == 1.0
    assert found["overlap"]["answerable"] == []
    assert found["bound"] == 0.095
    assert found["guarantee"] == (
        "With 95 % confidence, at most 9.5 % of questions like these that the documents do not "
        "answer will be answered (allowed: 10 %)."
    )
    assert [one["alpha"] for one in found["costs"]] == [0.1, 0.15, 0.2, 0.3]


def test_the_index_in_service_has_the_floor(calibrate, folder):
    ask(folder, 2, FRANCE)
    calibrate(folder)
    index = open_index(folder)
    assert index.calibrations == calibration.read(folder / "floors.json")
    assert index.calibrations["en"].scorer == scorer_of(index.embedder)
    assert sorted(path.name for path in folder.glob(".*")) == [".frontdesk"]


def test_it_is_drawn(calibrate, folder):
    ask(folder, 2, FRANCE)
    _, out, _ = calibrate(folder)
    page = folder / ".frontdesk" / "calibration.html"
    assert out.splitlines()[-1] == f"drawn in {page}"
    text = page.read_text("utf-8")
    assert "With 95 % confidence, at most 9.5 % of questions like these" in text
    assert text.count("<svg") == 1
    assert "light-dark(" in text
    picture = Image.open(io.BytesIO((folder / ".frontdesk" / "calibration-en.png").read_bytes()))
    assert picture.size == (1800, 1040)


def test_what_is_printed(calibrate, folder):
    ask(folder, 2, FRANCE)
    lines = calibrate(folder)[1].splitlines()
    floor = calibration.read(folder / "floors.json")["en"].floor
    assert lines[0] == f"en: floor {floor:.3f} on the answerability score; AUC 1.000"
    assert lines[1] == "  2 answerable and 30 unanswerable questions of questions.jsonl"
    assert lines[3] == "  The price is 0 % of answerable questions refused."
    assert "  answerable questions refused: 0 % (0.0 to 65.8), n 2" in lines
    assert "      hours: 0 % (0.0 to 65.8), n 2" in lines
    assert f"     10 %: floor {floor:.3f}, 0 % refused" in lines


def test_without_questions_it_makes_its_own(calibrate, folder):
    code, out, _ = calibrate(folder, "--json")
    found = json.loads(out)["en"]
    assert (found["set"], found["note"]) == ("made questions", ROUGH)
    assert sorted(found["kinds"]["wrongly_answered"]) == ["left out", "other business"]
    assert list(found["kinds"]["over_refusal"]) == ["from rules"]
    assert found["bound"] <= found["alpha"]
    assert code == (0 if found["separable"] else 1)


def test_too_few_labelled_questions_are_filled_up(calibrate, folder):
    ask(folder, 2, FRANCE[:3])
    found = json.loads(calibrate(folder, "--json")[1])["en"]
    assert (found["set"], found["note"]) == ("questions.jsonl and made ones", ROUGH)
    assert "" in found["kinds"]["wrongly_answered"], "the three labelled ones"
    assert "left out" in found["kinds"]["wrongly_answered"]


def test_alpha_and_confidence(calibrate, folder):
    ask(folder, 2, FRANCE)
    _, out, _ = calibrate(folder, "--json", "--alpha", "0.3", "--confidence", "0.8")
    found = json.loads(out)["en"]
    assert (found["alpha"], found["confidence"]) == (0.3, 0.8)
    assert found["bound"] <= 0.3


@pytest.mark.parametrize("arguments", [("--alpha", "0"), ("--alpha", "1"), ("--confidence", "95")])
def test_shares_lie_between_0_and_1(calibrate, folder, arguments):
    code, out, err = calibrate(folder, *arguments)
    assert (code, out) == (2, "")
    assert f"{arguments[0]} is {float(arguments[1])}; give a number between 0 and 1" in err


def test_a_language_without_evidence_gets_no_floor(calibrate, tmp_path):
    folder = tmp_path / "hindi"
    folder.mkdir()
    (folder / "hours.md").write_text(HINDI, "utf-8")
    code, out, _ = calibrate(folder, "--json")
    found = json.loads(out)
    assert code == 1
    assert (list(found), found["hi"]["floor"]) == (["hi"], None)
    assert "has 2 unanswerable questions, too few to show" in found["hi"]["reason"]
    assert "add 27" in found["hi"]["reason"]
    assert not (folder / "floors.json").exists()
    assert "No floor, so nothing is answered" in (
        folder / ".frontdesk" / "calibration.html"
    ).read_text("utf-8")
    assert calibrate(folder)[1].startswith("hi: no floor, so nothing is answered: ")


def test_what_holds_where_no_floor_is_found(calibrate, folder):
    code, out, _ = calibrate(folder, "--alpha", "0.001")
    assert (code, (folder / "floors.json").exists()) == (1, False)
    default = default_floor(open_index(folder).embedder, "en")
    assert out.startswith(f"en: no floor; the default, {default:.3f}, not measured on these ")
    assert calibrate(folder)[0] in (0, 1)
    before = open_index(folder).calibrations["en"].floor
    code, out, _ = calibrate(folder, "--alpha", "0.001")
    assert out.startswith(f"en: no floor; the one before, {before:.3f}, stays in force: ")
    assert "No floor; the one before" in (folder / ".frontdesk" / PAGE).read_text("utf-8")


def test_groups_that_overlap_are_named(calibrate, folder):
    same = [f"What time do you open on Saturday{mark}" for mark in ("?", "!", ".")] * 10
    ask(folder, 2, same)
    code, out, _ = calibrate(folder)
    lines = out.splitlines()
    assert code == 1
    assert "  The two groups cannot be told apart at 10 %: 50 % of answerable" in lines[3]
    assert "  unanswerable, yet score high: 30" in lines
    assert "    and 10 more (--json)" in lines
    assert "  answerable, yet below the floor: 1" in lines
    assert "'what time do you open on saturday' -> 'On Saturday the bike shop is open" in out
    assert len(calibration.read(folder / "floors.json")) == 1, "it is written all the same"


def test_the_held_out_voice_takes_no_part(calibrate, folder):
    ask(folder, 2, FRANCE)
    path = folder / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        row["audio"] = [{"voice": "amy", "asr": row["text"]},
                        {"voice": "zoe", "asr": "what time do you open on saturday"}]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert json.loads(calibrate(folder, "--json", "--held-out", "zoe")[1])["en"]["separable"]
    assert not json.loads(calibrate(folder, "--json", "--held-out", "no one")[1])["en"]["separable"]


@pytest.mark.parametrize("before", ['{"en": {"support_floor": 0.5}}', None])
def test_floors_of_an_earlier_version_do_not_stand_in_the_way(calibrate, folder, before):
    ask(folder, 2, FRANCE)
    text = before or calibration.dump({"en": floors("another embedder")})
    (folder / "floors.json").write_text(text, "utf-8")
    assert calibrate(folder)[0] == 0
    assert open_index(folder).calibrations["en"].n_unanswerable == 30


@pytest.mark.parametrize("error", [KnowledgeBaseError, ModelFileError])
@pytest.mark.parametrize("before", [None, "old"])
def test_a_failed_build_leaves_the_floors_as_they_were(
    calibrate, folder, monkeypatch, before, error
):
    ask(folder, 2, FRANCE)
    path = folder / "floors.json"
    if before:
        calibrate(folder)
        before = path.read_bytes()
    else:
        open_index(folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    def fail(*_, **__):
        assert path.read_bytes() != before
        monkeypatch.setattr(Path, "write_bytes", full)
        raise error("the disk is full")

    monkeypatch.setattr(store, "rebuild", fail)
    code, out, err = calibrate(folder, "--alpha", "0.3")
    assert (code, out) == (2, "")
    assert "the disk is full" in err
    assert (path.read_bytes() if path.exists() else None) == before
    assert [one.name for one in folder.glob(".floors*")] == []
