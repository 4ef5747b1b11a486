"""The services in a real Pipecat pipeline."""

import asyncio

import numpy as np
import pytest
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
    UserStoppedSpeakingFrame,
)

from frontdesk import SpeechError, Spoken
from speech.services import LocalSTTService, LocalTTSService
from speech.types import Utterance
from tests.speech.running import SECOND, SILENCE, START, STOP, Call


async def test_hears_a_turn(engines, over_telephone):
    speech = over_telephone("What time do you open on Saturday?")
    async with Call(engines.stt()) as call:
        await call.hear(SILENCE)
        await call.send(START(start_secs=0.1))
        await call.hear(speech)
        await call.send(STOP(stop_secs=0.1))
        eager = await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert eager.text == final.text == "What time do you open on Saturday?"
    assert isinstance(eager.result, Utterance)
    assert final.result is eager.result
    assert final.finalized
    assert eager.result.audio_ms == pytest.approx(450 + speech.size / 8, abs=20)


async def test_audio_passes_through_unchanged(recogniser, over_telephone):
    speech = over_telephone("Hello.")
    speech = speech[: speech.size // 160 * 160]
    async with Call(LocalSTTService(recogniser)) as call:
        await call.hear(speech)
    passed = b"".join(frame.audio for frame in call.down.of(InputAudioRawFrame))
    assert passed == speech.tobytes()


async def test_provisional_result_is_reused(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.hear(SILENCE)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == "1.00 s"
    assert recogniser.seconds == [1.0]
    assert not call.down.of(EagerEndOfTurnCancelFrame)


async def test_resumed_speech_supersedes_and_the_whole_turn_is_decoded(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.send(START())
        await call.down.wait_for(EagerEndOfTurnCancelFrame)
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame, 2)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
    assert recogniser.seconds == [1.0, 2.0]
    kinds = (EagerTranscriptionFrame, EagerEndOfTurnCancelFrame, TranscriptionFrame)
    assert [getattr(frame, "text", "cancel") for frame in call.down.of(*kinds)] == [
        "1.00 s",
        "cancel",
        "2.00 s",
        "2.00 s",
    ]


async def test_outspoken_decodes_are_dropped_and_never_queue_up(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await recogniser.running()
        for _ in range(3):
            await call.send(START())
            await call.hear(SECOND)
            await call.send(STOP())
        await call.down.wait_for(STOP, 4)
        recogniser.gate.set()
        await call.down.wait_for(EagerTranscriptionFrame)
    assert recogniser.seconds == [1.0, 4.0]
    assert [frame.text for frame in call.down.of(EagerTranscriptionFrame)] == ["4.00 s"]
    assert not call.down.of(EagerEndOfTurnCancelFrame)


async def test_commit_during_a_decode_waits_for_it(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await recogniser.running()
        await call.commit()
        await call.up.wait_for(UserStoppedSpeakingFrame)
        await call.send(START())  # the next turn must not take this one's answer away
        await call.down.wait_for(START, 2)
        recogniser.gate.set()
        await call.down.wait_for(TranscriptionFrame)
    assert [frame.text for frame in call.down.of(TranscriptionFrame)] == ["1.00 s"]
    assert not call.down.of(EagerTranscriptionFrame, EagerEndOfTurnCancelFrame)
    assert recogniser.seconds == [1.0]


async def test_commit_while_speaking_decodes_what_there_is(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.down.wait_for(InputAudioRawFrame, 50)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
    assert recogniser.seconds == [1.0, 1.45]


async def test_turns_do_not_mix_and_keep_a_pre_roll(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        for turn in (1, 2):
            await call.hear(SILENCE)
            await call.hear(SILENCE)
            await call.send(START())
            await call.hear(SECOND)
            await call.send(STOP())
            await call.down.wait_for(EagerTranscriptionFrame, turn)
            await call.commit()
            await call.down.wait_for(TranscriptionFrame, turn)
    assert recogniser.seconds == [1.45, 1.45]


async def test_nothing_recognised_is_still_an_answer(engines):
    async with Call(engines.stt()) as call:
        await call.commit()
        first = await call.down.wait_for(TranscriptionFrame)
        await call.send(START())
        await call.hear(SILENCE)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        second = await call.down.wait_for(TranscriptionFrame, 2)
    assert (first.text, second.text) == ("", "")


async def test_a_failed_decode_is_an_error_and_an_empty_answer(recogniser):
    def fail(audio, **_):
        raise SpeechError("recogniser failed: no")

    recogniser.transcribe = fail
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await call.up.wait_for(ErrorFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""
    assert "recogniser failed" in call.up.of(ErrorFrame)[0].error


@pytest.mark.parametrize("error", [ValueError("odd"), MemoryError(), KeyError(7)])
async def test_a_decode_that_fails_oddly_is_answered_too_and_the_next_is_heard(recogniser, error):
    hear = recogniser.transcribe

    def fail(audio, *, hint, width=4):
        if width == 1:
            return hear(audio, hint=hint, width=1)
        recogniser.transcribe = hear
        raise error

    recogniser.transcribe = fail
    async with Call(LocalSTTService(recogniser)) as call:
        for turn, text in ((1, ""), (2, "1.45 s")):
            await call.send(START())
            await call.hear(SECOND)
            await call.send(STOP())
            await call.down.wait_for(EagerTranscriptionFrame, turn)
            await call.commit()
            assert (await call.down.wait_for(TranscriptionFrame, turn)).text == text
    assert [frame.error for frame in call.up.of(ErrorFrame)] == [f"recogniser failed: {error}"]


async def test_audio_of_half_a_sample_is_answered(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START(), InputAudioRawFrame(b"\1\2\3", 8000, 1), STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""
    assert "recogniser failed" in call.up.of(ErrorFrame)[0].error


async def test_run_stt_itself_hears_or_says_why_not(recogniser):
    service = LocalSTTService(recogniser)
    service._sample_rate = 8000
    (frame,) = [frame async for frame in service.run_stt(SECOND.tobytes())]
    assert (type(frame), frame.text) == (TranscriptionFrame, "1.00 s")
    (frame,) = [frame async for frame in service.run_stt(b"\1\2\3")]
    assert (type(frame), frame.error[:18]) == (ErrorFrame, "recogniser failed:")


async def test_a_committed_turn_is_answered_before_the_end(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await recogniser.running()
        await call.commit()
        await call.up.wait_for(UserStoppedSpeakingFrame)
        await call.send(EndFrame())
        recogniser.gate.set()
    assert [frame.text for frame in call.down.of(TranscriptionFrame)] == ["1.00 s"]


async def test_speaks_what_the_voice_renders(engines):
    text = "We open at 8:30 a.m. Please come early."
    async with Call(engines.tts()) as call:
        await call.send(TTSSpeakFrame(text))
        await call.down.wait_for(TTSStoppedFrame)
    frames = call.down.of(TTSStartedFrame, TTSAudioRawFrame, TTSTextFrame, TTSStoppedFrame)
    assert [type(frame) for frame in frames] == [
        TTSStartedFrame,
        TTSAudioRawFrame,
        TTSAudioRawFrame,
        TTSTextFrame,
        TTSStoppedFrame,
    ]
    assert len({frame.context_id for frame in frames}) == 1
    audio = b"".join(frame.audio for frame in call.down.of(TTSAudioRawFrame))
    assert audio == engines.voice.render(Spoken(text)).tobytes()
    assert {frame.sample_rate for frame in call.down.of(TTSAudioRawFrame)} == {8000}


async def test_speaks_at_the_pipelines_rate(engines):
    spoken = Spoken("Goodbye.")
    async with Call(engines.tts(sample_rate=16000)) as call:
        await call.send(TTSSpeakFrame(spoken.text))
        await call.down.wait_for(TTSStoppedFrame)
    (frame,) = call.down.of(TTSAudioRawFrame)
    assert frame.sample_rate == 16000
    assert len(frame.audio) == 2 * engines.voice.render(spoken).nbytes


async def test_a_citation_is_never_voiced(engines):
    async with Call(engines.tts()) as call:
        await call.send(TTSSpeakFrame("We open at 8 [kb-hours]."))
        await call.up.wait_for(ErrorFrame)
        await call.send(TTSSpeakFrame("Goodbye."))
        await call.down.wait_for(TTSStoppedFrame)
    assert "[kb-hours]" in call.up.of(ErrorFrame)[0].error
    assert [frame.text for frame in call.down.of(TTSTextFrame)] == ["Goodbye."]
    assert len(call.down.of(TTSAudioRawFrame)) == 1


async def test_run_tts_itself_refuses_a_citation(engines):
    service = LocalTTSService(engines.voice)
    frames = [frame async for frame in service.run_tts("At 8 [kb-hours].", "context")]
    assert [type(frame) for frame in frames] == [ErrorFrame]


@pytest.mark.parametrize("text", ["...", "🙂", "—", " "])
async def test_text_without_a_word_opens_nothing(engines, text):
    async with Call(engines.tts()) as call:
        for _ in range(4):  # three without audio would end a Pipecat voice for good
            await call.send(TTSSpeakFrame(text))
        await call.send(TTSSpeakFrame("Goodbye."))
        await call.down.wait_for(TTSStoppedFrame)
    assert len(call.down.of(TTSStartedFrame)) == len(call.down.of(TTSAudioRawFrame)) == 1
    assert not call.up.of(ErrorFrame)


@pytest.fixture
def failing_voice(engines, monkeypatch):
    def fail(audio, **_):
        raise SpeechError("voice failed")

    monkeypatch.setattr(engines.voice, "synthesise", fail)
    return engines


async def test_a_failing_voice_is_an_error_frame(failing_voice):
    service = LocalTTSService(failing_voice.voice)
    frames = [frame async for frame in service.run_tts("Never said before.", "context")]
    assert [frame.error for frame in frames] == ["voice failed"]


async def test_a_failing_voice_holds_nothing_up(failing_voice):
    """Pipecat would wait 3 s for audio that does not come."""
    spoken = Spoken("Goodbye.")
    failing_voice.voice._cache.put(spoken.text, np.full(800, 1000, np.int16))
    async with Call(failing_voice.tts()) as call:
        async with asyncio.timeout(2):
            await call.send(TTSSpeakFrame("Never said before either."))
            await call.send(TTSSpeakFrame(spoken.text))
            await call.down.wait_for(TTSStoppedFrame, 2)
    assert call.up.of(ErrorFrame)[0].error == "voice failed"
    assert len(call.down.of(TTSAudioRawFrame)) == 1
