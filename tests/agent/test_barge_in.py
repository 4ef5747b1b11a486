"""Who may cut the agent: real audio through the real VAD, the clock moved with every frame."""

import asyncio
import time

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.audio.vad_processor import VADProcessor

from agent.call import attentive
from agent.playback import Playback
from agent.settings import VadSettings
from agent.trace import CallTrace
from agent.turn_taking import TurnTaking
from agent.turns import TurnPolicy
from bench.recordings import AUDIO, clips
from frontdesk import Spoken
from speech.vad import SharedSileroAnalyzer
from telephony.caller import AUDIBLE, CallerTurn, load_audio
from telephony.g711 import ulaw_decode, ulaw_encode
from tests.agent.live import Phone, serving
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events

RATE = 8000
FRAME = 160
LATE_MS = 150
STARTS_MS = 400
# The recordings by the agent's own voice stand for what it says.
AGENT = "joe"


def spoken_by(voice, question):
    return load_audio(AUDIO / voice / f"{question}.flac")


def said_long():
    """Six seconds and more of the agent's voice."""
    questions = sorted(clip["question"] for clip in clips() if clip["voice"] == AGENT)[:3]
    return np.concatenate([spoken_by(AGENT, question) for question in questions])


def mixed(*parts, seconds=9.0):
    """``(samples, at_ms, db)`` on a quiet line, as they come out of µ-law."""
    line = np.random.default_rng(5).normal(0, 2, round(seconds * RATE))
    for samples, at_ms, db in parts:
        at = round(at_ms * RATE / 1000)
        part = samples[: line.size - at]
        line[at : at + part.size] += part * 10 ** (db / 20)
    return ulaw_decode(ulaw_encode(line.clip(-32768, 32767).astype(np.int16)))


class Line(OneProcessor):
    """A call's line while the agent says ``said`` from 0.4 s on."""

    def __init__(self, folder, said):
        async def turn_model(audio, rate_hz):
            return 0.0

        async def nothing(*_):
            pass

        self.record = FakeClockRecord(folder, "CA1")
        self.playback, self.said = Playback(), said
        vad = SharedSileroAnalyzer(
            params=VADParams(confidence=0.5, start_secs=0.128, stop_secs=0.096, min_volume=0.0)
        )
        turns = TurnTaking(
            TurnPolicy(),
            CallTrace(self.record),
            turn_model,
            on_silence=nothing,
            on_no_media=nothing,
            media_timeout_s=3600,
            playback=self.playback,
            on_agent=attentive(vad, VadSettings()),
        )
        self.turns = turns
        super().__init__(Pipeline([VADProcessor(vad_analyzer=vad), turns]))

    async def hears(self, line):
        """``line`` comes in; when the agent was cut, in ms, or None."""
        for at in range(0, line.size, FRAME):
            now = self.record.at_ms = at * 1000 / RATE
            if now == STARTS_MS:
                self.playback.begin(Spoken("What it says does not matter here."))
                self.playback.queued(self.said.tobytes(), RATE)
                self.playback.completed()
                self.playback.started(now)
                await self.send(BotStartedSpeakingFrame(), upstream=True)
            if now == STARTS_MS + self.said.size * 1000 // RATE // 20 * 20:
                self.playback.ended(now)
                await self.send(BotStoppedSpeakingFrame(), upstream=True)
            await self.send(InputAudioRawFrame(line[at : at + FRAME].tobytes(), RATE, 1))
            if self.down.of(InterruptionFrame):
                return now + FRAME * 1000 / RATE
        return None


@pytest.fixture
def line(tmp_path):
    return Line(tmp_path, said_long())


def first_audible_ms(samples):
    return np.flatnonzero(np.abs(samples.astype(int)) > AUDIBLE)[0] * 1000 / RATE


@pytest.mark.parametrize("db", [-10, -20, -30])
async def test_its_own_echo_does_not_stop_the_agent(line, db):
    async with line:
        assert await line.hears(mixed((line.said, STARTS_MS + LATE_MS, db))) is None
        # The recogniser is told that what it heard was no turn, unless it was too quiet to hear.
        ended = line.up.of(UserStoppedSpeakingFrame)
        assert len(ended) == len(events(line.record, "ignored"))


@pytest.mark.parametrize("voice", ["awb", "kal16", "rms", "slt"])
@pytest.mark.parametrize("echo_db", [None, -20])
async def test_a_caller_stops_it_also_over_an_echo(line, voice, echo_db):
    clean = (c["question"] for c in clips() if c["voice"] == voice and not c["noise"])
    caller, at_ms = spoken_by(voice, next(clean)), 2000
    echo = [] if echo_db is None else [(line.said, STARTS_MS + LATE_MS, echo_db)]
    async with line:
        cut = await line.hears(mixed((caller, at_ms, 0), *echo))
        began = at_ms + first_audible_ms(caller)
        assert cut is not None
        assert 0 < cut - began <= 240


async def test_a_sound_that_no_voice_makes_does_not_stop_it(line):
    rng = np.random.default_rng(3)
    click = rng.normal(0, 9000, 24)
    knock = 14000 * np.exp(-np.arange(900) / 130) * np.sin(np.arange(900) * 0.14)
    async with line:
        assert await line.hears(mixed((click, 1500, 0), (knock, 2300, 0), (knock, 2450, 0))) is None


async def test_a_far_voice_does_not_stop_it_once_the_caller_is_known(line):
    async with line:
        line.turns._doubts.caller_spoke(spoken_by("awb", "q001"), RATE)
        assert await line.hears(mixed((spoken_by("slt", "q002"), 2000, -30))) is None


def kinds(events):
    return [event["event"] for event in events]


@pytest.mark.slow
async def test_okay_over_an_answer_does_not_end_it(settings, call_engines):
    """A whole call: cut at once, understood, and gone on with."""
    okay = call_engines.voice.render(Spoken("Okay."))
    turns = [
        CallerTurn(spoken_by("awb", "q001"), "question"),
        CallerTurn(okay, "okay", interrupt_after_ms=900, expect_reply=False),
    ]
    async with serving(settings(), call_engines) as server:
        result = await server.call(turns, linger_ms=1000)
        events = await server.record()
    assert result.error is None
    assert kinds(events).count("verdict") == 1
    at = kinds(events).index("resumed")
    assert kinds(events)[at - 1] == "interrupted"
    answer = next(event["say"] for event in events if event["event"] == "verdict")
    assert events[at]["say"] == answer
    assert kinds(events)[at + 1 : at + 3] == ["reply_started", "reply_ended"]


@pytest.mark.slow
async def test_a_speakerphone_hears_the_whole_greeting(settings, call_engines):
    """The greeting comes back 150 ms late and 20 dB down, as it is played."""
    async with serving(settings(), call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        began = time.monotonic()
        for at in range(0, 4 * RATE, FRAME):  # it speaks for 2.4 s
            await asyncio.sleep(max(0, began + at / RATE - time.monotonic()))
            echo = np.pad(phone.audio(), (LATE_MS * RATE // 1000, FRAME))[at : at + FRAME] / 10
            await phone.speak(ulaw_encode(echo.astype(np.int16)))
        await phone.socket.close()
        events = await server.record()
    assert "reply_ended" in kinds(events)
    assert not {"interrupted", "verdict"} & set(kinds(events))
