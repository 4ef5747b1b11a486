"""Calls from sipp and baresip, programs that others wrote."""

import asyncio
import wave

import numpy as np
import pytest

from bench.sip_phone import snr_db, speechlike
from tests.agent.one_processor import within
from tests.telephony.sip.tools import (
    baresip,
    free_port,
    needs_baresip,
    needs_root,
    needs_sipp,
    sipp,
)

pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
from bench.sip_desk import desk
from telephony.sip.stack import Registration

pytestmark = pytest.mark.slow


@needs_sipp
@needs_root
async def test_captured_keys_arrive_once_each(tmp_path):
    async with desk() as agent:
        assert await sipp("keys.xml", tmp_path, agent.port) == (0, "")
        assert (await agent.nth(1)).ear.keys == ["1", "9", "*", "#"]


@needs_sipp
async def test_keys_by_info(tmp_path):
    async with desk() as agent:
        assert await sipp("info_keys.xml", tmp_path, agent.port) == (0, "")
        assert (await agent.nth(1)).ear.keys == ["7"]


@needs_sipp
async def test_an_invite_without_sdp_is_offered_ours(tmp_path):
    async with desk() as agent:
        assert await sipp("no_sdp.xml", tmp_path, agent.port) == (0, "")
        call = await agent.nth(1)
        await asyncio.wait_for(call.over.wait(), 5)


@needs_sipp
async def test_options_is_answered(tmp_path):
    async with desk() as agent:
        assert await sipp("options.xml", tmp_path, agent.port) == (0, "")
        assert not agent.calls


@needs_sipp
async def test_a_lost_ack_leaves_nothing_behind(tmp_path):
    async with desk() as agent:
        await sipp("lost_ack.xml", tmp_path, agent.port)
        await within(10, lambda: agent.refused == 1)
        assert not agent.calls


@needs_sipp
async def test_registering_with_a_password(tmp_path):
    port = free_port()
    registrar = asyncio.create_task(
        sipp("registrar.xml", tmp_path, None, "-p", str(port), timeout_s=30)
    )
    plan = {"targets": {"127.0.0.1": "voip"}}
    account = Registration("voip", f"127.0.0.1:{port}", "1000", "secret-of-1000")
    await asyncio.sleep(0.5)  # sipp says nowhere that it listens
    async with desk(plan=plan, registrations=[account]) as agent:
        await within(15, lambda: "voip" in agent.stack.registered)
    await registrar


@needs_baresip
@pytest.mark.parametrize("way", ["udp", "tcp", "tls", "srtp", "pcma", "g722"])
async def test_a_call_by_baresip(tmp_path, way, certificate):
    rate_hz = 16000 if way == "g722" else 8000
    said, greeting = speechlike(4, 2), speechlike(3, 1, rate_hz)
    with wave.open(str(tmp_path / "said.wav"), "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(np.pad(said, (8000, 24000)).tobytes())  # at its end baresip hangs up
    kind = way if way in ("tcp", "tls") else "udp"
    options = {"srtp": "required", "plan": {"secure_only": True}} if way == "srtp" else {}
    if kind == "tls":
        options["plan"] = {"certificate": str(certificate)}
    account = {
        "srtp": ";mediaenc=srtp-mand",
        "pcma": ";audio_codecs=pcma",
        "g722": ";audio_codecs=g722/16000/1",
    }.get(way, "")
    codecs = ("g722", "pcmu") if way == "g722" else ("pcmu", "pcma")
    async with desk(saying=greeting, listen=(kind,), codecs=codecs, **options) as agent:
        uri = f"sip:agent@127.0.0.1:{agent.stack.ports[kind]};transport={kind}"
        async with baresip(tmp_path, uri, tmp_path / "said.wav", account=account) as home:
            call = await agent.nth(1, 15)
            assert call.line.rate_hz == rate_hz
            await within(15, lambda: "greeting" in call.listener.marks)
            size = rate_hz * 2
            await call.ear.has(lambda: len(call.ear.audio) > 5.5 * size)
        await asyncio.wait_for(call.over.wait(), 10)
        if way == "g722":
            assert np.abs(call.ear.heard()).max() > 3000
        else:
            assert snr_db(said, call.ear.heard())[1] > 30
            with wave.open(str(next(home.glob("dump-*-dec.wav"))), "rb") as heard:
                samples = np.frombuffer(heard.readframes(heard.getnframes()), np.int16)
            assert snr_db(greeting, samples)[1] > 20
