"""Hold-to-talk in the console: a call for whoever is logged in, and for nobody else."""

import json

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agent.console.port import take_port
from tests.agent.live import serving


@pytest.mark.slow
async def test_who_is_logged_in_may_talk_where_the_open_page_is_off(settings, call_engines):
    chosen = settings(browser={"page": "off"}, console={"port": 0})
    console = take_port(chosen.console)
    url = f"http://127.0.0.1:{console.number}"
    async with (
        serving(chosen, call_engines, console=console) as server,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        assert (await client.post("/talk/token", headers={"Origin": url})).status_code == 401
        login = {"token": console.token}
        await client.post("/api/login", json=login, headers={"Origin": url})
        assert (await client.get("/talk")).headers["permissions-policy"].startswith("microphone=")
        assert (await client.get("/talk/talk.js")).status_code == 200
        assert (await client.get("/api/me")).json()["talk"] is True
        evil = {"Origin": "http://evil.example"}
        assert (await client.post("/talk/token", headers=evil)).status_code == 403
        token = (await client.post("/talk/token", headers={"Origin": url})).json()["token"]
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        socket_url = f"{url.replace('http', 'ws', 1)}/talk/socket/{token}"
        with pytest.raises(InvalidStatus):
            await connect(socket_url, additional_headers={"Origin": url}, proxy=None)
        mine = {"Origin": url, "Cookie": cookie}
        live = await connect(
            socket_url.partition("/talk")[0] + "/api/live", additional_headers=mine, proxy=None
        )
        async with connect(socket_url, additional_headers=mine, proxy=None) as socket:
            while not isinstance(await socket.recv(), bytes):
                continue  # until the agent's voice is heard
        told = []
        while not told or told[-1]["type"] != "ended":
            told.append(json.loads(await live.recv()))
        await live.close()
        events = await server.record()
    (greeting, *_) = [event["say"] for event in events if event["event"] == "said"]
    assert greeting in [message["line"]["text"] for message in told if message.get("line")]
    assert {message["call"] for message in told if "call" in message} == {told[-1]["call"]}
