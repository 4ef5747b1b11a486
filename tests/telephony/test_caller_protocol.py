"""The caller's timing, exact, on a fake clock."""

import base64
import json

import numpy as np
import pytest

from frontdesk import ConfigError, WireError
from telephony.caller_protocol import CallerProtocol
from telephony.caller_script import Pace
from telephony.caller_types import CallerTurn, Spread
from telephony.far_ends.twilio import TwilioFarEnd
from telephony.g711 import ulaw_decode, ulaw_encode

T0 = 1000.0


def tone(ms, quiet_before_ms=0, quiet_after_ms=0):
    """A square wave: every sample of it is audible, so that edges are exact."""
    wave = np.tile(np.array([4000, -4000], np.int16), round(ms * 4))
    return np.concatenate(
        [np.zeros(quiet_before_ms * 8, np.int16), wave, np.zeros(quiet_after_ms * 8, np.int16)]
    )


def silence(ms):
    return np.zeros(ms * 8, np.int16)


def turn(label="one", ms=1000, **options):
    return CallerTurn(tone(ms), label, **options)


class Call:
    """The protocol on a fake clock, and an agent that acts at set times (seconds since begin)."""

    def __init__(self, *turns, **pace):
        self.protocol = CallerProtocol(turns, Pace(**pace), far_end=TwilioFarEnd("CA1"))
        self.sent = []
        self._keep(T0, self.protocol.begin(T0))
        self.stream = self.sent[1][1]["streamSid"]

    def _keep(self, now, messages):
        self.sent += [(now - T0, json.loads(message)) for message in messages]

    def run(self, until_s):
        while not self.protocol.over and self.protocol.next_due <= T0 + until_s:
            now = self.protocol.next_due
            self._keep(now, self.protocol.tick(now))
        return self

    def receive(self, at_s, **message):
        self.run(at_s)
        text = json.dumps({"streamSid": self.stream, **message})
        self._keep(T0 + at_s, self.protocol.receive(text, T0 + at_s))
        return self

    def say(self, at_s, pcm, chunk_ms=40):
        """The agent's audio from ``at_s`` on, in real time."""
        for i in range(0, len(pcm), chunk_ms * 8):
            payload = base64.b64encode(ulaw_encode(pcm[i : i + chunk_ms * 8])).decode()
            self.receive(at_s + i / 8000, event="media", media={"payload": payload})
        return self

    def say_at_once(self, at_s, pcm):
        payload = base64.b64encode(ulaw_encode(pcm)).decode()
        return self.receive(at_s, event="media", media={"payload": payload})

    def clear(self, at_s):
        return self.receive(at_s, event="clear")

    def mark(self, at_s, name):
        return self.receive(at_s, event="mark", mark={"name": name})

    def close(self, at_s, code=1000):
        self.run(at_s)
        self.protocol.closed(T0 + at_s, code)
        return self.protocol.result()

    def result(self, until_s=60):
        result = self.run(until_s).protocol.result()
        assert self.protocol.over
        return result

    def of(self, event):
        return [(at, message) for at, message in self.sent if message["event"] == event]


# Latency


@pytest.mark.parametrize("delay_ms", [0.125, 1, 233, 412.5, 437])
def test_latency_is_exact(delay_ms):
    call = Call(CallerTurn(tone(700, 90, 55), "q"), wait_greeting=False, pause_ms=400)
    end_s = 0.4 + 0.79
    result = call.say(end_s + delay_ms / 1000, tone(500)).result()
    (one,) = result.turns
    assert one.answered
    assert one.start_s == pytest.approx(0.49)
    assert one.end_s == pytest.approx(end_s)
    assert one.latency_ms == pytest.approx(delay_ms, abs=0.13)  # one sample is 0.125 ms
    assert one.reply_ms == 500
    assert result.ended_by == "caller"


