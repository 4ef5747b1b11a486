"""The key that a server leaves for programs of its user, for as long as it runs."""

import os

import httpx
import pytest

from bench import process
from telephony import local_key

ENV = {"FRONTDESK_VOICE__PRERENDER": "0"}


@pytest.mark.slow
def test_it_is_gone_with_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    env = {**ENV, "FRONTDESK_RECORDS__FOLDER": str(tmp_path / "calls")}
    with process.serving(("agent.cli", "serve", "--port", "0"), env) as server:
        assert local_key.headers_for(server.url)
        httpx.get(f"{server.url}/healthz", trust_env=False)  # it listens to signals from then on
    assert list((tmp_path / "frontdesk").iterdir()) == []


@pytest.mark.slow
def test_a_server_that_cannot_leave_one_serves_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "frontdesk").mkdir()
    os.chmod(tmp_path / "frontdesk", 0o777)
    env = {**ENV, "FRONTDESK_RECORDS__FOLDER": str(tmp_path / "calls")}
    with process.serving(("agent.cli", "serve", "--port", "0"), env) as server:
        assert local_key.headers_for(server.url) == {}
