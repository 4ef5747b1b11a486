"""Who gets into the console, and what they are told who don't."""

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agent.console.guard import is_ours
from agent.console.port import take_port
from agent.console.sessions import Sessions
from agent.console_settings import ConsoleSettings, console_token
from frontdesk import ConfigError
from telephony import local_key
from tests.agent.console.stored import SATURDAY, stored

TOKEN = "a-token-that-somebody-chose-0123456789"
PROXIED = {"public_url": "https://desk.example.com", "token_variable": "CONSOLE_TOKEN"}


@pytest.mark.parametrize(
    ("console", "origin", "host", "ours"),
    [
        ({}, "http://127.0.0.1:8090", "127.0.0.1:8090", True),
        ({}, "http://localhost:8090", "localhost:8090", True),
        ({}, "http://127.0.0.1:8080", "127.0.0.1:8090", False),
        ({}, "https://127.0.0.1:8090", "127.0.0.1:8090", False),
        ({}, "http://rebound.example.com:8090", "rebound.example.com:8090", False),
        ({}, "", "127.0.0.1:8090", False),
        ({}, "null", "127.0.0.1:8090", False),
        ({}, "http://[", "[", False),
        (PROXIED, "https://desk.example.com", "127.0.0.1:8090", True),
        (PROXIED, "http://desk.example.com", "desk.example.com", False),
        (PROXIED, "https://desk.example.com.evil.example", "127.0.0.1:8090", False),
        ({"host": "192.0.2.1"}, "http://192.0.2.1:8090", "192.0.2.1:8090", True),
        ({"host": "192.0.2.1"}, "http://evil.example", "192.0.2.1:8090", False),
    ],
)
def test_an_origin_is_ours_only_if_it_is_the_page_s_own(console, origin, host, ours):
    assert is_ours(origin, host, ConsoleSettings(**console)) is ours


