"""A console on a free port, without the models that hear and speak."""

from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

import httpx

from agent.console.listening import console_listening
from agent.console.live import Live
from agent.console.port import take_port
from agent.records.keeper import Records
from agent.settings import Settings


@dataclass
class Desk:
    """A console that is served; ``client`` is logged in, ``stranger`` is not."""

    url: str
    token: str
    settings: Settings
    records: Records
    live: Live
    client: httpx.AsyncClient
    stranger: httpx.AsyncClient
    csrf: str

    @property
    def cookie(self):
        """The session, as a header has it."""
        return "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())

    async def get(self, path, **how):
        return await self.client.get(path, **how)

    async def post(self, path, content, **headers):
        """As the console's own pages do it."""
        headers = {"Origin": self.url, "X-CSRF-Token": self.csrf} | headers
        return await self.client.post(path, json=content, headers=headers)


@asynccontextmanager
async def console(settings, index, talk=()):
    """Serve it, its records in the folder of ``settings``."""
    port = take_port(settings.console)
    url = f"http://127.0.0.1:{port.number}"
    with closing(Records(settings.records)) as records:
        records.start()
        records.settled()
        async with (
            console_listening(settings, records, lambda: index, port, talk) as live,
            httpx.AsyncClient(base_url=url, trust_env=False) as client,
            httpx.AsyncClient(base_url=url, trust_env=False) as stranger,
        ):
            desk = Desk(url, port.token, settings, records, live, client, stranger, "")
            reply = await desk.post("/api/login", {"token": port.token})
            assert reply.status_code == 204, reply.text
            desk.csrf = (await desk.get("/api/me")).json().get("csrf", "")
            yield desk