def test_silent_samples_at_the_head_of_a_message_are_not_the_answer():
    result = Call(turn(), wait_greeting=False).say(1.5, tone(300, quiet_before_ms=17)).result()
    assert result.turns[0].latency_ms == pytest.approx(1500 + 17 - 1400)


def test_the_wait_in_the_playout_buffer_counts():
    call = Call(turn(), wait_greeting=False).say_at_once(1.5, silence(500))
    assert call.say_at_once(1.6, tone(300)).result().turns[0].latency_ms == pytest.approx(600)


def test_audio_below_the_threshold_is_no_answer():
    hiss = np.full(8000, 290, np.int16)
    result = Call(turn(), wait_greeting=False, answer_timeout_s=2).say(1.5, hiss).result()
    assert not result.turns[0].answered
    assert result.unanswered == ("one",)


def test_a_late_tick_does_not_move_the_answer():
    call = Call(turn(), wait_greeting=False).run(1.4)
    payload = base64.b64encode(ulaw_encode(tone(200))).decode()
    message = {"streamSid": call.stream, "event": "media", "media": {"payload": payload}}
    call.protocol.receive(json.dumps(message), T0 + 1.75)  # before the ticks due since 1.4
    assert call.result().turns[0].latency_ms == pytest.approx(350)


def test_a_reply_that_begins_before_the_caller_ends_is_negative():
    result = Call(turn(), wait_greeting=False).say(1.3, tone(400)).result()
    assert result.turns[0].latency_ms == pytest.approx(-100)


def test_an_answer_that_is_taken_back_is_not_the_answer():
    call = Call(turn(), wait_greeting=False).say(0.9, tone(100)).clear(1.1)
    result = call.say(1.8, tone(300)).result()
    assert result.turns[0].latency_ms == pytest.approx(400)
    assert result.turns[0].reply_ms == 300


# The order of a call


def test_greeting_then_turns_then_hang_up():
    call = Call(turn("a"), turn("b"), pause_ms=400, settle_ms=600)
    call.say(0.5, tone(1000))
    begin_a = 0.5 + 1.0 + 0.6 + 0.4
    call.say(begin_a + 1.0 + 0.3, tone(500))
    begin_b = begin_a + 1.0 + 0.3 + 0.5 + 0.6 + 0.4
    call.say(begin_b + 1.0 + 0.2, tone(500))
    result = call.result()
    assert result.greeting_ms == pytest.approx(500)
    a, b = result.turns
    assert (a.start_s, b.start_s) == (pytest.approx(begin_a), pytest.approx(begin_b))
    assert (a.latency_ms, b.latency_ms) == (pytest.approx(300), pytest.approx(200))
    assert a.reply_start_s == pytest.approx(begin_a + 1.3)
    assert b.barge_in_ms is None
    assert result.ended_by == "caller"
    assert result.error is None
    assert result.unanswered == ()
    at, message = call.sent[-1]
    assert message["event"] == "stop"
    assert at == pytest.approx(begin_b + 1.2 + 0.5 + 1.0, abs=0.021)


def test_no_greeting_is_waited_for_only_so_long():
    result = Call(turn(), answer_timeout_s=2, pause_ms=400).say(3.6, tone(100)).result()
    assert result.greeting_ms is None
    assert result.turns[0].start_s == pytest.approx(2.4)


def test_a_pause_inside_a_reply_does_not_end_it():
    call = Call(turn("a"), turn("b"), wait_greeting=False)
    call.say(1.6, np.concatenate([tone(300), silence(590), tone(300)]))
    call.say(5.0, tone(100))
    a, b = call.result().turns
    assert a.reply_ms == pytest.approx(1190)
    assert b.start_s == pytest.approx(1.6 + 1.19 + 1.0, abs=0.0201)


def test_an_unanswered_turn_times_out_and_the_next_goes_on():
    call = Call(turn("a"), turn("b"), wait_greeting=False, answer_timeout_s=3)
    result = call.say(1.4 + 3 + 0.4 + 1.0 + 0.25, tone(200)).result()
    a, b = result.turns
    assert (a.answered, a.latency_ms, a.reply_ms) == (False, None, None)
    assert b.start_s == pytest.approx(4.8)
    assert b.latency_ms == pytest.approx(250)
    assert result.unanswered == ("a",)


