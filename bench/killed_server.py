"""The server of :mod:`bench.kills`: it tells each event of a record once that is written.

One line an event on standard output, by a write of its own: the call, its number, its hash.
"""

from __future__ import annotations

import os
from typing import Any

from agent.engines import Engines
from agent.server import build_app, listen, make_server, serve_on
from agent.settings import load_settings


def _told(call: str, event: dict[str, Any]) -> None:
    if "hash" in event:
        os.write(1, f"{call} {event['seq']} {event['hash']}\n".encode())


def main() -> None:
    """Serve until killed."""
    settings = load_settings()
    sock = listen("127.0.0.1", 0)
    app = build_app(settings, Engines(settings))
    app.state.records.subscribe(_told)
    server = make_server(app, settings)
    os.write(1, f"listening on http://127.0.0.1:{sock.getsockname()[1]}\n".encode())
    serve_on(server, sock)


if __name__ == "__main__":
    main()
