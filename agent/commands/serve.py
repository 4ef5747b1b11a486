"""Answer calls: the providers' webhooks, their media sockets, and health.

Enable a provider (twilio = { enabled = true } under [providers]), set its secret's variable, set
server.public_url to https://YOUR-HOST and point the number's voice webhook at
https://YOUR-HOST/twilio/voice  (docs/front-door.md). Without a provider, try it on this machine:

  frontdesk serve
  frontdesk call "what time do you open on saturday"

The calls are shown on the console's pages; the link to log in with is printed (docs/console.md).
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.cli import quiet_logs
from agent.records import check_folder
from agent.server_settings import is_insecure
from agent.settings import load_settings
from frontdesk import ConfigError
from telephony import local_key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--host", help="address to listen on (default: settings)")
    parser.add_argument("--port", type=int, help="port to listen on; 0 takes a free one")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="ask for no signature and no token, from this machine only",
    )
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")


def run(args: argparse.Namespace) -> int:
    """Serve until stopped."""
    from agent.browser_settings import has_page
    from agent.console.port import take_port
    from agent.front_door import check_door, entrances
    from agent.server import build_app, listen, make_server, serve_on

    given = {"host": args.host, "port": args.port, "insecure": args.insecure or None}
    chosen = {k: v for k, v in given.items() if v is not None}
    settings = load_settings(server=chosen, kb=args.kb)
    quiet_logs(settings.log_level)
    check_folder(settings.records.folder)
    check_door(settings)  # a secret that is not set is found before the models load
    if is_insecure(settings.server):
        _warn(settings.server.insecure == "anywhere")
    sock = listen(settings.server.host, settings.server.port)
    console = None
    try:
        console = take_port(settings.console)
        from agent.engines import Engines
        from agent.prerender import Prerenderer, prepare_own_words

        engines = Engines(settings)
        prepare_own_words(engines.voice, settings, engines.policy.refusal)
        host, port = sock.getsockname()[:2]
        app = build_app(settings, engines, console)
        server = make_server(app, settings)
        with (
            _ended_by_sigterm(),
            _key_left(app.state.doorman.local_key, port),
            Prerenderer(engines.voice, lambda: engines.index, settings).running(),
        ):
            print(
                f"listening on http://{host}:{port}  ({len(engines.index.kb.passages)} passages)",
                flush=True,
            )
            for line in entrances(settings, app.state.providers):
                print(line, flush=True)
            for line in console.lines() if console else ():
                print(line, flush=True)
            if has_page(settings.browser, settings.server):
                print(f"in a browser: http://{host}:{port}/talk", flush=True)
            serve_on(server, sock)
    finally:
        sock.close()
        if console is not None:
            console.sock.close()
    return 0


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Leave in order: uvicorn stops, then sends the signal again to whoever had it before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _key_left(key: str, port: int) -> Iterator[None]:
    """Let programs of this machine in, where there is a place to tell them how."""
    with ExitStack() as stack:
        try:
            stack.enter_context(local_key.published(key, port))
        except ConfigError as error:
            print(f"frontdesk call will not be let in: {error}", file=sys.stderr)
        yield


def _warn(anywhere: bool) -> None:
    """In red, where there are colours."""
    whose = "the world may" if anywhere else "any program on this machine may"
    line = f"INSECURE: no signature or token is asked for; {whose} place calls"
    print(f"\033[1;31m{line}\033[0m" if sys.stderr.isatty() else line, file=sys.stderr)