def test_a_reply_after_the_timeout_is_no_answer_but_is_listened_to():
    call = Call(turn("a"), turn("b"), wait_greeting=False, answer_timeout_s=3)
    call.say(1.4 + 3.2, tone(500))
    result = call.say(8.0, tone(200)).result()
    a, b = result.turns
    assert not a.answered
    assert b.start_s == pytest.approx(4.6 + 0.5 + 1.0)
    assert b.answered


def test_a_turn_without_an_expected_reply_is_not_waited_for():
    turns = (turn("mm-hm", 200, expect_reply=False), turn("b"))
    call = Call(*turns, wait_greeting=False).say(2.9, tone(100))
    result = call.result()
    assert result.turns[1].start_s == pytest.approx(0.6 + 0.6 + 0.4)
    assert result.unanswered == ()


def test_lingering_lets_the_agent_hang_up():
    call = Call(turn(), wait_greeting=False, linger_ms=3000).say(1.6, tone(400))
    result = call.close(4.5)
    assert result.ended_by == "agent"
    assert result.unanswered == ()


def test_the_limit_ends_a_call_whose_agent_never_stops():
    result = Call(turn("a"), turn("b"), wait_greeting=False, max_s=5).say(1.5, tone(9000)).result()
    assert result.ended_by == "error"
    assert result.error == "the call was not over after 5 s"
    assert (result.turns[1].start_s, result.turns[1].answered) == (None, False)


def test_a_silent_caller_is_a_turn_too():
    call = Call(CallerTurn(silence(1000), "nothing"), wait_greeting=False)
    assert call.say(1.9, tone(100)).result().turns[0].latency_ms == pytest.approx(500)


# Barge-in


def interrupted_call(**options):
    second = turn("stop", interrupt_after_ms=1000, **options)
    return Call(turn("a"), second, wait_greeting=False).say_at_once(1.7, tone(3000))


def test_barge_in_is_timed_to_the_last_sample_played():
    call = interrupted_call().clear(2.7 + 0.3).say(4.1, tone(200))
    result = call.result()
    a, b = result.turns
    assert b.start_s == pytest.approx(2.7)
    assert b.barge_in_ms == pytest.approx(300, abs=0.2)
    assert a.reply_ms == pytest.approx(1300, abs=0.2)
    assert b.latency_ms == pytest.approx(4100 - 3700)
    assert result.clears == 1
    assert result.cleared_ms == pytest.approx(1700, abs=0.2)
    assert result.late_ms == 0
    right = result.recording[:, 1]
    assert right[23990] != 0
    assert not right[24001:32799].any()


def test_audio_of_the_old_reply_after_the_clear_is_counted_and_is_no_answer():
    call = interrupted_call().clear(3.0).say(3.02, tone(40)).say(4.1, tone(200))
    result = call.result()
    _, b = result.turns
    assert result.late_ms == 40
    assert b.barge_in_ms == pytest.approx(360, abs=0.2)
    assert b.latency_ms == pytest.approx(400)


def test_a_clear_after_a_short_interruption_still_ends_the_old_reply():
    second = CallerTurn(tone(150), "no", interrupt_after_ms=1000)
    call = Call(turn("a"), second, wait_greeting=False).say_at_once(1.7, tone(3000))
    result = call.clear(3.0).say(3.3, tone(200)).result()
    assert result.turns[1].barge_in_ms == pytest.approx(300, abs=0.2)
    assert result.turns[1].latency_ms == pytest.approx(3300 - 2850, abs=0.2)


def test_an_agent_that_talks_on_shows_in_the_barge_in_time():
    call = interrupted_call().say(5.5, tone(200))
    _, b = call.result().turns
    assert b.barge_in_ms == pytest.approx(2000)
    assert b.latency_ms == pytest.approx(5500 - 3700)


