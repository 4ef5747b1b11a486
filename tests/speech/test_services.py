"""The services in a real Pipecat pipeline."""

import asyncio
import threading

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
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from frontdesk import SpeechError, Spoken
from speech.services import MoonshineSTTService, PiperTTSService
from speech.types import Utterance

PARAMS = PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000)


class End(FrameProcessor):
    """Collects what reaches one end of the pipeline, and lets a test wait for it."""

    def __init__(self, direction: FrameDirection) -> None:
        super().__init__()
        self.frames, self._direction, self._changed = [], direction, asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if direction == self._direction:
            self.frames.append(frame)
            self._changed.set()
        await self.push_frame(frame, direction)

    def of(self, *kinds):
        return [frame for frame in self.frames if isinstance(frame, kinds)]

    async def wait_for(self, kind, count=1):
        async with asyncio.timeout(20):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.of(kind)[count - 1]


class Call:
    """One service between two ends, running."""

    def __init__(self, service) -> None:
        self.up, self.down = End(FrameDirection.UPSTREAM), End(FrameDirection.DOWNSTREAM)
        self.service = service
        self._worker = PipelineWorker(
            Pipeline([self.up, service, self.down]),
            params=PARAMS,
            enable_rtvi=False,
            cancel_on_idle_timeout=False,
        )

    async def __aenter__(self):
        started = asyncio.Event()

        @self._worker.event_handler("on_pipeline_started")
        async def _(*_):
            started.set()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self._worker)
        self._running = asyncio.create_task(runner.run())
        await asyncio.wait_for(started.wait(), 10)
        return self

    async def __aexit__(self, *_):
        await self.send(EndFrame())
        await asyncio.wait_for(self._running, 20)

    async def send(self, *frames):
        for frame in frames:
            await self._worker.queue_frame(frame)

    async def commit(self):
        """What the turn logic downstream does."""
        await self.down.push_frame(UserStoppedSpeakingFrame(), FrameDirection.UPSTREAM)

    async def hear(self, samples):
        """Audio of one caller in 20 ms frames."""
        await self.send(
            *(
                InputAudioRawFrame(samples[at : at + 160].tobytes(), 8000, 1)
                for at in range(0, samples.size, 160)
            )
        )


class Recogniser:
    """Moonshine, held back and counted; ``seconds`` are those of the audio it was given."""

    def __init__(self, moonshine=None):
        self.moonshine, self.seconds = moonshine, []
        self.gate, self.begun = threading.Event(), threading.Semaphore(0)
        self.gate.set()

    def transcribe(self, audio):
        self.seconds.append(round(audio.size / 16000, 2))
        self.begun.release()
        assert self.gate.wait(10)
        if self.moonshine is None:
            return Utterance(f"{audio.size / 16000:.2f} s", audio.size / 16, 1.0, -0.1)
        return self.moonshine.transcribe(audio)

    async def running(self):
        assert await asyncio.to_thread(self.begun.acquire, timeout=10)


START, STOP = VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
SECOND = np.full(8000, 1000, np.int16)
SILENCE = np.zeros(8000, np.int16)


@pytest.fixture
def recogniser():
    recogniser = Recogniser()
    yield recogniser
    recogniser.gate.set()


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
    async with Call(MoonshineSTTService(recogniser)) as call:
        await call.hear(speech)
    passed = b"".join(frame.audio for frame in call.down.of(InputAudioRawFrame))
    assert passed == speech.tobytes()


async def test_provisional_result_is_reused(recogniser):
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    async with Call(MoonshineSTTService(recogniser)) as call:
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


async def test_a_long_turn_keeps_its_last_30_seconds(recogniser):
    async with Call(MoonshineSTTService(recogniser)) as call:
        await call.send(START())
        for _ in range(32):
            await call.send(InputAudioRawFrame(SECOND.tobytes(), 8000, 1))
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
    assert recogniser.seconds == [30.0]


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
    def fail(_):
        raise SpeechError("recogniser failed: no")

    recogniser.transcribe = fail
    async with Call(MoonshineSTTService(recogniser)) as call:
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

    def fail(_):
        recogniser.transcribe = hear
        raise error

    recogniser.transcribe = fail
    async with Call(MoonshineSTTService(recogniser)) as call:
        for turn, text in ((1, ""), (2, "1.45 s")):
            await call.send(START())
            await call.hear(SECOND)
            await call.send(STOP())
            await call.down.wait_for(EagerTranscriptionFrame, turn)
            await call.commit()
            assert (await call.down.wait_for(TranscriptionFrame, turn)).text == text
    assert [frame.error for frame in call.up.of(ErrorFrame)] == [f"recogniser failed: {error}"]


async def test_audio_of_half_a_sample_is_answered(recogniser):
    async with Call(MoonshineSTTService(recogniser)) as call:
        await call.send(START(), InputAudioRawFrame(b"\1\2\3", 8000, 1), STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""
    assert "recogniser failed" in call.up.of(ErrorFrame)[0].error


async def test_run_stt_itself_hears_or_says_why_not(recogniser):
    service = MoonshineSTTService(recogniser)
    service._sample_rate = 8000
    (frame,) = [frame async for frame in service.run_stt(SECOND.tobytes())]
    assert (type(frame), frame.text) == (TranscriptionFrame, "1.00 s")
    (frame,) = [frame async for frame in service.run_stt(b"\1\2\3")]
    assert (type(frame), frame.error[:18]) == (ErrorFrame, "recogniser failed:")


async def test_a_committed_turn_is_answered_before_the_end(recogniser):
    recogniser.gate.clear()
    async with Call(MoonshineSTTService(recogniser)) as call:
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
    service = PiperTTSService(engines.voice)
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
    def fail(_):
        raise SpeechError("voice failed")

    monkeypatch.setattr(engines.voice, "_synthesise", fail)
    return engines


async def test_a_failing_voice_is_an_error_frame(failing_voice):
    service = PiperTTSService(failing_voice.voice)
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
