"""The caller on a real socket: pacing, latency, webhook, and every way the far end can end it."""

import asyncio
import base64
import json
import time
from urllib.parse import parse_qsl

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from frontdesk import ConfigError
from telephony.caller import CallerTurn, load_audio, place_call, write_recording
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.provider import Account, Incoming
from telephony.providers.twilio import Twilio

TWILIO = Twilio(Account())


def response(answer):
    return Response(answer.body, media_type=answer.media_type)


def tone(ms):
    wave = 8000 * np.sin(2 * np.pi * 440 * np.arange(ms * 8) / 8000)
    return wave.astype(np.int16)


class Agent:
    """Answers ``delay_s`` after the caller has been quiet for that long; stops when spoken to."""

    def __init__(self, delay_s=0.25, reply_ms=400):
        self.app = Starlette(
            routes=[
                Route("/twilio/voice", self.webhook, methods=["POST"]),
                Route("/refusing", self.refuse, methods=["POST"]),
                Route("/nonsense", self.nonsense, methods=["POST"]),
                WebSocketRoute("/echo", self.echo),
                WebSocketRoute("/answer", self.answer),
                WebSocketRoute("/bye", self.bye),
                WebSocketRoute("/garbage", self.garbage),
                WebSocketRoute("/crash", self.crash),
            ]
        )
        self.delay_s = delay_s
        self.reply_ms = reply_ms
        self.calls = []
        self.arrivals = []
        self.marks = []
        self.stops = 0

    async def webhook(self, request):
        form = dict(parse_qsl((await request.body()).decode()))
        host = request.headers["host"]
        call = Incoming(form["CallSid"], form["From"], form["To"])
        return response(TWILIO.connect(f"ws://{host}/bye", call))

    async def refuse(self, request):
        return response(TWILIO.refuse("All lines are busy."))

    async def nonsense(self, request):
        return Response('<!DOCTYPE x [<!ENTITY a "b">]><x/>', media_type="application/xml")

    async def messages(self, websocket):
        await websocket.accept()
        call = await TWILIO.read_start(websocket, timeout_s=5, max_bytes=65536)
        self.calls.append(call)
        try:
            while True:
                message = json.loads(await websocket.receive_text())
                if message["event"] == "mark":
                    self.marks.append((time.monotonic(), message["mark"]["name"]))
                elif message["event"] == "stop":
                    self.stops += 1
                else:
                    self.arrivals.append(time.monotonic())
                    yield call.stream_id, message
        except WebSocketDisconnect:
            return

    async def echo(self, websocket):
        async for stream, message in self.messages(websocket):
            payload = message["media"]["payload"]
            await send(websocket, stream, event="media", media={"payload": payload})

    async def answer(self, websocket):
        heard_at = playing_until = None
        async for stream, message in self.messages(websocket):
            now = time.monotonic()
            pcm = ulaw_decode(base64.b64decode(message["media"]["payload"]))
            if np.abs(pcm).max() > 300:
                heard_at = now
                if playing_until and now < playing_until:
                    await send(websocket, stream, event="clear")
                    playing_until = None
            elif heard_at and now - heard_at >= self.delay_s:
                heard_at = None
                playing_until = now + self.reply_ms / 1000
                payload = base64.b64encode(ulaw_encode(tone(self.reply_ms))).decode()
                await send(websocket, stream, event="media", media={"payload": payload})
                await send(websocket, stream, event="mark", mark={"name": "said"})

    async def bye(self, websocket):
        async for stream, _ in self.messages(websocket):
            payload = base64.b64encode(ulaw_encode(tone(200))).decode()
            await send(websocket, stream, event="media", media={"payload": payload})
            await asyncio.sleep(0.3)
            await websocket.close()
            return

    async def garbage(self, websocket):
        async for _ in self.messages(websocket):
            await websocket.send_text("garbage")

    async def crash(self, websocket):
        async for _ in self.messages(websocket):
            await websocket.close(1011)
            return


async def send(websocket, stream, **message):
    await websocket.send_text(json.dumps({"streamSid": stream, **message}))


async def test_the_webhook_path_and_an_agent_that_hangs_up(serve):
    agent = Agent()
    async with serve(agent.app) as port:
        result = await place_call(
            f"http://127.0.0.1:{port}", [CallerTurn(tone(300), "hello")], caller="+15555550123"
        )
    (call,) = agent.calls
    assert (call.caller, call.called) == ("+15555550123", "+15555550199")
    assert call.call_id.startswith("CA")
    assert result.ended_by == "agent"
    assert result.error is None
    assert 0 < result.greeting_ms < 100
    assert result.unanswered == ("hello",)
    assert result.turns[0].start_s is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("http:/refusing", "the agent's webhook failed: its answer offers no media stream"),
        ("http:/nonsense", "the agent's webhook failed: its answer is not XML"),
        ("http:/missing", "the agent's webhook failed: Client error '404 Not Found'"),
        ("ws:/missing", "cannot connect to the agent: "),
        ("ws:/garbage", "the agent sent malformed JSON"),
        ("ws:/crash", "the agent closed the socket with code 1011"),
    ],
)
async def test_what_goes_wrong_ends_the_call_with_one_line(serve, path, line):
    scheme, path = path.split(":")
    async with serve(Agent().app) as port:
        result = await place_call(
            f"{scheme}://127.0.0.1:{port}{path}", [CallerTurn(tone(300), "hello")]
        )
    assert result.ended_by == "error"
    assert result.error.startswith(line)
    assert "\n" not in result.error
    assert result.unanswered == ("hello",)