@pytest.mark.parametrize("console", [{"host": "0.0.0.0"}, {"public_url": "https://desk.example"}])
def test_a_console_that_others_reach_needs_a_token_that_was_chosen(console, monkeypatch):
    with pytest.raises(ConfigError, match="needs a token of its own"):
        console_token(ConsoleSettings(**console))
    chosen = ConsoleSettings(**console, token_variable="CONSOLE_TOKEN")
    monkeypatch.delenv("CONSOLE_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="set CONSOLE_TOKEN"):
        console_token(chosen)
    monkeypatch.setenv("CONSOLE_TOKEN", "short")
    with pytest.raises(ConfigError, match="32 characters"):
        console_token(chosen)
    monkeypatch.setenv("CONSOLE_TOKEN", TOKEN)
    assert console_token(chosen) == TOKEN


def test_a_port_that_was_not_chosen_gives_way_and_one_that_was_does_not():
    free = take_port(ConsoleSettings(port=0))
    with free.sock:
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{free.number}"):
            take_port(ConsoleSettings(port=free.number))
        taken = ConsoleSettings.model_construct(set(), port=free.number)
        other = take_port(taken)
        with other.sock:
            assert other.number != free.number
    assert take_port(ConsoleSettings(enabled=False)) is None


def test_a_session_ends_by_the_clock_and_by_logging_out():
    now = [1000.0]
    sessions = Sessions(TOKEN, 1.0, 10, clock=lambda: now[0])
    first, second = sessions.log_in(TOKEN, "a"), sessions.log_in(TOKEN, "a")
    assert sessions.find(first) is not sessions.find(second)
    assert sessions.find(first + "x") is None
    session = sessions.find(first)
    sessions.log_out(first)
    assert sessions.find(first) is None
    assert session.over.is_set()
    now[0] += 3599
    assert sessions.find(second)
    now[0] += 1
    assert sessions.find(second) is None


def test_at_most_two_hundred_are_logged_in():
    sessions = Sessions(TOKEN, 1.0, 10)
    cookies = [sessions.log_in(TOKEN, "a") for _ in range(201)]
    assert sessions.find(cookies[0]) is None
    assert all(sessions.find(cookie) for cookie in cookies[1:])


PATHS = ("/", "/live", "/call/x", "/api/calls", "/api/me", "/api/health", "/nothing", "/talk")


async def test_without_a_session_nothing_is_told(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        for path in (*PATHS, f"/call/{name}", f"/api/calls/{name}", f"/api/calls/{name}/audio"):
            reply = await served.stranger.get(path)
            if path.startswith("/api/"):
                assert (reply.status_code, reply.json()) == (401, {"error": "log in first"}), path
            else:
                assert reply.status_code == 303, path
                assert reply.headers["location"].startswith("/login")
            assert SATURDAY not in reply.text
        for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
            assert (await served.stranger.request(method, "/api/calls")).status_code == 405
        forged = {"Cookie": served.cookie.partition("=")[0] + "=" + "x" * 43}
        assert (await served.stranger.get("/api/calls", headers=forged)).status_code == 401


async def test_every_reply_has_the_headers_that_keep_a_page_s_own(desk):
    async with desk() as served:
        replies = [
            await served.stranger.get("/"),
            await served.stranger.get("/static/none.js"),
            await served.get("/api/calls"),
            await served.get("/nothing"),
        ]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["cache-control"] == "no-store"


async def test_a_wrong_token_is_refused_and_then_not_even_looked_at(desk, lines):
    async with desk(console={"logins_per_address": 3}) as served:
        ours = {"Origin": served.url}
        for _ in range(3):
            reply = await served.stranger.post("/api/login", json={"token": "x"}, headers=ours)
            assert reply.status_code == 401
        right = {"token": served.token}
        reply = await served.stranger.post("/api/login", json=right, headers=ours)
        assert reply.status_code == 429
        assert int(reply.headers["retry-after"]) > 0
        assert "set-cookie" not in reply.headers
    logged = " ".join(message for _, message in lines.all)
    assert "a login with a wrong token" in logged
    assert served.token not in logged


BAD_LOGINS = (
    (b"", 400),
    (b"[1]", 400),
    (b'{"token": 1}', 400),
    (b'{"token": "\xff"}', 400),
    (b"[" * 5000, 400),
    (b'{"token": "' + b"x" * 9000 + b'"}', 413),
    (b'{"token": "\\ud800"}', 400),
)


async def test_a_login_that_cannot_be_read_is_refused(desk):
    async with desk() as served:
        headers = {"Origin": served.url, "Content-Type": "application/json"}
        for content, status in BAD_LOGINS:
            reply = await served.stranger.post("/api/login", content=content, headers=headers)
            assert reply.status_code == status, content[:20]
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        reply = await served.stranger.post("/api/login", content=b"token=x", headers=headers)
        assert reply.status_code == 415


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(desk, monkeypatch):
    monkeypatch.setenv("CONSOLE_TOKEN", TOKEN)
    for console, secure in (({}, False), (PROXIED, True)):
        async with desk(console=console) as served:
            login = {"token": served.token}
            reply = await served.stranger.post(
                "/api/login", json=login, headers={"Origin": console.get("public_url", served.url)}
            )
            cookie = reply.headers["set-cookie"].lower()
            assert "httponly" in cookie
            assert "samesite=strict" in cookie
            assert "path=/" in cookie
            assert ("secure" in cookie) is secure
            assert cookie.startswith("__host-") is secure


async def test_what_changes_something_needs_our_origin_and_the_csrf_token(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        mark = {"turn": 1, "label": "wrong", "note": ""}
        path = f"/api/calls/{name}/marks"
        for wrong in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": ""},
            {"X-CSRF-Token": ""},
            {"X-CSRF-Token": "x" * 43},
            {"X-CSRF-Token": "é"},
        ):
            headers = {k: v.encode() for k, v in wrong.items()}
            assert (await served.post(path, mark, **headers)).status_code == 403, wrong
        assert (await served.client.post(path, json=mark)).status_code == 403
        page = (await served.get(f"/api/calls/{name}")).json()
        assert [turn["marks"] for turn in page["turns"]] == [[], []]
        assert (await served.post("/api/logout", {}, Origin="http://evil")).status_code == 403
        assert (await served.get("/api/me")).status_code == 200


async def test_logging_out_ends_the_session_for_whoever_has_its_cookie(desk):
    async with desk() as served:
        kept = served.cookie
        assert (await served.post("/api/logout", {})).status_code == 204
        again = await served.stranger.get("/api/me", headers={"Cookie": kept})
        assert again.status_code == 401


async def test_the_token_of_this_start_is_left_for_this_user_alone(desk):
    async with desk() as served:
        port = httpx.URL(served.url).port
        assert local_key.read(port) == served.token
    assert local_key.read(port) == ""


async def test_a_socket_needs_a_session_and_our_origin(desk):
    async with desk() as served:
        url = served.url.replace("http", "ws", 1) + "/api/live"
        session, ours = {"Cookie": served.cookie}, {"Origin": served.url}
        async with connect(url, additional_headers=session | ours, proxy=None) as socket:
            assert '"type":"calls"' in await socket.recv()
        for headers in (session, ours, session | {"Origin": "http://evil.example"}):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, additional_headers=headers, proxy=None)
            assert refused.value.response.status_code == 403
