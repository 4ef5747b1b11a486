"""``frontdesk kb build`` with questions made from the passages, by rules and by a (fake) model."""

import json
import logging

import pytest

from tests.agent.fake_openai import serving

POOL = "The pool is open until 9 p.m. on weekdays."
SAUNA = "The sauna costs $5 for an hour."
ASKED = {
    POOL: ["till when may i go for a dip", "how late can i swim", "can i swim until 10 p.m."],
    SAUNA: ["what do you charge for the sauna"],
}


@pytest.fixture
def model(monkeypatch):
    """The fake server, ready to make the questions of ``ASKED``; "asked about" what."""

    def reply(body):
        shown = body["messages"][-1]["content"]
        found = next((made for text, made in ASKED.items() if text in shown), [])
        content = json.dumps({"questions": found})
        return {"choices": [{"message": {"role": "assistant", "content": content}}]}

    with serving(reply, monkeypatch) as fake:
        yield fake


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "kb"
    made.mkdir()
    (made / "pool.md").write_text(f"{POOL}\n\n{SAUNA}\n", "utf-8")
    return made


@pytest.fixture
def build(command, folder, monkeypatch):
    """``build()``: the figures of ``frontdesk kb build --json``, with questions made."""
    monkeypatch.setenv("FRONTDESK_RETRIEVAL__EXPAND", "true")

    def run():
        code, out, _ = command("kb", "build", folder, "--json")
        assert code == 0
        return json.loads(out)

    return run


@pytest.fixture
def with_model(model, monkeypatch):
    monkeypatch.setenv("FRONTDESK_QUESTIONS__BASE_URL", model.url)
    monkeypatch.setenv("FRONTDESK_QUESTIONS__MODEL", "tiny")
    return model


def asked_about(model):
    found = [
        body["messages"][-1]["content"].partition("Passage: ")[2] for *_, body in model.requests
    ]
    model.requests.clear()
    return sorted(found)


def test_by_rules_without_a_model(build, command, folder):
    figures = build()
    assert figures["made"] == {"rules": figures["keys"]["made"]}
    lines = command("kb", "build", folder)[1].splitlines()
    assert f"made        {figures['keys']['made']} questions by rules" in lines


def test_none_where_none_are_wanted(command, folder, with_model):
    assert "made        no questions" in command("kb", "build", folder)[1].splitlines()
    assert with_model.requests == []


def test_by_the_model_and_asked_once(build, with_model, folder):
    figures = build()
    assert asked_about(with_model) == [POOL, SAUNA]
    # "until 10 p.m." is a number that the passage does not hold.
    assert figures["made"] == {"tiny": 3}
    assert figures["keys"]["made"] == 3
    again = build()
    assert asked_about(with_model) == []
    assert (again["made"], again["reused"]) == ({"tiny": 3}, 2)
    (folder / "pool.md").write_text(f"{POOL}\n\nThe sauna is closed on Monday.\n", "utf-8")
    changed = build()
    assert asked_about(with_model) == ["The sauna is closed on Monday."]
    assert changed["made"] == {"tiny": 2, "rules": 1}


def test_what_a_model_made_is_never_quoted(build, command, folder, with_model):
    build()
    verdict = json.loads(
        command("ask", "what do you charge for the sauna", "--kb", folder, "--json")[1]
    )
    # Found by the very words of the made question; said are those of the passage.
    assert verdict["hits"][0]["id"] == "pool#2"
    assert verdict["hits"][0]["score"] == pytest.approx(1, abs=0.001)
    assert verdict["draft"] == f"{SAUNA} [pool#2]"
    assert verdict["say"] == SAUNA


def test_a_question_asked_later_asks_no_model(build, command, folder, with_model):
    build()
    with_model.requests.clear()
    command("ask", "how late can i swim", "--kb", folder)
    (folder / "more.md").write_text("The bar is open until 10 p.m.\n", "utf-8")
    command("ask", "how late can i swim", "--kb", folder)
    assert with_model.requests == []
    assert build()["made"]["tiny"] == 3


def test_calibrating_keeps_what_the_model_made(build, command, folder, with_model):
    build()
    with_model.requests.clear()
    assert command("kb", "calibrate", folder)[0] in (0, 1)
    assert (folder / "floors.json").exists()
    assert with_model.requests == []
    assert build()["reused"] == 2


def test_where_the_model_fails_the_rules_make_them(build, with_model, caplog):
    with_model.answers += [(200, {}, b"<html>"), (200, {}, b"")]
    with caplog.at_level(logging.WARNING, "agent.question_maker"):
        figures = build()
    assert list(figures["made"]) == ["rules"]
    (line,) = caplog.messages
    assert line.startswith("2 of 2 passages left to the rules")
    assert build()["made"] == {"tiny": 3}


def test_a_server_that_is_not_there_does_not_fail_the_build(build, monkeypatch, caplog):
    monkeypatch.setenv("FRONTDESK_QUESTIONS__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FRONTDESK_QUESTIONS__MODEL", "tiny")
    assert list(build()["made"]) == ["rules"]
    assert "cannot be reached" in caplog.text


def test_half_a_section_is_an_error(command, folder, monkeypatch):
    monkeypatch.setenv("FRONTDESK_RETRIEVAL__EXPAND", "true")
    monkeypatch.setenv("FRONTDESK_QUESTIONS__MODEL", "tiny")
    code, out, err = command("kb", "build", folder)
    assert (code, out) == (2, "")
    assert err.startswith("frontdesk kb: [questions] needs base_url (http…, up to /v1) and model")
