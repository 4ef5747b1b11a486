"""Whole calls heard and spoken by other people's services, set as a business sets them."""

import asyncio
import gc

import pytest

from agent.engines import Engines
from agent.settings import load_settings
from bench.recordings import turn
from frontdesk import ConfigError
from tests.agent.live import serving
from tests.speech.fake_services import KEY, FakeServices

VOICE = "gongitsune"


@pytest.fixture
async def services(call_engines):
    async with FakeServices(call_engines._speech.recogniser).running() as services:
        yield services
    gc.collect()
    await asyncio.sleep(0)


@pytest.mark.slow
async def test_a_call_heard_over_http_and_spoken_over_a_websocket(settings, services, monkeypatch):
    monkeypatch.setenv("SPEECH_KEY", KEY)
    chosen = settings(
        recogniser={
            "engine": "pipecat.services.openai.stt:OpenAISTTService",
            "arguments": {"api_key": "$SPEECH_KEY", "base_url": f"{services.http}/v1"},
            "budget_ms": 10_000,
        },
        voice={
            "engine": "pipecat.services.deepgram.tts:DeepgramTTSService",
            "arguments": {"api_key": "$SPEECH_KEY", "base_url": services.ws},
        },
    )
    engines = await asyncio.to_thread(Engines, chosen)
    async with serving(chosen, engines) as server:
        result = await server.call([turn("q001", VOICE), turn("q002", VOICE)])
        events = await server.record()
    assert result.error is None
    assert result.unanswered == ()
    verdicts = [event for event in events if event["event"] == "verdict"]
    assert [verdict["citations"] for verdict in verdicts] == [["kb-hours#2"], ["kb-hours#3"]]
    assert services.spoken == [
        chosen.voice.greeting,
        "On Saturday the clinic is open from 9 a.m. to 1 p.m.",
        "On Sunday the clinic is closed all day.",
    ]


@pytest.mark.slow
async def test_a_voice_that_is_down_does_not_end_the_call(settings, services, monkeypatch):
    monkeypatch.setenv("SPEECH_KEY", KEY)
    services.failing = True
    chosen = settings(
        voice={
            "engine": "pipecat.services.openai.tts:OpenAITTSService",
            "arguments": {
                "api_key": "$SPEECH_KEY",
                "base_url": f"{services.http}/v1",
                "sample_rate": 24000,
            },
        }
    )
    engines = await asyncio.to_thread(Engines, chosen)
    async with serving(chosen, engines) as server:
        await server.call([turn("q001", VOICE)], linger_ms=500)
        events = await server.record()
    (verdict,) = (event for event in events if event["event"] == "verdict")
    assert verdict["citations"] == ["kb-hours#2"]


def test_an_engine_that_is_not_known_stops_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("FRONTDESK_CONFIG", str(tmp_path / "frontdesk.toml"))
    (tmp_path / "frontdesk.toml").write_text('[recogniser]\nengine = "ears"\n')
    with pytest.raises(ConfigError, match="no recogniser 'ears': moonshine, whisper, sherpa"):
        Engines(load_settings())
