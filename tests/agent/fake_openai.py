"""A fake OpenAI-compatible server, over a real socket."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeServer(ThreadingHTTPServer):
    """Answers a request's body by ``reply``; ``requests`` keeps path, headers and body.

    ``answers`` are taken first, one a request: (status, headers, body). Nothing is answered while
    ``wait`` is clear.
    """

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply, self.requests, self.answers = reply, [], []
        self.wait = threading.Event()
        self.wait.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        """Nothing: a client that did not wait has closed its side."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        self.server.wait.wait(5)
        status, headers, answer = (
            self.server.answers.pop(0)
            if self.server.answers
            else (200, {}, self.server.reply(body))
        )
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        """Quiet."""


@contextmanager
def serving(reply, monkeypatch):
    """A running :class:`FakeServer`."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FakeServer(reply) as fake:
        thread = threading.Thread(target=fake.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield fake
        fake.wait.set()
        fake.shutdown()
        thread.join()