async def test_nobody_listens():
    result = await place_call("ws://127.0.0.1:9/x", [CallerTurn(tone(20), "q")])
    assert result.error.startswith("cannot connect to the agent")
    result = await place_call("http://127.0.0.1:9", [CallerTurn(tone(20), "q")])
    assert result.error.startswith("the agent's webhook failed")
    assert result.recording.shape == (0, 2)


@pytest.mark.parametrize(
    "url",
    [
        "agent.example", "ftp://h/x", "ws://", "http:///x", "http://h:99999", "http://[", "sip:",
        "tcp://h",
    ],
)  # fmt: skip
async def test_a_url_of_another_kind_is_a_configuration_error(url):
    with pytest.raises(ConfigError, match="no address of an agent"):
        await place_call(url, [])


@pytest.mark.parametrize(
    ("url", "wire", "takes"),
    [
        ("http://127.0.0.1:9", "sip", "sip is called at sip:… or sips:…, not at"),
        ("http://127.0.0.1:9", "audiosocket", "audiosocket is called at tcp:…, not at"),
        ("tcp://127.0.0.1:9", "telnyx", "telnyx is called at http://… or ws://…, not at"),
    ],
)
async def test_a_url_that_its_wire_cannot_be_called_at(url, wire, takes):
    with pytest.raises(ConfigError, match=takes):
        await place_call(url, [], wire=wire)


@pytest.mark.slow
async def test_an_echo_is_heard_at_once_and_whole(serve):
    agent = Agent()
    question = tone(1500)
    async with serve(agent.app) as port:
        result = await place_call(
            f"ws://127.0.0.1:{port}/echo",
            [CallerTurn(question, "echo", expect_reply=False)],
            wait_greeting=False,
        )
    (turn,) = result.turns
    assert turn.latency_ms == pytest.approx(20 - 1500, abs=15)  # it begins one frame in
    left, right = result.recording[:, 0], result.recording[:, 1]
    shift = int(np.flatnonzero(right)[0] - np.flatnonzero(left)[0])
    assert 160 <= shift <= 280
    expected = ulaw_decode(ulaw_encode(question))
    start = int(turn.start_s * 8000) - int(np.flatnonzero(np.abs(question) > 300)[0]) + shift
    # Frames that come a few ms apart play seamlessly or with a gap of silence; count samples.
    played = right[start : start + len(question) + 800]
    assert np.count_nonzero(played) == pytest.approx(np.count_nonzero(expected), abs=2)
    assert result.ended_by == "caller"
    await asyncio.sleep(0)
    assert agent.stops == 1


@pytest.mark.slow
async def test_pacing_latency_barge_in_and_marks_in_real_time(serve):
    agent = Agent(delay_s=0.25, reply_ms=1500)
    turns = [
        CallerTurn(tone(600), "ask"),
        CallerTurn(tone(600), "interrupt", interrupt_after_ms=500),
        CallerTurn(tone(600), "again"),
    ]
    async with serve(agent.app) as port:
        began = time.monotonic()
        result = await place_call(
            f"ws://127.0.0.1:{port}/answer", turns, wait_greeting=False, pause_ms=200
        )
        took = time.monotonic() - began
    assert result.unanswered == ()
    for turn in result.turns:
        # The last audible frame leaves at its end; the agent counts its delay in 20 ms frames.
        assert 250 <= turn.latency_ms < 300
    ask, interrupt, again = result.turns
    assert interrupt.start_s - ask.reply_start_s == pytest.approx(0.5, abs=0.021)
    assert 15 < interrupt.barge_in_ms < 60
    assert ask.reply_ms == pytest.approx(500 + interrupt.barge_in_ms, abs=25)
    assert again.reply_ms == pytest.approx(1500, abs=2)
    assert result.cleared_ms == pytest.approx(1500 - ask.reply_ms, abs=10)
    assert [name for _, name in agent.marks] == ["said"] * 3
    # Frames arrive 20 ms apart and do not drift.
    arrivals = np.array(agent.arrivals)
    due = arrivals[0] + np.arange(len(arrivals)) * 0.02
    assert np.abs(arrivals - due).max() < 0.05
    assert result.send_late_ms.p50 < 3
    assert len(result.recording) / 8000 == pytest.approx(took, abs=0.3)


def test_recordings_and_other_rates(tmp_path):
    recording = np.stack([tone(500), -tone(500) // 2], axis=1)
    write_recording(tmp_path / "call.wav", recording)
    mixed = load_audio(tmp_path / "call.wav")
    assert mixed.dtype == np.int16
    assert len(mixed) == 4000
    assert np.abs(mixed - tone(500) / 4).max() <= 1
    import soundfile

    soundfile.write(tmp_path / "mono.wav", tone(500), 8000, subtype="PCM_16")
    assert load_audio(tmp_path / "mono.wav").tolist() == tone(500).tolist()
    wave = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050) * 0.5
    soundfile.write(tmp_path / "high.flac", wave, 22050)
    low = load_audio(tmp_path / "high.flac")
    assert len(low) == 8000
    expected = 16384 * np.sin(2 * np.pi * 440 * np.arange(8000) / 8000)
    assert np.abs(low - expected)[200:-200].max() < 20


def test_unusable_audio_files_are_one_line(tmp_path):
    (tmp_path / "text.wav").write_text("hello")
    for path in (tmp_path / "none.wav", tmp_path / "text.wav"):
        with pytest.raises(ConfigError, match="cannot read audio file") as caught:
            load_audio(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="cannot write recording"):
        write_recording(tmp_path / "no" / "call.wav", np.zeros((8, 2), np.int16))
