"""SIP in the agent: its settings, what is refused before a call begins, and a call."""

import signal
import socket
import sys

import httpx
import psutil
import pytest

from agent.doorman import Doorman
from agent.settings import load_settings
from agent.sip_server import sip_listening
from bench.recordings import turn
from bench.sip_phone import phone
from frontdesk import ConfigError, WireError
from telephony.caller import place_call
from tests.agent.live import serving
from tests.agent.one_processor import within


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Board:
    """A switchboard that counts."""

    def __init__(self, full=False):
        self.full, self.calls, self.held = full, set(), []

    async def hold(self, start, open_line, **more):
        self.held.append(start)

    async def stop(self):
        pass


@pytest.mark.parametrize(
    "given",
    [
        {"listen": "5060"},
        {"listen": "udp:example.com:5060"},
        {"listen": "udp:127.0.0.1:99999"},
        {"listen": "udp:127.0.0.1:5060, udp:127.0.0.1:5061"},
        {"listen": "tls:127.0.0.1:5061"},
        {"codecs": []},
        {"codecs": ["opus"]},
        {"srtp": "maybe"},
        {"public_address": "sip.example.com"},
        {"rtp_ports": "10000"},
        {"rtp_ports": "20000-10000"},
        {"trunks": [{"name": "a"}]},
        {
            "listen": "tcp:127.0.0.1:5060",
            "trunks": [{"name": "a", "host": "sip.example.com", "user": "1"}],
        },
        {"trunks": [{"name": "a", "addresses": ["0.0.0.0/0"]}]},
        {"trunks": [{"name": "a", "addresses": ["sip.example.com"]}]},
        {"trunks": [{"name": "a", "host": "sip.example.com"}]},
        {"trunks": [{"name": "a", "addresses": ["203.0.113.7"], "password": "in the file"}]},
    ],
)
def test_a_setting_that_cannot_be_is_refused(given):
    with pytest.raises(ConfigError):
        load_settings(sip=given)


def listening(settings, board):
    return sip_listening(settings, board, Doorman(settings.server))


def test_the_plan_says_what_the_settings_say():
    settings = load_settings(
        sip={
            "listen": "udp:0.0.0.0:5060, tls:[::1]:5061",
            "certificate": "cert.pem",
            "public_address": "192.0.2.1",
            "rtp_ports": "10001-10100",
            "srtp": "required",
            "trunks": [
                {"name": "voip", "addresses": ["203.0.113.0/24"]},
                {"name": "reg", "host": "sip.example.com:5080", "user": "1000", "transport": "tcp"},
            ],
        }
    )
    plan = settings.sip.plan()
    assert [(x.kind, x.host, x.port) for x in plan.listen] == [
        ("udp", "0.0.0.0", 5060),
        ("tls", "::1", 5061),
    ]
    assert plan.rtp_ports == (10002, 10101)
    assert plan.targets == {"sip.example.com": "reg"}
    assert plan.kinds == {"reg": "tcp"}
    assert plan.secure_only
    assert type(plan).loads(plan.dumps()) == plan


def test_a_password_comes_from_its_variable(monkeypatch):
    trunk = {"name": "reg", "host": "h", "user": "1", "password_variable": "SIP_PASSWORD"}
    (found,) = load_settings(sip={"trunks": [trunk]}).sip.trunks
    with pytest.raises(ConfigError, match="set SIP_PASSWORD"):
        found.password()
    monkeypatch.setenv("SIP_PASSWORD", "s")
    assert found.password() == "s"


async def test_without_an_address_there_is_no_sip():
    async with listening(load_settings(), Board()) as server:
        assert server is None


async def test_without_the_library_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "telephony.sip.stack", None)
    with pytest.raises(ConfigError, match=r"\[sip\]"):
        async with listening(load_settings(sip={"listen": "udp:127.0.0.1:0"}), Board()):
            pass


