"""Asterisk's media socket beside what every provider's must do (test_contract.py)."""

import asyncio
import base64
import json

import numpy as np
import pytest
from pipecat.frames.frames import InputAudioRawFrame, InputDTMFFrame, InterruptionFrame

from frontdesk import ForbiddenError, TransferError, WireError
from telephony.asterisk_control import command, read_command
from telephony.asterisk_formats import FORMATS
from telephony.far_end import Clear, Mark, Media
from telephony.far_ends.asterisk import AsteriskFarEnd
from telephony.next_steps import NEXT_STEPS, NextSteps
from telephony.provider import Account, Webhook
from telephony.providers.asterisk import Asterisk, read_start
from tests.telephony.open_wire import open_wire

START = {
    "event": "MEDIA_START",
    "channel_id": "1796075163.3",
    "format": "ulaw",
    "optimal_frame_size": 160,
    "ptime": 20,
}


def asterisk(**account):
    return Asterisk(Account(secret="a long password", **account))


def hook(user="frontdesk", password="a long password", header=None):
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Webhook(
        "GET", "ws://agent/asterisk/media", {"authorization": header or f"Basic {login}"}
    )


# Who may connect


def test_the_password_opens():
    asterisk().check(hook())
    asterisk(id="pbx").check(hook(user="pbx"))


@pytest.mark.parametrize(
    "wrong",
    [
        hook(password="a long passwore"),
        hook(password=""),
        hook(user="admin"),
        hook(header="Bearer a long password"),
        hook(header="Basic \ud800ü"),
        Webhook("GET", "ws://agent/asterisk/media", {}),
    ],
)
def test_anything_else_does_not(wrong):
    with pytest.raises(ForbiddenError):
        asterisk().check(wrong)


def test_without_a_password_of_ours_nothing_opens():
    with pytest.raises(ForbiddenError, match="no password is set"):
        Asterisk(Account()).check(hook(password=""))


# How a call begins


def test_a_caller_who_comes_back_has_the_same_call():
    variables = {"__FRONTDESK_CALL": "1796075163.2", "__FRONTDESK_RETURNED": "busy"}
    first = read_start(json.dumps({**START, "channel_variables": variables}), {}, 65536)
    again = {**START, "channel_id": "1796075170.9", "channel_variables": variables}
    second = read_start(json.dumps(again), {}, 65536)
    assert first.call_id == second.call_id == "1796075163-2"
    assert first.stream_id != second.stream_id
    assert second.parameters["returned"] == "busy"


def test_plain_text_takes_the_numbers_from_the_url():
    plain = (
        "MEDIA_START connection_id:c channel:WebSocket/c/0x7f channel_id:17.3 format:alaw ptime:20"
    )
    start = read_start(plain, {"call": "17.2", "caller": "+15555550100", "evil": "x"}, 65536)
    assert (start.call_id, start.caller, start.called) == ("17-2", "+15555550100", "")
    assert start.parameters["control"] == "plain"
    assert "evil" not in start.parameters


@pytest.mark.parametrize("audio", ["g722", "opus", "ULAW", None, ["ulaw"]])
def test_a_format_that_is_not_served_is_refused(audio):
    with pytest.raises(WireError, match="format"):
        read_start(json.dumps({**START, "format": audio}), {}, 65536)


# What is said on it


