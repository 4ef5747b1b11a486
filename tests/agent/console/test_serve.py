"""The console of ``frontdesk serve`` itself."""

import httpx
import pytest

from bench import process
from telephony import local_key


@pytest.mark.slow
def test_serve_has_a_console_with_a_token_for_this_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    env = {
        "FRONTDESK_VOICE__PRERENDER": "0",
        "FRONTDESK_CONSOLE__PORT": "0",
        "FRONTDESK_RECORDS__FOLDER": str(tmp_path / "calls"),
    }
    with process.serving(("agent.cli", "serve", "--port", "0"), env) as server:
        httpx.get(f"{server.url}/healthz", trust_env=False)  # all of it is up once it answers
        ours = str(httpx.URL(server.url).port)
        (port,) = {path.name for path in (tmp_path / "frontdesk").iterdir()} - {ours}
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, trust_env=False) as client:
            token = {"token": local_key.read(int(port))}
            reply = client.post("/api/login", json=token, headers={"Origin": url})
            assert reply.status_code == 204
            assert client.get("/api/health").json()["status"] == "ok"
            assert client.get("/").status_code == 200
    assert list((tmp_path / "frontdesk").iterdir()) == []
