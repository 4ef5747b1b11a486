"""A fake of a chat server on a loopback socket: it sends what its script says, and breaks so."""

import asyncio
import json

DROP = object()
"""In a script: the line is cut."""
HANG = object()
"""In a script: nothing more, until the client leaves."""


class FakeChat:
    """``script`` holds one list of steps a request: bytes to send, DROP or HANG.

    ``requests`` keeps (headers, body) of each; ``hanging`` is set when a line hangs, and ``left``
    once its client has left.
    """

    def __init__(self):
        self.script, self.requests, self.connections = [], [], 0
        self.hanging, self.left = asyncio.Event(), asyncio.Event()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *why):
        self._server.close()

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            while await self._request(reader):
                for step in self.script.pop(0):
                    if step is DROP:
                        return
                    if step is HANG:
                        self.hanging.set()
                        await reader.read()
                        self.left.set()
                        return
                    writer.write(step)
                    await writer.drain()
        except ConnectionError:
            self.left.set()
        finally:
            writer.transport.abort()

    async def _request(self, reader):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        except asyncio.IncompleteReadError:
            return False
        assert head[0] == "POST /v1/chat/completions HTTP/1.1"
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append((headers, body))
        return True


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data):
    """A piece of a body of unknown length."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(**choice):
    """One event of a stream."""
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def words(text):
    """Events that bring ``text`` in pieces of five characters."""
    parts = [text[at : at + 5] for at in range(0, len(text), 5)]
    return [chunk(event(delta={"content": part})) for part in parts]


def streamed(text):
    """The steps of a whole and honest stream."""
    stop = event(delta={}, finish_reason="stop")
    return [HEAD, chunk(b": waiting\n\n"), *words(text), chunk(stop + b"data: [DONE]\n\n"), END]


def plain(status, body, kind="application/json", headers=""):
    """The steps of an answer that is not streamed."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{headers}Content-Length: {len(data)}"
    return [head.encode() + b"\r\n\r\n" + data]
