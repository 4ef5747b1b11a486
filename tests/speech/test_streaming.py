"""Hearing while the caller speaks: the rules, then the service in a real pipeline."""

import asyncio
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection

from bench.hard_voices import whispered
from frontdesk import SpeechError
from speech import sessions
from speech.audio import to_float32, to_int16
from speech.decode import Decode
from speech.hints import HintFrame
from speech.pool import Pool
from speech.scheduling import Priority
from speech.services import InterimsDroppedFrame, LocalSTTService
from speech.streaming import PACE_MS, joined, pace_ms, quiet_place, stable_prefix
from speech.stt import LONG_MS
from speech.types import Hint, Utterance
from speech.voice_activity import SpeechPausingFrame, VoiceActivity
from tests.speech.running import SECOND, SILENCE, START, STOP, Call

QUARTER = SECOND[:2000]


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """A machine at rest, whatever else it does meanwhile."""
    pool = Pool(2, clock=lambda: 0.0, cpu_clock=lambda: 0.0)
    monkeypatch.setattr(sessions, "pool", lambda: pool)
    monkeypatch.setattr("speech.stt.pace_ms", lambda took, delay: PACE_MS)


@pytest.mark.parametrize(
    ("before", "now", "stable"),
    [
        ("Do you?", "Do you take?", "Do you"),
        ("Do you take one?", "Do you take what in?", "Do you take"),
        ("what TIME", "What time do", "What time"),
        ("walk-ins, and", "Walk-ins and more", "Walk-ins and"),
        ("", "Hello.", ""),
        ("Hello.", "", ""),
        ("Can", "Could", ""),
        ("one two three", "one two", "one two"),
    ],
)
def test_stable_is_what_two_texts_in_a_row_begin_with(before, now, stable):
    assert stable_prefix(before, now) == stable


def test_the_pace_follows_the_load():
    assert pace_ms(40) == PACE_MS
    assert pace_ms(200) == 800
    assert pace_ms(100, delay_ms=50) == 600
    assert pace_ms(5000) == 2000


def test_the_quietest_place_is_found_within_bounds_only():
    samples = np.full(8000 * 10, 1000, np.int16)
    samples[8000:9000] = 0  # before the range
    samples[8000 * 5 : 8000 * 5 + 800] = 10
    assert quiet_place(samples, 8000, 2000, 9000) == 8000 * 5 + 400
    assert quiet_place(samples, 8000, 2000, 2050) == 16000


def test_parts_are_joined_in_order_and_weighted_by_length():
    one = Utterance("One two.", 3000.0, 90.0, -0.1, audio=SECOND, rate_hz=8000)
    none = Utterance("", 2000.0, 20.0, -math.inf)
    last = Utterance("Three?", 1000.0, 40.0, -0.5, stable="Three", provisional=True)
    assert joined([last]) is last
    assert joined([one, none, last]) == Utterance(
        "One two. Three?",
        6000.0,
        40.0,
        pytest.approx(-0.2),
        stable="One two. Three",
        provisional=True,
    )
    assert joined([one, none, last]).audio is None
    assert joined([none, none]).confidence == -math.inf
    assert joined([replace(one, language="hi"), none]).language == "hi"


async def test_a_decode_that_nobody_wants_gives_up_its_task_unless_that_has_heard():
    never = asyncio.Event()
    running, done = (Decode(b"", Hint.NONE, task=asyncio.create_task(never.wait())) for _ in "ab")
    done.heard = Utterance("so far", 1.0, 1.0, 0.0)  # it is passing that on
    running.drop()
    done.drop()
    await running.tried()
    assert running.stale
    assert done.stale
    assert running.task.cancelled()
    assert not done.task.done()
    never.set()
    await done.tried()


def busy_pool():
    """A pool of a process that always uses more than it has."""
    pool = Pool(2, clock=itertools.count().__next__, cpu_clock=itertools.count(0, 100).__next__)
    return lambda: pool


async def spoken(call, *pieces):
    """Audio piece by piece, each heard of before the next is sent."""
    for count, piece in enumerate(pieces, len(call.down.of(InterimTranscriptionFrame)) + 1):
        await call.hear(piece)
        await call.down.wait_for(InterimTranscriptionFrame, count)