def test_a_reply_that_was_over_is_not_interrupted():
    second = turn("late", interrupt_after_ms=1000)
    call = Call(turn("a"), second, wait_greeting=False).say(1.7, tone(300))
    a, b = call.clear(3.0).say(4.0, tone(100)).result().turns
    assert a.reply_ms == 300
    assert b.start_s == pytest.approx(2.7)
    assert b.barge_in_ms is None
    assert b.latency_ms == pytest.approx(300)


def test_the_greeting_can_be_interrupted():
    call = Call(turn("a", interrupt_after_ms=500)).say_at_once(0.2, tone(4000))
    (a,) = call.clear(0.9).say(2.0, tone(100)).result().turns
    assert a.start_s == pytest.approx(0.7)
    assert a.barge_in_ms == pytest.approx(200, abs=0.2)


def test_a_mm_hm_over_a_reply_leaves_it_whole():
    second = turn("mm-hm", 200, interrupt_after_ms=500, expect_reply=False)
    call = Call(turn("a"), second, wait_greeting=False).say(1.7, tone(2000))
    a, b = call.result().turns
    assert a.reply_ms == 2000
    assert not b.answered


# Marks, closing, errors


def test_marks_come_back_when_playback_reaches_them():
    call = Call(turn(ms=3000), wait_greeting=False)
    call.say_at_once(0.5, tone(333)).mark(0.5, "m1").mark(2.0, "m2").run(3)
    assert [(round(at, 4), m["mark"]["name"]) for at, m in call.of("mark")] == [
        (0.833, "m1"),
        (2.0, "m2"),
    ]


def test_a_clear_returns_marks_at_once():
    call = Call(turn(ms=3000), wait_greeting=False)
    call.say_at_once(0.5, tone(1000)).mark(0.5, "m1").clear(0.6)
    assert [(at, m["mark"]["name"]) for at, m in call.of("mark")] == [(pytest.approx(0.6), "m1")]


def test_the_agent_closing_ends_the_call_and_cuts_what_was_not_played():
    call = Call(turn("a"), turn("b"), wait_greeting=False).say_at_once(1.5, tone(1000))
    result = call.close(1.75)
    assert result.ended_by == "agent"
    assert result.unplayed_ms == pytest.approx(750)
    assert len(result.recording) == 14000
    assert result.turns[0].reply_ms == pytest.approx(250, abs=0.2)
    assert result.unanswered == ("b",)
    assert call.protocol.tick(T0 + 9) == []


def test_an_abnormal_close_is_an_error():
    result = Call(turn(), wait_greeting=False).close(0.5, 1011)
    assert (result.ended_by, result.error) == (
        "error",
        "the agent closed the socket with code 1011",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01",
        "",
        "{",
        "null",
        "[]",
        "[" * 100_000,
        "1" * 5000,
        '{"event":"media"}',
        '{"event":"media","streamSid":"MZother","media":{"payload":""}}',
        '{"event":"media","streamSid":"@","media":{"payload":"%%%"}}',
        '{"event":"media","streamSid":"@","media":{"payload":7}}',
        '{"event":"media","streamSid":"@","media":null}',
        '{"event":"mark","streamSid":"@","mark":[]}',
        '{"event":["clear"],"streamSid":"@"}',
        '{"event":"hello","streamSid":"@"}',
    ],
)
def test_what_breaks_the_protocol_is_a_wire_error(data):
    call = Call(turn())
    if isinstance(data, str):
        data = data.replace("@", call.stream)
    with pytest.raises(WireError, match=r"^the agent"):
        call.protocol.receive(data, T0)


# The wire