@pytest.mark.slow
async def test_a_port_that_is_taken_is_said_so():
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        settings = load_settings(sip={"listen": f"udp:127.0.0.1:{one.getsockname()[1]}"})
        with pytest.raises(ConfigError, match=r"set sip\.listen"):
            async with listening(settings, Board()):
                pass


@pytest.mark.slow
async def test_a_certificate_that_is_not_there_is_said_so(tmp_path):
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    given = {"listen": "tls:127.0.0.1:0", "certificate": str(tmp_path / "none.pem")}
    with pytest.raises(ConfigError, match=r"set sip\.certificate .*No such file"):
        async with listening(load_settings(sip=given), Board()):
            pass


@pytest.mark.slow
async def test_one_call_too_many_is_busy():
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    board = Board(full=True)
    settings = load_settings(sip={"listen": "udp:127.0.0.1:0"})
    async with listening(settings, board) as server:
        uri = f"sip:agent@127.0.0.1:{server.ports['udp']}"
        result = await place_call(uri, [turn("q001", "rms")], wire="sip")
    assert result.ended_by == "error"
    assert "486" in result.error
    assert board.held == []


@pytest.mark.slow
async def test_a_caller_over_sip_is_answered(tmp_path, call_engines):
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    port = free_port()
    settings = load_settings(
        records={"folder": tmp_path / "calls"}, sip={"listen": f"udp:127.0.0.1:{port}"}
    )
    async with serving(settings, call_engines) as server:
        result = await place_call(
            f"sip:agent@127.0.0.1:{port}", [turn("q001", "gongitsune")], wire="sip"
        )
        events = await server.record()
    assert result.error is None
    assert result.unanswered == ()
    assert result.greeting_ms < 5000
    (verdict,) = (event for event in events if event["event"] == "verdict")
    assert verdict["decision"] == "answered"
    assert events[0]["caller"].endswith("00")
    assert events[-1]["reason"] == "caller hung up"


def gate_of_this_process():
    (found,) = [
        child for child in psutil.Process().children() if "telephony.sip.gate" in child.cmdline()
    ]
    return found


async def health(server):
    async with httpx.AsyncClient() as client:
        return (await client.get(f"{server.url}/healthz")).status_code


@pytest.mark.slow
async def test_a_gate_that_ends_ends_its_calls_and_is_started_again(tmp_path, call_engines):
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    port = free_port()
    settings = load_settings(
        records={"folder": tmp_path / "calls"}, sip={"listen": f"udp:127.0.0.1:{port}"}
    )
    uri = f"sip:agent@127.0.0.1:{port}"
    async with serving(settings, call_engines) as server:
        gate = gate_of_this_process()
        for group_wide in (signal.SIGINT, signal.SIGTERM):  # the agent's to act on
            gate.send_signal(group_wide)
        async with phone(uri) as caller:
            await caller.dial()
            await within(10, lambda: server.switchboard.calls)
            gate.kill()
            events = await server.record()
        assert events[-1]["reason"] == "wire error"
        assert await health(server) == 503
        await within(20, lambda: server.app.state.sip.up)
        assert await health(server) == 200
        async with phone(uri) as caller:
            await caller.dial()


@pytest.mark.slow
async def test_one_number_cannot_call_all_the_time(call_engines, tmp_path, monkeypatch):
    pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
    monkeypatch.setattr("agent.sip_server.is_loopback", lambda host: False)
    board = Board()
    settings = load_settings(sip={"listen": "udp:127.0.0.1:0"}, server={"calls_per_number": 1})
    async with listening(settings, board) as server:
        uri = f"sip:agent@127.0.0.1:{server.ports['udp']}"
        async with phone(uri) as caller:
            await caller.dial()
            await within(10, lambda: board.held)
        async with phone(uri) as caller:
            with pytest.raises(WireError, match="486"):
                await caller.dial()
    assert len(board.held) == 1
