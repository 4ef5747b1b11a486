"""A transfer by ARI against a fake of it on a real socket; tests/asterisk has the real one."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect

from frontdesk import TransferError
from telephony.ari import Ari

LOGIN = "Basic " + base64.b64encode(b"frontdesk:secret").decode()


class FakeAri:
    """Answers a transfer's call with ``events``; keeps what was asked of it."""

    def __init__(self, *events, status=200, silent=False, closes=False):
        self.events, self.status, self.silent, self.closes = events, status, silent, closes
        self.asked, self.placed = [], asyncio.Event()
        self.app = FastAPI()

        @self.app.websocket("/ari/events")
        async def events_socket(socket: WebSocket, app: str):
            if socket.headers.get("authorization") != LOGIN:
                await socket.close()
                return
            await socket.accept()
            await self.placed.wait()
            for event in self.events:
                await socket.send_text(event.replace("CHANNEL", app))
            if self.closes:
                await socket.close()
                return
            try:
                await socket.receive_text()
            except WebSocketDisconnect:
                return

        @self.app.api_route("/ari/{path:path}", methods=["GET", "POST", "DELETE"])
        async def rest(request: Request, path: str):
            if request.headers.get("authorization") != LOGIN:
                return Response(status_code=401)
            body = await request.body()
            self.asked.append((request.method, path, json.loads(body) if body else None))
            self.placed.set()
            done = path.endswith("/continue") or request.method == "DELETE"
            return Response(status_code=204 if done else self.status)

    def paths(self):
        return [f"{method} {path.rpartition('/')[2]}" for method, path, _ in self.asked]


@pytest.fixture
def served(serve):
    """``async with served(fake, ring_s=…) as ari``."""

    @asynccontextmanager
    async def run(fake, password="secret", **how):
        async with serve(fake.app) as port:
            ari = Ari(f"http://127.0.0.1:{port}", "frontdesk", password, **how)
            try:
                yield ari
            finally:
                await ari.close()

    return run


def event(kind, **fields):
    return json.dumps({"type": kind, "channel": {"id": "CHANNEL", "name": "Local/s;1"}, **fields})


NOISE = (
    "not JSON",
    "[]",
    json.dumps({"type": "ChannelDestroyed", "channel": {"id": "another"}, "cause": 17}),
    json.dumps({"type": "Dial", "channel": None}),
    json.dumps({"type": "Dial", "peer": {"id": "CHANNEL"}}),
    event("ChannelStateChange"),
)


async def test_whoever_picks_up_gets_the_callers_channel(served):
    fake = FakeAri(*NOISE, event("StasisStart"))
    async with served(fake) as ari:
        await ari.transfer("PJSIP/trunk-1", "+15555550142", "+15555550100")
    (_, _, placed), (_, path, joined) = fake.asked
    assert placed["endpoint"] == "Local/s@frontdesk-transfer"
    assert placed["variables"] == {
        "__FRONTDESK_TO": "+15555550142",
        "FRONTDESK_PEER": "PJSIP/trunk-1",
    }
    assert placed["callerId"] == "+15555550100"
    assert path == f"channels/{placed['channelId']}/continue"
    assert joined["context"] == "frontdesk-join"


@pytest.mark.parametrize(
    ("cause", "problem"),
    [
        (17, "busy"),
        (19, "no answer"),
        (21, "refused"),
        (3, "unreachable"),
        (16, "failed"),
        (None, "failed"),
        ("17", "failed"),
    ],
)
async def test_why_nobody_picked_up(served, cause, problem):
    fake = FakeAri(event("ChannelDestroyed", cause=cause, cause_txt="EVIL"))
    async with served(fake) as ari:
        with pytest.raises(TransferError) as refused:
            await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == problem
    assert "EVIL" not in str(refused.value)
    assert "POST continue" not in fake.paths()


async def test_nobody_picks_up_in_time(served, monkeypatch):
    monkeypatch.setattr("telephony.ari.GRACE_S", 0.1)
    fake = FakeAri()
    async with served(fake, ring_s=0.1) as ari:
        with pytest.raises(TransferError) as refused:
            await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == "no answer"
    assert fake.asked[-1][0] == "DELETE"


async def test_a_caller_who_hangs_up_stops_the_ringing(served):
    fake = FakeAri()
    async with served(fake) as ari:
        transfer = asyncio.create_task(ari.transfer("PJSIP/trunk-1", "202"))
        await asyncio.wait_for(fake.placed.wait(), 5)
        transfer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await transfer
    assert fake.asked[-1][0] == "DELETE"


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_asterisk_refuses_to_call(served, status):
    async with served(FakeAri(status=status)) as ari:
        with pytest.raises(TransferError) as refused:
            await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == "refused"


async def test_a_wrong_password(served):
    fake = FakeAri(event("StasisStart"))
    async with served(fake, password="guess") as ari:
        with pytest.raises(TransferError) as refused:
            await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == "unreachable"
    assert "guess" not in str(refused.value)
    assert fake.asked == []


async def test_asterisk_goes_away(served):
    async with served(FakeAri(closes=True)) as ari:
        with pytest.raises(TransferError) as refused:
            await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == "failed"


async def test_nobody_listens_there(unused_tcp_port):
    ari = Ari(f"http://127.0.0.1:{unused_tcp_port}", "frontdesk", "secret")
    with pytest.raises(TransferError) as refused:
        await ari.transfer("PJSIP/trunk-1", "202")
    assert refused.value.problem == "unreachable"


async def test_a_call_of_ours_comes_in_under_the_id_that_was_told(served):
    fake = FakeAri()
    async with served(fake) as ari:
        call_id = await ari.dial("+15555550142", "+15555550100")
        with pytest.raises(TransferError):
            await ari.dial("202&303")
    ((_, path, placed),) = fake.asked
    assert path == "channels"
    assert placed["channelId"] == call_id
    assert (placed["context"], placed["extension"]) == ("frontdesk", "agent")
    assert placed["variables"]["__FRONTDESK_TO"] == "+15555550142"
    assert "app" not in placed


async def test_what_cannot_be_dialled_is_not_asked_for(served):
    fake = FakeAri(event("StasisStart"))
    async with served(fake) as ari:
        with pytest.raises(TransferError):
            await ari.transfer("PJSIP/trunk-1", "202&303")
    assert fake.asked == []
