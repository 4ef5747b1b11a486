"""By what URL and from whom: what is believed of a request, and what is not."""

import pytest
from starlette.requests import HTTPConnection

from agent.arrivals import arrival, foreign_origin
from agent.server_settings import ServerSettings, is_insecure, token_secret
from frontdesk import ConfigError


def come(server=None, *, peer="203.0.113.9", scheme="http", path="/twilio/voice", **headers):
    raw, _, query = path.partition("?")
    asked = HTTPConnection(
        {
            "type": "websocket" if scheme.startswith("ws") else "http",
            "scheme": scheme,
            "client": (peer, 1234),
            "raw_path": raw.encode(),
            "query_string": query.encode(),
            "headers": [
                (name.replace("_", "-").encode(), value.encode())
                for name, value in {"host": "10.0.0.5:8080", **headers}.items()
            ],
        }
    )
    return arrival(asked, server or ServerSettings())


FORWARDED = {
    "x_forwarded_proto": "https",
    "x_forwarded_host": "desk.example.com",
    "x_forwarded_for": "198.51.100.1, 198.51.100.2",
}


def test_the_configured_url_counts_whatever_the_request_says():
    server = ServerSettings(public_url="https://desk.example.com/", trust_proxy=("203.0.113.9",))
    evil = {**FORWARDED, "x_forwarded_host": "evil.example.com"}
    assert come(server, **evil, path="/a%2Fb?x=%20+").url == "https://desk.example.com/a%2Fb?x=%20+"
    server = ServerSettings(public_url="https://example.com/desk")
    assert come(server, path="/x").url == "https://example.com/desk/x"


def test_a_trusted_proxy_is_believed_and_no_other():
    trusting = ServerSettings(trust_proxy=("203.0.113.0/24",))
    found = come(trusting, **FORWARDED)
    assert (found.url, found.address) == ("https://desk.example.com/twilio/voice", "198.51.100.2")
    for server in (ServerSettings(), ServerSettings(trust_proxy=("203.0.113.10",))):
        found = come(server, **FORWARDED)
        assert (found.url, found.address) == ("http://10.0.0.5:8080/twilio/voice", "203.0.113.9")


def test_what_stands_before_the_proxys_own_word_is_not_believed():
    server = ServerSettings(trust_proxy=("203.0.113.9", "198.51.100.0/24"))
    found = come(server, **{**FORWARDED, "x_forwarded_for": "1.2.3.4, 192.0.2.1, 198.51.100.7"})
    assert found.address == "192.0.2.1"
    assert come(server, x_forwarded_for="").address == "203.0.113.9"


def test_behind_an_unnamed_proxy_of_this_machine_the_address_is_unknown():
    assert come(peer="127.0.0.1", **FORWARDED).address is None
    assert come(peer="127.0.0.1").address == "127.0.0.1"


def test_a_handshakes_url_is_that_of_a_socket():
    server = ServerSettings(public_url="https://desk.example.com")
    assert come(server, scheme="ws", path="/genesys/media?a=1").url == (
        "wss://desk.example.com/genesys/media?a=1"
    )
    assert come(scheme="ws").url == "ws://10.0.0.5:8080/twilio/voice"


@pytest.mark.parametrize("host", ["[", "a b", "", "\u00e9", "a/../b?", "x" * 5000])
def test_a_host_that_is_nonsense_is_no_error(host):
    assert come(host=host).path == "/twilio/voice"


@pytest.mark.parametrize(
    ("origin", "is_foreign"),
    [
        ("", False),
        ("https://desk.example.com", False),
        ("http://desk.example.com", False),  # libwebsockets writes no other scheme
        ("https://admin.example.com", False),
        ("https://evil.example.com", True),
        ("https://desk.example.com.evil.com", True),
        ("null", True),
        ("http://[", True),
        ("http://127.0.0.1:8080", True),
    ],
)
def test_whose_page_it_is(origin, is_foreign):
    server = ServerSettings(
        public_url="https://desk.example.com", allowed_origins=("https://admin.example.com",)
    )
    assert foreign_origin(come(server, origin=origin), server) is is_foreign


def test_without_a_public_url_every_page_is_a_stranger_even_one_that_names_our_host():
    found = come(host="evil.example.com", origin="http://evil.example.com")
    assert foreign_origin(found, ServerSettings())


@pytest.mark.parametrize(
    "unsafe",
    [
        {"host": "0.0.0.0"},
        {"host": "::"},
        {"host": "192.0.2.1"},
        {"public_url": "https://desk.example.com"},
        {"trust_proxy": ("127.0.0.1",)},
    ],
)
def test_insecure_is_refused_where_others_could_use_it(unsafe):
    with pytest.raises(ConfigError, match="insecure"):
        is_insecure(ServerSettings(insecure=True, **unsafe))
    assert is_insecure(ServerSettings(insecure="anywhere", **unsafe))
    assert not is_insecure(ServerSettings(**unsafe))
    assert is_insecure(ServerSettings(insecure=True))


def test_servers_share_a_secret_by_its_variable(monkeypatch):
    assert token_secret(ServerSettings()) != token_secret(ServerSettings())
    shared = ServerSettings(token_variable="DESK_TOKENS")
    with pytest.raises(ConfigError, match="set DESK_TOKENS"):
        token_secret(shared)
    monkeypatch.setenv("DESK_TOKENS", "short")
    with pytest.raises(ConfigError, match="32 characters"):
        token_secret(shared)
    monkeypatch.setenv("DESK_TOKENS", "x" * 32)
    assert token_secret(shared) == b"x" * 32
