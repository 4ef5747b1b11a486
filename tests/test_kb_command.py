"""``frontdesk kb build`` and ``kb check``: what they print, and their exit codes."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from frontdesk import ModelFileError, Spoken

HOURS = (
    "# Hours\n\nThe shop is open on weekdays from 8 a.m. to 6 p.m.\n\n"
    "The spring sale ends on March 5, 2024.\n"
)
FAQ = 'question,answer\nDo you ship?,"Yes, in 3 days."\nDo you deliver?,\n'


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "kb"
    (made / "more").mkdir(parents=True)
    (made / "hours.md").write_text(HOURS, "utf-8")
    (made / "more" / "visit.txt").write_text(
        "On weekdays the shop is open from 9 a.m. to 5 p.m.\n", "utf-8"
    )
    (made / "faq.csv").write_text(FAQ, "utf-8")
    (made / "bad.docx").write_bytes(b"x")
    (made / "photo.jpg").write_bytes(b"x")
    return made


FINDINGS = [
    {
        "kind": "empty",
        "passages": [{"id": "faq", "file": "faq.csv", "page": None, "row": None}],
        "detail": "no answer to 'Do you deliver?'",
    },
    {
        "kind": "contradictory",
        "passages": [
            {"id": "hours#1", "file": "hours.md", "page": None, "row": None},
            {"id": "more-visit#1", "file": "more/visit.txt", "page": None, "row": None},
        ],
        "detail": "The shop is open on weekdays from 8 a.m. to 6 p.m. / "
        "On weekdays the shop is open from 9 a.m. to 5 p.m.",
    },
    {
        "kind": "expired",
        "passages": [{"id": "hours#2", "file": "hours.md", "page": None, "row": None}],
        "detail": "March 5, 2024 has gone by",
    },
]
UNREADABLE = {
    "file": "bad.docx",
    "reason": "the DOCX is damaged (File is not a zip file); save it again",
}


@pytest.mark.parametrize("named", [("{}",), ("--kb", "{}"), ("{}", "--kb", "{}")])
def test_check_names_what_to_mend(command, folder, named):
    code, out, err = command("kb", "check", *(part.format(folder) for part in named), "--json")
    assert (code, err) == (1, "")
    assert json.loads(out) == {
        "documents": 3,
        "passages": 4,
        "findings": FINDINGS,
        "skipped": [UNREADABLE],
        "ignored": [{"file": "photo.jpg", "reason": "not a kind of document that is read (.jpg)"}],
    }


def test_check_in_words(command, folder):
    code, out, _ = command("kb", "check", folder)
    assert code == 1
    assert out.splitlines() == [
        "empty (1): without text",
        "  faq (faq.csv)",
        "      no answer to 'Do you deliver?'",
        "contradictory (1): the same subject, another number",
        "  hours#1 (hours.md); more-visit#1 (more/visit.txt)",
        f"      {FINDINGS[1]['detail']}",
        "expired (1): a date gone by",
        "  hours#2 (hours.md)",
        "      March 5, 2024 has gone by",
        "unreadable (1): left out of the index",
        f"  bad.docx: {UNREADABLE['reason']}",
        "3 documents read, 4 things to mend",
    ]
    assert not (folder / ".frontdesk").exists()


def test_check_as_of_another_day(command, folder):
    _, out, _ = command("kb", "check", folder, "--today", "2024-03-05", "--json")
    assert [one["kind"] for one in json.loads(out)["findings"]] == ["empty", "contradictory"]


def test_the_place_in_a_table(command, tmp_path):
    (tmp_path / "prices.csv").write_text("Size,Price\n10,$20\n12,$25\n10,$22\n", "utf-8")
    code, out, _ = command("kb", "check", tmp_path)
    assert code == 1
    assert "  prices#1 (prices.csv, row 2); prices#3 (prices.csv, row 4)" in out.splitlines()


def test_many_findings_are_cut_short_in_words_only(command, tmp_path):
    text = "\n\n".join(f"Offer {n} of the shop ended on March 5, 2024." for n in range(25))
    (tmp_path / "offers.md").write_text(text, "utf-8")
    _, out, _ = command("kb", "check", tmp_path)
    assert out.splitlines()[0] == "expired (25): a date gone by"
    assert "  … and 5 more (--json)" in out.splitlines()
    _, out, _ = command("kb", "check", tmp_path, "--json")
    assert len(json.loads(out)["findings"]) == 25


def test_nothing_to_mend(command):
    code, out, err = command("kb", "check")
    assert (code, out, err) == (0, "14 documents read, 0 things to mend\n", "")


def test_a_file_that_cannot_be_read_is_a_finding(command, tmp_path):
    (tmp_path / "hours.md").write_text("We open at 8.", "utf-8")
    (tmp_path / "empty.md").write_text("", "utf-8")
    code, out, _ = command("kb", "check", tmp_path)
    assert code == 1
    assert out.splitlines()[-2:] == [
        "  empty.md: it is empty; add text or remove it",
        "1 documents read, 1 things to mend",
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("check", "{}/nowhere"), "frontdesk kb: knowledge base folder {}/nowhere does not exist"),
        (("check", "{}"), "frontdesk kb: knowledge base folder {} holds no documents; add some"),
        (("check", "{}", "--kb", "other"), "frontdesk kb: two folders are named, {} and other"),
        (("build", "{}"), "frontdesk kb: knowledge base folder {} holds no passages; add"),
        (("check", "--today", "1 May"), "frontdesk kb check: error: argument --today: '1 May' is"),
    ],
)
def test_wrong_usage(command, tmp_path, arguments, line):
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, err = command("kb", *(part.format(empty) for part in arguments))
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(line.format(empty))


def test_build_says_what_it_made(command, folder):
    code, out, err = command("kb", "build", folder, "--no-speech", "--json")
    figures = json.loads(out)
    assert (code, err) == (0, "")
    counts = ("documents", "passages", "sentences", "reused", "embedded")
    assert [figures[name] for name in counts] == [3, 4, 4, 0, 4]
    assert figures["languages"] == ["en"]
    assert figures["keys"]["sentence"] + figures["keys"]["chunk"] >= 4
    assert figures["keys"]["question"] == 1
    assert figures["speech"] == "left to serve"
    assert figures["skipped"] == [UNREADABLE]
    assert figures["floors"].startswith("the default; write callers' questions")
    assert figures["index"].startswith(str(folder))
    (folder / "hours.md").write_text("We have moved.\n", "utf-8")
    again = json.loads(command("kb", "build", folder, "--no-speech", "--json")[1])
    assert (again["passages"], again["reused"], again["embedded"]) == (3, 2, 1)
    lines = command("kb", "build", folder, "--no-speech")[1].splitlines()
    assert lines[:2] == ["documents   3", "passages    3"]
    assert (
        "skipped     bad.docx: the DOCX is damaged (File is not a zip file); save it again" in lines
    )


def test_build_prints_what_of_a_file_could_not_be_used(command, tmp_path):
    (tmp_path / "a.csv").write_text("Service,Note\nX-ray,ask, then wait\n", "utf-8")
    lines = command("kb", "build", tmp_path, "--no-speech")[1].splitlines()
    assert lines[-1] == "note        a.csv: row 2 has 3 cells, not 2; joined the last"


def test_build_renders_what_may_be_said(command, folder, monkeypatch):
    monkeypatch.setattr("agent.prerender.own_words", lambda *_: (Spoken("Hello."),))
    figures = json.loads(command("kb", "build", folder, "--json")[1])
    assert figures["speech"] == "5 sentences ready, 5 rendered now"
    assert len(list((folder / ".frontdesk" / "speech").iterdir())) == 5
    (folder / "hours.md").write_text("We have moved.\n", "utf-8")
    figures = json.loads(command("kb", "build", folder, "--json")[1])
    assert figures["speech"] == "4 sentences ready, 1 rendered now"


def test_build_without_a_voice_builds_the_index(command, folder, monkeypatch):
    def missing(_):
        raise ModelFileError("the voice needs the package piper-tts; run: make setup")

    monkeypatch.setattr("agent.prerender.voice_of", missing)
    code, out, _ = command("kb", "build", folder, "--json")
    figures = json.loads(out)
    assert (code, figures["passages"]) == (0, 4)
    assert figures["speech"] == "none: the voice needs the package piper-tts; run: make setup"


@pytest.mark.parametrize("action", ["build --no-speech", "check"])
def test_a_progress_bar_on_a_terminal(folder, action):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli", "kb", *action.split(), str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    shown = b""
    # Linux says EIO at the end of a terminal whose other side is closed.
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:
        pass
    os.close(ours)
    assert done.returncode == (1 if action == "check" else 0)
    assert b"read: 100%" in shown
    assert (b"check: 100%" if action == "check" else b"embed: 100%") in shown
