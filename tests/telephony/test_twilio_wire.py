"""read_start over a real socket, with what a socket can bring."""

import asyncio
import json
import random
import re
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from frontdesk import WireError
from telephony.provider import Account
from telephony.providers.twilio import Twilio
from telephony.start import MAX_MESSAGE_BYTES

CONNECTED = '{"event":"connected","protocol":"Call","version":"1.0.0"}'
START = {
    "event": "start",
    "sequenceNumber": "1",
    "start": {
        "accountSid": "AC1",
        "streamSid": "MZ1",
        "callSid": "CA1",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        "customParameters": {"caller": "+15555550100", "called": "+15555550199", "token": "t"},
    },
    "streamSid": "MZ1",
}


def start(**changes):
    """The start message with fields of its start object changed; ``...`` drops one."""
    fields = {k: v for k, v in (START["start"] | changes).items() if v is not ...}
    return json.dumps({**START, "start": fields, "streamSid": fields.get("streamSid", "MZ1")})


class Door:
    """A server that does nothing but read the start, and keeps what came of each call."""

    def __init__(self, **options):
        self.outcomes = asyncio.Queue()
        self.options = {"timeout_s": 5, "max_bytes": MAX_MESSAGE_BYTES, **options}
        self.app = Starlette(routes=[WebSocketRoute("/media", self.endpoint)])

    async def endpoint(self, websocket):
        await websocket.accept()
        try:
            self.outcomes.put_nowait(await Twilio(Account()).read_start(websocket, **self.options))
            await websocket.close()
        except WireError as error:
            self.outcomes.put_nowait(error)
            with suppress(RuntimeError):  # closed by the server already
                await websocket.close(1008)

    async def try_with(self, port, *messages, then_close=False):
        async with connect(f"ws://127.0.0.1:{port}/media", compression=None, proxy=None) as socket:
            try:
                for message in messages:
                    await socket.send(message)
                if then_close:
                    await socket.close()
                await asyncio.wait_for(socket.wait_closed(), 5)
            except ConnectionClosed:
                pass
        return await asyncio.wait_for(self.outcomes.get(), 5)


async def test_a_proper_start(serve):
    door = Door()
    async with serve(door.app) as port:
        call = await door.try_with(port, CONNECTED, json.dumps(START))
    assert (call.call_id, call.stream_id, call.account_id) == ("CA1", "MZ1", "AC1")
    assert (call.caller, call.called) == ("+15555550100", "+15555550199")
    assert call.parameters["token"] == "t"
    with pytest.raises(TypeError):
        call.parameters["token"] = "u"


async def test_what_twilio_may_leave_out(serve):
    door = Door()
    async with serve(door.app) as port:
        bare = start(accountSid=..., mediaFormat=..., customParameters=..., tracks=...)
        call = await door.try_with(port, CONNECTED, bare)
    assert (call.account_id, call.caller, dict(call.parameters)) == ("", "", {})


async def test_control_characters_never_reach_the_caller_field(serve):
    door = Door()
    async with serve(door.app) as port:
        odd = start(customParameters={"caller": "+1555\n\x1b[31m5550100\u2028"})
        call = await door.try_with(port, CONNECTED, odd)
    assert call.caller == "+1555[31m5550100"


