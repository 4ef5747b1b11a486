"""Answer calls: the provider's webhook, its media socket, and health.

Point a Twilio number's voice webhook at  https://YOUR-HOST/twilio/voice  and set
server.public_url to the same https://YOUR-HOST. Without a provider, try it on this machine:

  frontdesk serve
  frontdesk call "what time do you open on saturday"
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agent.cli import quiet_logs
from agent.records import check_folder
from agent.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--host", help="address to listen on (default: settings)")
    parser.add_argument("--port", type=int, help="port to listen on; 0 takes a free one")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")


def run(args: argparse.Namespace) -> int:
    """Serve until stopped."""
    from agent.server import build_app, listen, make_server, serve_on

    chosen = {k: v for k, v in (("host", args.host), ("port", args.port)) if v is not None}
    settings = load_settings(server=chosen, kb=args.kb)
    quiet_logs(settings.log_level)
    check_folder(settings.records.folder)
    sock = listen(settings.server.host, settings.server.port)
    try:
        from agent.engines import Engines
        from agent.prerender import Prerenderer, prepare_own_words

        engines = Engines(settings)
        prepare_own_words(engines.voice, settings, engines.policy.refusal)
        host, port = sock.getsockname()[:2]
        print(
            f"listening on http://{host}:{port}  ({len(engines.index.kb.passages)} passages)",
            flush=True,
        )
        server = make_server(build_app(settings, engines), settings)
        with Prerenderer(engines.voice, lambda: engines.index, settings).running():
            serve_on(server, sock)
    finally:
        sock.close()
    return 0
