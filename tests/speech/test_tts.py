"""The voice's service: what a frame says about how its text is spoken."""

import numpy as np
from pipecat.frames.frames import TTSAudioRawFrame, TTSSpeakFrame, TTSStoppedFrame

from frontdesk import Spoken
from speech.espeak import EspeakVoice
from speech.tts import LocalTTSService, SlowSpeakFrame
from tests.speech.running import Call

NUMBER = "Call 555-0142."


async def test_a_slow_frame_is_spoken_slowly_and_the_next_as_usual():
    voice = EspeakVoice()
    async with Call(LocalTTSService(voice)) as call:
        for number, frame in enumerate((SlowSpeakFrame(NUMBER), TTSSpeakFrame(NUMBER)), 1):
            await call.send(frame)
            await call.down.wait_for(TTSStoppedFrame, number)
    frames = call.down.of(TTSAudioRawFrame, TTSStoppedFrame)
    spoken, parts = [], []
    for frame in frames:
        if isinstance(frame, TTSAudioRawFrame):
            parts.append(np.frombuffer(frame.audio, np.int16))
        else:
            spoken.append(np.concatenate(parts).size)
            parts = []
    slow, usual = Spoken(NUMBER).slowly(), Spoken(NUMBER)
    assert spoken == [voice.render(slow).size, voice.render(usual).size]
    assert spoken[0] > 1.2 * spoken[1]