REFUSED = {
    "malformed": (["{"], "malformed JSON message"),
    "not an object": (["[1]"], "JSON message is not an object"),
    "binary": ([b"\x01\x02"], "binary message where text is due"),
    "media first": (['{"event":"media"}'], "media message where connected is due"),
    "media before start": (
        [CONNECTED, '{"event":"media","media":{"payload":"secret"}}'],
        "media message where start is due",
    ),
    "start first": ([json.dumps(START)], "start message where connected is due"),
    "unknown event": ([CONNECTED, '{"event":"evil\\nline"}'], "unknown message where start is due"),
    "event is a dict": ([CONNECTED, '{"event":{}}'], "unknown message where start is due"),
    "oversized": (
        [CONNECTED, "x" * 70_000],
        "oversized message (the limit is 65536 bytes)",
    ),
    "oversized for the server": (["x" * 300_000], "oversized message where connected is due"),
    "no start object": ([CONNECTED, '{"event":"start"}'], "start message without its start object"),
    "start is a list": (
        [CONNECTED, '{"event":"start","start":[]}'],
        "start message without its start object",
    ),
    "no call id": ([CONNECTED, start(callSid=...)], "start message without a usable callSid"),
    "call id is a number": (
        [CONNECTED, start(callSid=3)],
        "start message without a usable callSid",
    ),
    "call id is a path": (
        [CONNECTED, start(callSid="../../x")],
        "start message without a usable callSid",
    ),
    "call id is long": (
        [CONNECTED, start(callSid="C" * 65)],
        "start message without a usable callSid",
    ),
    "stream id is null": (
        [CONNECTED, start(streamSid=None)],
        "start message without a usable streamSid",
    ),
    "two stream ids": (
        [CONNECTED, json.dumps({**START, "streamSid": "MZ2"})],
        "start message with two different stream ids",
    ),
    "account id is odd": (
        [CONNECTED, start(accountSid={})],
        "start message without a usable accountSid",
    ),
    "encoding": (
        [CONNECTED, start(mediaFormat={"encoding": "audio/x-alaw"})],
        "start message whose mediaFormat encoding is not audio/x-mulaw",
    ),
    "rate": (
        [CONNECTED, start(mediaFormat={"sampleRate": 16000})],
        "start message whose mediaFormat sampleRate is not 8000",
    ),
    "channels": (
        [CONNECTED, start(mediaFormat={"channels": True})],
        "start message whose mediaFormat channels is not 1",
    ),
    "format": ([CONNECTED, start(mediaFormat=[])], "start message with an odd mediaFormat"),
    "parameters": (
        [CONNECTED, start(customParameters=["x"])],
        "start message with odd parameters",
    ),
    "parameter value": (
        [CONNECTED, start(customParameters={"caller": 5})],
        "start message with odd parameters",
    ),
    "many parameters": (
        [CONNECTED, start(customParameters={str(i): "" for i in range(33)})],
        "start message with odd parameters",
    ),
}


async def test_each_way_to_start_wrong_is_one_line(serve):
    door = Door()
    async with serve(door.app, ws_max_size=131_072) as port:
        for case, (messages, line) in REFUSED.items():
            outcome = await door.try_with(port, *messages)
            assert isinstance(outcome, WireError), case
            assert str(outcome) == line, case
        assert (await door.try_with(port, CONNECTED, json.dumps(START))).call_id == "CA1"


async def test_silence_and_early_closes(serve):
    door = Door(timeout_s=0.2)
    async with serve(door.app) as port:
        silent = await door.try_with(port)
        half = await door.try_with(port, CONNECTED)
        gone = await door.try_with(port, then_close=True)
        half_gone = await door.try_with(port, CONNECTED, then_close=True)
    assert str(silent) == str(half) == "no start message within 0.2 s"
    assert str(gone) == "socket closed (code 1000) before the connected message"
    assert str(half_gone) == "socket closed (code 1000) before the start message"


async def test_text_that_is_not_utf8(serve):
    door = Door()
    async with serve(door.app) as port:
        socket = await connect(f"ws://127.0.0.1:{port}/media", compression=None, proxy=None)
        async with socket:
            await socket.send(b"\xff\xfe{", text=True)
            outcome = await asyncio.wait_for(door.outcomes.get(), 5)
    assert str(outcome) == "text that is not UTF-8 where connected is due"


async def test_a_vanished_far_end(serve):
    door = Door(timeout_s=5)
    async with serve(door.app) as port:
        socket = await connect(f"ws://127.0.0.1:{port}/media", compression=None, proxy=None)
        socket.transport.abort()
        outcome = await asyncio.wait_for(door.outcomes.get(), 5)
    # uvicorn 0.54 says 1005 here, as for a close without a code; others say 1006.
    assert re.fullmatch(
        r"socket closed \(code 100[56]\) before the connected message", str(outcome)
    )


async def test_two_hundred_mutilated_starts_do_not_hurt_the_server(serve):
    rng = random.Random(11)
    door = Door(timeout_s=0.5)
    good = [CONNECTED, json.dumps(START)]
    refused = 0
    async with serve(door.app, ws_max_size=131_072) as port:
        for _ in range(200):
            messages = list(good)
            which = rng.randrange(2)
            text = messages[which]
            for _ in range(rng.randrange(1, 6)):
                i = rng.randrange(len(text))
                text = text[:i] + rng.choice(["", "0", '"', "{", "\x00", "é"]) + text[i + 1 :]
            messages[which] = text.encode() if rng.random() < 0.1 else text
            # Closing behind the messages: one that passes as the other event must not time out.
            outcome = await door.try_with(port, *messages, then_close=True)
            refused += isinstance(outcome, WireError)
        assert (await door.try_with(port, *good)).call_id == "CA1"
    assert 100 < refused < 200
