"""A fake of Twilio's REST interface on a real socket: it keeps what it is told to do to calls.

The form is that of https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource.
"""

import asyncio
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl
from xml.etree import ElementTree


class FakeTwilio:
    """``updates`` are (call id, form) of every update of a call; ``status`` is answered to them.

    ``taken`` is set once a call was told to do something else, as after a redirect.
    """

    def __init__(self):
        self.updates = []
        self.status = 200
        self.taken = asyncio.Event()

    @property
    def dial(self):
        """The ``<Dial>`` that the last update asks for."""
        return ElementTree.fromstring(self.updates[-1][1]["Twiml"]).find("Dial")

    async def _answer(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                request, *lines = head.decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines if line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                call_id = request.split()[1].rsplit("/", 1)[-1].removesuffix(".json")
                self.updates.append((call_id, dict(parse_qsl(body.decode()))))
                self.taken.set()
                writer.write(
                    f"HTTP/1.1 {self.status} X\r\ncontent-type: application/json\r\n"
                    "content-length: 2\r\n\r\n{}".encode()
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def fake_twilio():
    """One on a free port; ``url`` is its address."""
    fake = FakeTwilio()
    server = await asyncio.start_server(fake._answer, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield fake
