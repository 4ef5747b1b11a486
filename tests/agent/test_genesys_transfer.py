"""A caller who wants a person, over Genesys: the flow is told, and may bring the caller back."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect

from agent.settings import load_settings
from telephony.far_end import HandOver, HangUp, Media
from telephony.far_ends.genesys import GenesysFarEnd
from tests.agent.live import serving
from tests.telephony.on_a_line import Session

pytestmark = pytest.mark.slow

PERSON = "+15555550150"


class Caller(Session):
    """A silent caller."""

    async def silence(self):
        frame = 0
        while True:
            for message in self.far_end.media(frame, b"\xff" * 160):
                await self.client.send(message)
            frame += 1
            await asyncio.sleep(0.02)


@asynccontextmanager
async def calling(server, **variables):
    """One session of the same caller's; the flow passes ``variables`` on."""
    far_end = GenesysFarEnd(
        "call-1", caller="+15555550100", called="+15555550199", variables=variables
    )
    where = far_end.socket(server.url.replace("http", "ws") + far_end.path)
    headers = {**where.headers, **server.headers}
    async with connect(where.url, additional_headers=headers, proxy=None) as client:
        caller = Caller(client, far_end)
        heard = asyncio.create_task(caller.run())
        silence = asyncio.create_task(caller.silence())
        try:
            yield caller
        finally:
            silence.cancel()
            await client.close()
            await asyncio.gather(heard, silence, return_exceptions=True)


async def test_the_flow_is_told_whom_to_call_and_may_bring_the_caller_back(tmp_path, call_engines):
    settings = load_settings(records={"folder": tmp_path}, handover={"to": PERSON})
    async with serving(settings, call_engines) as server:
        async with calling(server) as caller:
            await caller.first(Media)
            for message in caller.far_end.press("0"):
                await caller.client.send(message)
            await caller.first(HangUp)
        assert caller.of(HandOver) == [HandOver(PERSON)]
        await server.idle()
        assert server.records()[-1][-1]["reason"] == "transferred"

        async with calling(server, returned="busy") as caller:
            await caller.first(Media)
        await server.idle()
    said = [e["say"] for events in server.records() for e in events if e["event"] == "said"]
    assert "busy" in said[-1]
