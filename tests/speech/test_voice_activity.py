"""The VAD in a pipeline: pauses are told early, in order, and without a queue."""

import numpy as np
from pipecat.frames.frames import (
    InputAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import run_test

from speech.vad import SharedSileroAnalyzer
from speech.voice_activity import SpeechPausingFrame, VoiceActivity


async def test_pausing_comes_before_stopped(over_telephone):
    speech = over_telephone("How do I get a refill?")
    audio = np.pad(speech, (8000, 8000))
    frames = [
        InputAudioRawFrame(audio[at : at + 160].tobytes(), 8000, 1)
        for at in range(0, audio.size - 159, 160)
    ]
    down, _ = await run_test(
        VoiceActivity(SharedSileroAnalyzer(sample_rate=8000)), frames_to_send=frames
    )
    wanted = (SpeechPausingFrame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame)
    told = [type(frame) for frame in down if isinstance(frame, wanted)]
    assert told[0] is VADUserStartedSpeakingFrame
    assert told[-2:] == [SpeechPausingFrame, VADUserStoppedSpeakingFrame]
    kept = [frame.audio for frame in down if isinstance(frame, InputAudioRawFrame)]
    assert kept == [frame.audio for frame in frames]