@pytest.mark.parametrize("name", sorted(FORMATS))
async def test_every_format_goes_there_and_back(name, serve):
    form = FORMATS[name]
    tone = (8000 * np.sin(np.arange(form.rate_hz // 10) * 2 * np.pi * 440 / form.rate_hz)).astype(
        np.int16
    )
    opening = [json.dumps({**START, "format": name})]
    async with open_wire(serve, asterisk(), opening) as wire:
        assert wire.serializer.rate_hz == form.rate_hz
        (sent,) = await wire.said(wire.audio(tone))
        assert len(sent) % form.frame_bytes == 0
        await wire.tell(sent)
        (frame,) = wire.frames
        heard = np.frombuffer(frame.audio, np.int16)[: tone.size].astype(float)
        noise = np.mean((heard - tone) ** 2)
        assert noise == 0 or 10 * np.log10(np.mean(tone.astype(float) ** 2) / noise) > 35


async def test_a_chunk_that_is_no_whole_frame_is_not_cut(serve):
    """Asterisk drops what is left over of a message: 100 bytes of 160 would be lost."""
    async with open_wire(serve, asterisk(), [json.dumps(START)]) as wire:
        far_end = AsteriskFarEnd("1")
        tone = np.full(260, 8000, np.int16)
        (asked,) = far_end.read((await wire.said(wire.audio(tone)))[0])
        assert isinstance(asked, Media)
        assert len(asked.payload) == 320
        assert asked.payload[260:] == b"\xff" * 60


async def test_plain_text_control_both_ways(serve):
    far_end = AsteriskFarEnd("1", plain=True)
    async with open_wire(serve, asterisk(), far_end.begin({})) as wire:
        await wire.tell(*far_end.press("7"))
        (frame,) = wire.frames
        assert isinstance(frame, InputDTMFFrame)
        (said,) = await wire.mark("one")
        assert said == "MARK_MEDIA one"
        assert far_end.read(said) == [Mark("one")]
        await wire.tell(*far_end.played(["one"]))
        assert wire.heard.marks == ["one"]
        assert far_end.read((await wire.said(InterruptionFrame()))[0]) == [Clear()]


async def test_a_flush_tells_of_the_marks_that_asterisk_forgets_and_a_late_one_is_not_told_twice(
    serve,
):
    far_end = AsteriskFarEnd("1")
    async with open_wire(serve, asterisk(), far_end.begin({})) as wire:
        await wire.mark("one")
        await wire.mark("two")
        await wire.said(InterruptionFrame())
        assert wire.heard.marks == ["one", "two"]
        await wire.tell(*far_end.played(["one"]))  # it was on its way
        assert wire.heard.marks == ["one", "two"]


async def test_audio_waits_while_asterisk_has_enough(serve):
    async with open_wire(serve, asterisk(), [json.dumps(START)]) as wire:
        await wire.tell(json.dumps({"event": "MEDIA_XOFF"}))
        held = asyncio.create_task(wire.said(wire.audio(np.ones(160, np.int16))))
        mark = await wire.mark("not held: it takes no room")
        assert mark
        assert not held.done()
        await wire.tell(json.dumps({"event": "MEDIA_XON"}))
        assert len((await asyncio.wait_for(held, 5))[0]) == 160


async def test_audio_that_waits_goes_on_after_a_flush(serve):
    async with open_wire(serve, asterisk(), [json.dumps(START)]) as wire:
        await wire.tell(json.dumps({"event": "MEDIA_XOFF"}))
        await wire.said(InterruptionFrame())
        assert await asyncio.wait_for(wire.said(wire.audio(np.ones(160, np.int16))), 5)


@pytest.mark.parametrize("size", [3, 32_002])
async def test_odd_or_endless_media_ends_the_call(size, serve):
    async with open_wire(serve, asterisk(), [json.dumps({**START, "format": "slin16"})]) as wire:
        await wire.tell(bytes(size))
        (error,) = wire.heard.errors
        assert "media of" in str(error)
        assert not wire.frames


async def test_empty_media_is_nothing(serve):
    async with open_wire(serve, asterisk(), [json.dumps(START)]) as wire:
        await wire.tell(b"", bytes(160))
        (frame,) = wire.frames
        assert isinstance(frame, InputAudioRawFrame)


@pytest.mark.parametrize("plain", [False, True])
def test_commands_are_short_enough_for_asterisk(plain):
    said = command("MARK_MEDIA", "turn-1234-sentence-56", plain=plain)
    assert read_command(said) == ("MARK_MEDIA", "turn-1234-sentence-56")
    with pytest.raises(WireError, match="128"):
        read_command(command("MARK_MEDIA", "x" * 128, plain=plain))


# Where a caller goes next


async def test_without_ari_the_dialplan_is_told_once():
    start = read_start(json.dumps(START), {}, 65536)
    await asterisk().transfer(start, "+15555550142", summary="", whisper="", then="")
    assert NEXT_STEPS.take(start.call_id) == "dial,+15555550142"
    assert NEXT_STEPS.take(start.call_id) == "hangup"


@pytest.mark.parametrize("to", ["+15555550142", "202", "sip:desk@pbx.example:5070", "*98"])
def test_what_can_be_dialled(to):
    steps = NextSteps()
    steps.dial("1", to)
    assert steps.take("1") == f"dial,{to}"


@pytest.mark.parametrize(
    "to",
    ["", "202&303", "202,30,g", "202/303", "202)", "${EVIL}", "20 2", "sip:a@b&c", "a\nb", "é"],
)
def test_nothing_gets_into_the_dialplan(to):
    with pytest.raises(TransferError) as refused:
        NextSteps().dial("1", to)
    assert refused.value.problem == "refused"


def test_steps_are_forgotten_and_bounded():
    now = [0.0]
    steps = NextSteps(lambda: now[0])
    for call in range(1000):
        steps.dial(str(call), "202")
    with pytest.raises(TransferError, match="too many"):
        steps.dial("one more", "202")
    now[0] = 61
    assert steps.take("5") == "hangup"
    steps.dial("one more", "202")
