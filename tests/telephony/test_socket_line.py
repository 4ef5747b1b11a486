"""A call's line over a provider's socket: what is asked of it goes to the provider, once."""

import json

import pytest
from loguru import logger
from starlette.websockets import WebSocket

from telephony.provider import Account
from telephony.providers import PROVIDERS
from telephony.socket_line import SocketLine
from telephony.start import CallStart
from tests.telephony.fake_rest import fake_rest
from tests.telephony.listening import Heard

START = CallStart("12345678-1234-1234-1234-123456789abc", "S1", "AC1")


@pytest.fixture
async def rest():
    async with fake_rest() as server:
        yield server


@pytest.fixture
def logged():
    lines = []
    sink = logger.add(lambda message: lines.append(message.record["message"]), level="WARNING")
    yield lines
    logger.remove(sink)


async def _nothing(*_):
    return {"type": "websocket.disconnect"}


def line_of(name, rest):
    account = Account(id="AC1", secret="secret", api_key="key", api_url=rest.url)
    socket = WebSocket({"type": "websocket", "path": "/", "headers": []}, _nothing, _nothing)
    return SocketLine(PROVIDERS[name](account), socket, START, Heard(), max_bytes=65536)


@pytest.mark.parametrize("name", ["plivo", "telnyx"])
async def test_keys_are_pressed_where_the_wire_can(name, rest):
    line = line_of(name, rest)
    assert line.capabilities.digits_out
    await line.press("12#")
    (asked,) = rest.asked
    assert (asked.what, asked.body["digits"]) == ("press", "12#")


async def test_and_dropped_where_it_cannot(rest):
    line = line_of("twilio", rest)
    assert not line.capabilities.digits_out
    await line.press("12#")
    assert rest.asked == []


@pytest.mark.parametrize("name", ["plivo", "telnyx"])
async def test_keys_that_cannot_be_pressed_are_one_line_in_the_log(name, rest, logged):
    rest.mode = "500"
    await line_of(name, rest).press("12#")
    (line,) = logged
    assert "12#" not in line
    assert "EVIL" not in line


@pytest.mark.parametrize("mode", ["works", "over", "500", "closes"])
@pytest.mark.parametrize("name", ["plivo", "telnyx", "twilio"])
async def test_a_hang_up_is_asked_for_once_and_never_raises(name, mode, rest, logged):
    rest.mode = mode
    line = line_of(name, rest)
    await line.hang_up()
    await line.hang_up()
    assert [one.what for one in rest.asked] == ["hangup"]
    assert len(logged) == (0 if mode in ("works", "over") else 1)


async def test_a_caller_who_hung_up_is_not_hung_up_again(rest):
    line = line_of("telnyx", rest)
    await line._serializer.deserialize(json.dumps({"event": "stop", "stream_id": "S1"}))
    assert line.stopped
    await line.hang_up()
    assert rest.asked == []