def test_the_first_two_messages():
    call = Call(turn())
    (_, connected), (_, start) = call.sent[:2]
    assert connected["event"] == "connected"
    assert start["start"]["callSid"] == "CA1"
    assert start["start"]["streamSid"] == start["streamSid"]
    assert start["start"]["mediaFormat"] == {
        "encoding": "audio/x-mulaw",
        "sampleRate": 8000,
        "channels": 1,
    }


def test_frames_keep_an_absolute_schedule_for_a_minute():
    call = Call(turn(ms=60_000), wait_greeting=False).run(61)
    media = call.of("media")
    assert len(media) == 3050
    for k, (at, message) in enumerate(media):
        assert at == pytest.approx((k + 1) * 0.02, abs=1e-9)
        assert message["media"]["chunk"] == str(k + 1)
        assert message["media"]["timestamp"] == str(k * 20)
    numbers = [int(m["sequenceNumber"]) for _, m in call.sent if "sequenceNumber" in m]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_stalled_clock_catches_up_without_drift():
    call = Call(turn(ms=5000), wait_greeting=False).run(1.0)
    before = len(call.of("media"))
    burst = call.protocol.tick(T0 + 1.105)
    assert len(burst) == 5
    assert call.protocol.next_due == pytest.approx(T0 + 1.12)
    assert before + len(burst) == 55


def test_the_audio_sent_is_the_audio_given_and_recorded_where_it_was_spoken():
    pcm = np.random.default_rng(7).integers(-9000, 9000, 1601).astype(np.int16)
    call = Call(CallerTurn(pcm, "q"), wait_greeting=False, answer_timeout_s=1)
    result = call.result()
    sent = b"".join(base64.b64decode(m["media"]["payload"]) for _, m in call.of("media"))
    heard = ulaw_decode(sent)
    assert not heard[:3200].any()
    assert heard[3200 : 3200 + 1601].tolist() == ulaw_decode(ulaw_encode(pcm)).tolist()
    assert not heard[3200 + 1601 :].any()
    assert result.recording[3200 : 3200 + 1601, 0].tolist() == pcm.tolist()
    assert not result.recording[:, 1].any()
    assert result.recording.dtype == np.int16


def test_gaps_between_media_messages():
    call = Call(turn(), wait_greeting=False).say(1.5, tone(400)).say(2.1, tone(40))
    gaps = call.result().frame_gaps_ms
    assert gaps.p50 == pytest.approx(40)
    assert gaps.max == pytest.approx(240)


def test_percentiles_are_observed_values():
    assert Spread.of([]) is None
    assert Spread.of([4.0, 1.0, 2.0, 3.0]) == Spread(2.0, 3.0, 4.0)


@pytest.mark.parametrize(
    ("audio", "why"),
    [
        (np.zeros(0, np.int16), "turn 'q' is empty"),
        (np.zeros((8, 2), np.int16), "audio of turn 'q'"),
        (np.zeros(8, np.float32), "audio of turn 'q'"),
    ],
)
def test_a_turn_needs_one_dimensional_int16(audio, why):
    with pytest.raises(ConfigError, match=why):
        CallerTurn(audio, "q")


def test_keys_are_pressed_a_fifth_of_a_second_apart_once_each():
    keys = CallerTurn(silence(700), "keys", digits="12#")
    call = Call(keys, wait_greeting=False, pause_ms=400).run(3)
    pressed = [(round(at, 2), message["dtmf"]["digit"]) for at, message in call.of("dtmf")]
    assert pressed == [(0.42, "1"), (0.62, "2"), (0.82, "#")]


def test_a_reply_that_was_over_before_the_turn_is_not_its_answer():
    call = Call(turn(ms=2000), turn("two"), wait_greeting=False, pause_ms=400)
    call.say(1.0, tone(300))  # into a pause of the caller's, and given up without a clear
    result = call.say(2.9, tone(500)).say(6.0, tone(400)).result()
    one, two = result.turns
    assert one.latency_ms == pytest.approx(500, abs=0.2)
    assert one.reply_ms == 500
    assert two.start_s > 3.4, "the caller waited for the answer"