async def test_interims_come_while_the_caller_speaks(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await spoken(call, *[QUARTER] * 4)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.hear(SECOND)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    interims = call.down.of(InterimTranscriptionFrame)
    assert [frame.text for frame in interims] == ["0.25 s", "0.50 s", "0.75 s", "1.00 s"]
    assert all(frame.result.provisional for frame in interims)
    assert recogniser.seconds == [1.0]
    assert (final.text, final.result.provisional, final.result.stable) == (
        "1.00 s",
        False,
        "1.00 s",
    )
    assert not call.down.of(InterimsDroppedFrame)


async def test_the_first_interim_counts_the_speech_the_vad_has_waited_for(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.hear(QUARTER)
        await call.send(START(start_secs=0.1))
        await call.hear(SECOND[: 8 * 140])
        await call.down.wait_for(InputAudioRawFrame, 13 + 7)
        assert recogniser.interims == []
        await spoken(call, SECOND[:160])
    assert recogniser.interims == [0.41]


async def test_only_one_interim_at_a_time_and_the_pace_follows_its_length(recogniser, monkeypatch):
    asked = []
    monkeypatch.setattr("speech.stt.pace_ms", lambda *load: asked.append(load) or 500.0)
    recogniser.interim_gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.down.wait_for(InputAudioRawFrame, 50)
        await recogniser.running_interim()
        assert len(recogniser.interims) == 1
        recogniser.interim_gate.set()
        await call.down.wait_for(InterimTranscriptionFrame)
        await spoken(call, SECOND[:160])  # overdue
        await call.hear(SECOND[: 8 * 480])
        await call.down.wait_for(InputAudioRawFrame, 50 + 1 + 24)
        assert len(recogniser.interims) == 2
        await spoken(call, SECOND[:160])
    assert all(took > 0 and delay == sessions.queue_delay_ms() for took, delay in asked)


async def test_a_pause_overtakes_a_running_interim(recogniser):
    recogniser.interim_gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await recogniser.running_interim()
        await call.send(STOP())
        assert (await call.down.wait_for(EagerTranscriptionFrame)).text == "1.00 s"
        recogniser.interim_gate.set()
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
    assert not call.down.of(InterimTranscriptionFrame)


async def test_speech_gone_on_gives_up_the_decode_of_its_pause(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await recogniser.running()
        await call.send(START())
        await call.hear(QUARTER)
        await call.send(STOP())
        await call.down.wait_for(STOP, 2)
        recogniser.gate.set()
        await call.down.wait_for(EagerTranscriptionFrame)
    assert [frame.text for frame in call.down.of(EagerTranscriptionFrame)] == ["1.25 s"]


async def test_a_decode_begun_at_the_first_silent_window_is_the_text_at_the_pause(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER)
        await call.send(SpeechPausingFrame())
        await recogniser.running()
        await call.hear(SILENCE[: 8 * 60])
        await call.send(STOP(stop_secs=0.1))
        await call.down.wait_for(STOP)
        recogniser.gate.set()
        eager = await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
    assert recogniser.seconds == [0.25]
    assert eager.result.audio.tobytes() == QUARTER.tobytes()
    assert not eager.result.provisional


async def test_an_early_decode_that_became_the_pauses_gives_way_to_nothing(recogniser):
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER)
        await call.send(SpeechPausingFrame())
        await recogniser.running()
        await call.send(STOP())
        await call.hear(SILENCE[:160])
        await call.down.wait_for(InputAudioRawFrame, 13 + 1)  # behind the pause
        finals = [asyncio.create_task(sessions.run(recogniser.gate.wait, 10)) for _ in "ab"]
        await asyncio.sleep(0)  # one takes the other thread, one waits
        recogniser.gate.set()
        await call.down.wait_for(EagerTranscriptionFrame)
        await asyncio.gather(*finals)
    assert recogniser.seconds == [0.25]


async def test_a_text_that_was_there_before_the_pause_follows_it(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER[:1600])
        await call.send(SpeechPausingFrame())
        await call.down.wait_for(InterimTranscriptionFrame)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
    kinds = (InterimTranscriptionFrame, STOP, EagerTranscriptionFrame)
    assert [type(frame) for frame in call.down.of(*kinds)] == list(kinds)
    assert recogniser.seconds == [0.2]


async def test_speech_that_goes_on_after_a_silent_window_is_heard_anew(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER[:1600])
        await call.send(SpeechPausingFrame())
        interim = await call.down.wait_for(InterimTranscriptionFrame)
        await call.hear(QUARTER[:1600])
        await call.send(STOP(stop_secs=0.1))
        await call.down.wait_for(EagerTranscriptionFrame)
    assert interim.result.provisional
    assert interim.result.audio is None
    assert recogniser.seconds == [0.2, 0.4]


async def test_a_crackling_line_is_not_decoded_at_every_silent_window(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.hear(SILENCE[:1600])
        await call.send(START(), SpeechPausingFrame())
        await call.down.wait_for(InterimTranscriptionFrame)
        await call.hear(QUARTER[:800])
        await call.send(SpeechPausingFrame())
        await call.hear(QUARTER[:400])
        await call.send(STOP(stop_secs=0.1))
        await call.down.wait_for(EagerTranscriptionFrame)
    assert recogniser.seconds == [0.2, 0.35]  # the pause is none of the first silent window


async def test_a_pause_is_heard_though_its_early_decode_was_refused(recogniser, monkeypatch):
    monkeypatch.setattr(sessions, "pool", busy_pool())
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER[:1600])
        await call.send(SpeechPausingFrame(), STOP())
        eager = await call.down.wait_for(EagerTranscriptionFrame)
    assert eager.text == "0.20 s"


async def test_interims_dropped_for_load_are_counted(recogniser, monkeypatch):
    monkeypatch.setattr(sessions, "pool", busy_pool())
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.down.wait_for(InputAudioRawFrame, 50)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame, 2)
    (frame,) = call.down.of(InterimsDroppedFrame)
    assert frame.count == 1
    frames = call.down.of(InterimsDroppedFrame, TranscriptionFrame)
    assert [type(one) for one in frames[:2]] == [InterimsDroppedFrame, TranscriptionFrame]
    assert recogniser.interims == []


async def test_a_recogniser_without_a_beam_hears_at_pauses_only(recogniser, monkeypatch):
    asked, run = [], sessions.run_or_drop

    def recorded(*args, priority, **options):
        asked.append(priority)
        return run(*args, priority=priority, **options)

    monkeypatch.setattr(sessions, "run_or_drop", recorded)

    class Other:
        def transcribe(self, audio, *, hint=Hint.NONE):
            return recogniser.transcribe(audio, hint=hint)

        def warm(self):
            pass

    async with Call(LocalSTTService(Other())) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.down.wait_for(InputAudioRawFrame, 50)
        await call.send(SpeechPausingFrame(), STOP(stop_secs=0.1))
        eager = await call.down.wait_for(EagerTranscriptionFrame)
    assert eager.text == "1.00 s"
    assert asked == [Priority.EAGER]


@pytest.mark.parametrize(("confidence", "text"), [(-2.0, ""), (-1.0, "0.25 s"), (-0.1, "0.25 s")])
async def test_noise_has_no_interim_text(recogniser, confidence, text):
    hear = recogniser.transcribe
    recogniser.transcribe = lambda audio, *, hint, width=4: replace(
        hear(audio, hint=hint, width=width), confidence=confidence
    )
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await spoken(call, QUARTER)
    assert [frame.text for frame in call.down.of(InterimTranscriptionFrame)] == [text]


async def test_a_short_turn_is_answered_once_behind_the_long_one_before_it(recogniser):
    hear = recogniser.transcribe

    def slow_if_long(audio, *, hint=Hint.NONE, width=4):
        if width == 4 and audio.size < 16000:
            return Utterance("short", 700.0, 1.0, -0.1)
        return hear(audio, hint=hint, width=width)

    recogniser.transcribe = slow_if_long
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await spoken(call, SECOND)
        await call.send(STOP())
        await recogniser.running()
        await call.commit()
        await call.up.wait_for(UserStoppedSpeakingFrame)
        await call.send(START())
        await call.hear(QUARTER[:800])
        await call.send(SpeechPausingFrame())
        await call.down.wait_for(InterimTranscriptionFrame, 2)
        await call.send(STOP())
        await call.down.wait_for(STOP, 2)
        await call.commit()
        await call.up.wait_for(UserStoppedSpeakingFrame, 2)
        assert not call.down.of(TranscriptionFrame)
        recogniser.gate.set()
        await call.down.wait_for(TranscriptionFrame, 2)
    assert [frame.text for frame in call.down.of(TranscriptionFrame)] == ["1.00 s", "short"]


async def test_a_hint_holds_until_the_next_through_turns_of_noise(recogniser):
    told = [(Hint.DIGITS, Hint.DIGITS), (None, Hint.DIGITS), (Hint.NONE, Hint.NONE)]
    async with Call(LocalSTTService(recogniser)) as call:
        for turn, (hint, heard_with) in enumerate(told, 1):
            recogniser.hints.clear()
            if hint is not None:
                await call.down.push_frame(HintFrame(hint), FrameDirection.UPSTREAM)
            await call.send(START())
            await spoken(call, QUARTER)
            await call.send(STOP())
            await call.down.wait_for(EagerTranscriptionFrame, turn)
            await call.commit()
            await call.down.wait_for(TranscriptionFrame, turn)
            assert recogniser.hints == [heard_with] * 2


async def test_texts_carry_what_was_heard_interims_do_not(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await spoken(call, QUARTER)
        await call.send(STOP())
        eager = await call.down.wait_for(EagerTranscriptionFrame)
    assert (eager.result.audio.tobytes(), eager.result.rate_hz) == (QUARTER.tobytes(), 8000)
    (interim,) = call.down.of(InterimTranscriptionFrame)
    assert interim.result.audio is None


async def test_a_failing_interim_is_an_error_and_the_turn_is_heard(recogniser):
    hear = recogniser.transcribe

    def fail(audio, *, hint, width=4):
        if width == 1:
            raise SpeechError("recogniser failed: no")
        return hear(audio, hint=hint)

    recogniser.transcribe = fail
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        await call.hear(QUARTER)
        await call.up.wait_for(ErrorFrame)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == "0.25 s"


# Long turns.


async def long_speech(call, seconds, pause=SILENCE[: 8 * 200]):
    """Speech of whole seconds, and a pause in which it is decoded."""
    await call.send(START())
    for _ in range(seconds):
        await call.hear(SECOND)
    await call.send(STOP())
    await call.hear(pause)


async def test_a_long_turn_with_pauses_is_heard_in_parts_and_loses_nothing(recogniser):
    seconds = LONG_MS // 1000
    async with Call(LocalSTTService(recogniser)) as call:
        for part in (1, 2, 3):
            await long_speech(call, seconds)
            await call.down.wait_for(EagerTranscriptionFrame, part)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert recogniser.seconds == [seconds, seconds + 0.2, seconds + 0.2]
    assert final.text == " ".join(f"{part:.2f} s" for part in recogniser.seconds)
    assert final.result.audio_ms == 1000 * (3 * seconds + 0.4)
    assert final.result.audio is None
    assert len(call.down.of(EagerEndOfTurnCancelFrame)) == 2


async def test_a_pause_of_a_long_turn_still_being_decoded_becomes_a_part(recogniser):
    seconds = LONG_MS // 1000
    recogniser.gate.clear()
    async with Call(LocalSTTService(recogniser)) as call:
        await long_speech(call, seconds)
        await long_speech(call, 1)
        await call.down.wait_for(STOP, 2)
        recogniser.gate.set()
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert final.text == f"{seconds:.2f} s 1.20 s"


async def test_a_gap_inside_a_word_makes_no_part(recogniser):
    seconds = LONG_MS // 1000
    async with Call(LocalSTTService(recogniser)) as call:
        await long_speech(call, seconds, pause=SILENCE[: 8 * 100])
        await long_speech(call, 1)
        await call.down.wait_for(STOP, 2)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert final.text == f"{seconds + 1.1:.2f} s"


async def test_speech_without_a_pause_is_cut_where_it_is_quiet(recogniser):
    async with Call(LocalSTTService(recogniser)) as call:
        await call.send(START())
        for _ in range(20):
            await call.hear(SECOND)
        await call.hear(np.zeros(800, np.int16))
        for _ in range(10):
            await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert final.text == "20.05 s 10.05 s"


async def test_a_pause_without_end_takes_no_memory(recogniser):
    service = LocalSTTService(recogniser)
    async with Call(service) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame)
        for _ in range(60):
            await call.hear(SECOND)
        await call.down.wait_for(InputAudioRawFrame, 61 * 50)
        assert len(service._audio) <= 25 * 16000
        await call.send(START())
        await call.hear(SECOND)
        await call.send(STOP())
        await call.down.wait_for(EagerTranscriptionFrame, 2)
    assert len(call.down.of(EagerTranscriptionFrame)) == 2


async def test_an_hour_of_talk_keeps_a_bounded_text(recogniser):
    service = LocalSTTService(recogniser)
    async with Call(service) as call:
        for turn in range(1, 31):
            await call.send(START(), InputAudioRawFrame(bytes(2 * 8 * LONG_MS), 8000, 1), STOP())
            await call.hear(SILENCE[: 8 * 200])
            await call.down.wait_for(EagerTranscriptionFrame, turn)
        await call.commit()
        final = await call.down.wait_for(TranscriptionFrame)
    assert final.text.count("s") == 25


# What is no plain speech, through the real VAD and the real recogniser.


def sounds():
    """Name and int16 audio at 8 kHz: what a line brings besides plain speech."""
    rng = np.random.default_rng(3)
    second = np.arange(8000) / 8000
    cough = rng.normal(0, 6000, 2400) * np.exp(-second[:2400] / 0.06)
    coughs = np.concatenate([np.pad(cough, (0, 3200)), np.pad(cough, (0, 4800))])
    chords = [
        sum(np.sin(2 * np.pi * root * ratio * second) for ratio in (1, 1.26, 1.5, 2))
        * 2000
        * np.exp(-second / 0.6)
        for root in (220, 262, 196, 247)
    ]
    return {
        "silence": np.zeros(16000),
        "hiss": rng.normal(0, 30, 16000),
        "coughs": coughs,
        "hold music": np.concatenate(chords),
        "hum": 3000 * np.sin(2 * np.pi * 50 * np.arange(16000) / 8000),
    }


@pytest.mark.parametrize("sound", sounds())
async def test_no_sound_leaves_words_or_a_turn_without_end(engines, sound):
    audio = np.clip(sounds()[sound], -32768, 32767).astype(np.int16)
    call = await through_vad(engines, audio)
    assert call.down.of(TranscriptionFrame)[0].text == ""
    assert len(call.down.of(START)) == len(call.down.of(STOP))


async def test_a_whisper_is_heard_or_missed_never_made_into_something_else(engines, over_telephone):
    speech = over_telephone("What time do you open on Saturday?")
    quiet = whispered(to_float32(speech)) * np.float32(0.5)
    call = await through_vad(engines, to_int16(quiet))
    text = call.down.of(TranscriptionFrame)[0].text
    assert text == "" or "open" in text.lower()
    assert len(call.down.of(START)) == len(call.down.of(STOP))


async def through_vad(engines, audio):
    """A call in which ``audio`` is heard, a second of silence before and after, and committed."""
    line = np.random.default_rng(0).normal(0, 4, 8000).astype(np.int16)
    async with Call(VoiceActivity(engines.vad_analyzer()), engines.stt()) as call:
        for piece in (line, audio, line):
            await call.hear(piece)
        frames = sum(-(-piece.size // 160) for piece in (line, audio, line))
        await call.down.wait_for(InputAudioRawFrame, frames)
        await call.commit()
        await call.down.wait_for(TranscriptionFrame)
    assert not call.up.of(ErrorFrame)
    return call
