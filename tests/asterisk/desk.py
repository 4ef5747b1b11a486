"""The agent that Asterisk dials, on the port that Asterisk was told."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np

from agent.server import build_app, listen, make_server
from telephony.caller import CallerTurn, load_audio, place_call
from tests.agent.live import Server
from tests.asterisk.pbx import ARI_PASSWORD, PASSWORD
from tests.isolation import ROOT

ENABLED = {"enabled": True}


@asynccontextmanager
async def desk(pbx, settings, engines, monkeypatch, *, ari=False, to="", password=PASSWORD):
    """The product's server, with Asterisk let in; transfers go to ``to``, by ARI if asked."""
    monkeypatch.setenv("ASTERISK_PASSWORD", password)
    monkeypatch.setenv("ASTERISK_ARI_PASSWORD", ARI_PASSWORD)
    chosen = settings(
        providers={"asterisk": {**ENABLED, "api_url": pbx.ari_url if ari else ""}},
        audiosocket={"listen": f"127.0.0.1:{pbx.audiosocket_port}", "expected_only": True},
        handover={"to": to, "hold_s": 60},
        server={"calls_per_number": 1000, "port": pbx.agent_port},
    )
    app = build_app(chosen, engines)
    server = make_server(app, chosen)
    task = asyncio.create_task(server.serve(sockets=[listen("127.0.0.1", pbx.agent_port)]))
    try:
        yield Server(pbx.agent_port, app, chosen.records.folder)
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, 20)


def question(name):
    """A recorded question of the clinic's callers."""
    return load_audio(ROOT / "tests" / "audio" / "joe" / f"{name}.flac")


def asks(name, **how):
    """The caller's turn that asks it."""
    return CallerTurn(question(name), name, **how)


def presses(digits):
    """The caller's turn that presses keys."""
    return CallerTurn(np.zeros(1600, np.int16), digits, digits=digits)


async def call(pbx, *turns, **how):
    """A call that comes in by the trunk."""
    return await place_call(pbx.trunk, list(turns), wire="sip", **how)


def events(record, kind):
    """The events of that kind."""
    return [one for one in record if one["event"] == kind]


async def quiet(pbx):
    """Wait until Asterisk has no call's leg left."""
    await asyncio.to_thread(pbx.wait_for_quiet)
