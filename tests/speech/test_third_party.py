"""Pipecat's own services by import path, against fakes that speak their protocols."""

import asyncio
import gc

import pytest
from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    ErrorFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
)

from frontdesk import ConfigError
from speech.third_party import Recognisers, Speakers
from tests.speech.fake_services import KEY, FakeServices
from tests.speech.running import SILENCE, START, STOP, Call

SENTENCE = "We open at nine on Saturday."
QUESTION = "What time do you open on Saturday?"
OPENAI_STT = "pipecat.services.openai.stt:OpenAISTTService"
CARTESIA_STT = "pipecat.services.cartesia.stt:CartesiaSTTService"
OPENAI_TTS = "pipecat.services.openai.tts:OpenAITTSService"
DEEPGRAM_TTS = "pipecat.services.deepgram.tts:DeepgramTTSService"
DEEPGRAM_HTTP_TTS = "pipecat.services.deepgram.tts:DeepgramHttpTTSService"


@pytest.fixture
async def services(engines):
    async with FakeServices(engines.recogniser).running() as services:
        yield services
    gc.collect()  # the OpenAI client closes its lines when it goes, which takes a running loop
    await asyncio.sleep(0)


def arguments_of(path, services):
    """As a business would write them."""
    if path == CARTESIA_STT:
        return {"api_key": KEY, "base_url": services.ws}
    if path == DEEPGRAM_TTS:
        return {"api_key": KEY, "base_url": services.ws, "settings": {"voice": "aura-2-thalia-en"}}
    if path == DEEPGRAM_HTTP_TTS:
        return {"api_key": KEY, "base_url": services.http, "sample_rate": 16000}
    more = {"sample_rate": 24000} if path == OPENAI_TTS else {}
    return {"api_key": KEY, "base_url": f"{services.http}/v1", **more}


async def turn(call, speech):
    await call.send(START(start_secs=0.1))
    await call.hear(speech)
    await call.send(STOP(stop_secs=0.1))


@pytest.mark.parametrize("path", [OPENAI_STT, CARTESIA_STT])
async def test_a_recogniser_hears_two_turns_once_each(services, over_telephone, path):
    speech = over_telephone(QUESTION)
    made = Recognisers(path, arguments_of(path, services), budget_ms=10_000)
    async with Call(made.service()) as call:
        for number in (1, 2):
            await call.hear(SILENCE)
            await turn(call, speech)
            await call.down.wait_for(EagerTranscriptionFrame, number)
            await call.commit()
            await call.down.wait_for(TranscriptionFrame, number)
    texts = call.down.of(EagerTranscriptionFrame, TranscriptionFrame)
    assert [frame.text for frame in texts] == [QUESTION] * 4
    assert texts[1].finalized
    assert texts[1].result.text == QUESTION
    assert texts[1].result.audio.size == pytest.approx(speech.size + 0.45 * 8000, abs=3200)
    assert not call.up.of(ErrorFrame)


async def test_interims_are_passed_on(services, over_telephone):
    made = Recognisers(CARTESIA_STT, arguments_of(CARTESIA_STT, services))
    async with Call(made.service()) as call:
        await turn(call, over_telephone(QUESTION))
        interim = await call.down.wait_for(InterimTranscriptionFrame)
        assert interim.result.provisional
        assert interim.text.startswith("What time")


async def test_a_server_that_fails_costs_its_turn_and_not_the_call(services, over_telephone):
    speech = over_telephone(QUESTION)
    made = Recognisers(OPENAI_STT, arguments_of(OPENAI_STT, services), budget_ms=50)
    async with Call(made.service()) as call:
        services.failing = True
        await turn(call, speech)
        await call.down.wait_for(STOP)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""
        await call.up.wait_for(ErrorFrame)
        services.failing = False
        await turn(call, speech)
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame, 2)).text == QUESTION


@pytest.mark.parametrize("path", [OPENAI_TTS, DEEPGRAM_TTS, DEEPGRAM_HTTP_TTS])
async def test_a_voice_speaks_what_its_server_sends(services, path):
    async with Call(Speakers(path, arguments_of(path, services)).service()) as call:
        await call.send(TTSSpeakFrame(SENTENCE))
        await call.down.wait_for(TTSStoppedFrame)
    frames = call.down.of(TTSAudioRawFrame)
    assert services.spoken == [SENTENCE]
    assert [b"".join(frame.audio for frame in frames)] == services.sent


async def test_a_citation_never_reaches_a_service(services):
    async with Call(Speakers(OPENAI_TTS, arguments_of(OPENAI_TTS, services)).service()) as call:
        await call.send(TTSSpeakFrame("We open at nine [kb-hours#1]."))
        await call.up.wait_for(ErrorFrame)
        await call.send(TTSSpeakFrame("We close at five."))
        await call.down.wait_for(TTSStoppedFrame)
    assert services.spoken == ["We close at five."]


async def test_a_voice_that_fails_again_and_again_speaks_when_it_can(services):
    path = DEEPGRAM_HTTP_TTS
    async with Call(Speakers(path, arguments_of(path, services)).service()) as call:
        services.failing = True
        for number in range(1, 5):  # Pipecat itself gives up after three
            await call.send(TTSSpeakFrame("We open at nine."))
            await call.up.wait_for(ErrorFrame, number)
        services.failing = False
        await call.send(TTSSpeakFrame("We close at five."))
        await call.down.wait_for(TTSAudioRawFrame)
    assert services.spoken == ["We close at five."]


@pytest.mark.parametrize(
    ("path", "arguments", "line"),
    [
        ("pipecat.services.openai.stt", {}, "write package.module:Class"),
        ("no.such.module:X", {}, r"cannot import no\.such\.module"),
        ("pipecat.services.sarvam.stt:SarvamSTTService", {}, r"pipecat-ai\[sarvam\]"),
        ("pipecat.services.openai.stt:Nothing", {}, "it has .*OpenAISTTService"),
        ("pipecat.services.openai.tts:OpenAITTSService", {}, "it has none"),
        (OPENAI_STT, {"bas_url": "x"}, "takes no argument 'bas_url'; did you mean 'base_url'"),
        (CARTESIA_STT, {}, "CartesiaSTTService cannot be made: .*api_key"),
        (OPENAI_STT, {"api_key": "k", "settings": {"modle": "x"}}, "did you mean 'model'"),
    ],
)
def test_what_cannot_be_made_says_why(path, arguments, line):
    with pytest.raises(ConfigError, match=line):
        Recognisers(path, arguments)
