"""The ``frontdesk`` command.

Exit codes: 0 done, 1 a finding (a failed eval, a changed replay, an unanswered turn), 2 wrong
usage, settings, models or documents, with one line that says how to mend it.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Sequence

from frontdesk import FrontdeskError

_COMMANDS = {
    "ask": "one question, one verdict, no audio",
    "serve": "the server: providers' webhook, media socket, health",
    "call": "place a test call over a real wire, with recorded or typed turns",
    "callback": "have the running agent call somebody back",
    "mic": "talk to the agent through the local microphone and speaker",
    "replay": "recorded calls again; prints what changed",
    "kb": "build and calibrate a knowledge base",
    "eval": "quality against gold labels: answers, retrieval, simulated callers",
    "bench": "speed: calls (with a stock baseline) and retrieval",
    "calls": "call records: list, show, verify, remove, export",
    "report": "a day or a week of calls: what came of them, how fast, what was asked",
    "models": "model files, their licences and checks",
}
_EPILOG = """\
try it:
  frontdesk ask "what time do you open on saturday"
  frontdesk ask "and what about sunday" --context "what time do you open on saturday"
  frontdesk serve                     # then, in another terminal:
  frontdesk call "what time do you open on saturday" "goodbye"

settings come from frontdesk.toml and FRONTDESK_* variables; see frontdesk.example.toml
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="frontdesk",
        description="A phone agent that only says what your documents say.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Pipecat logs a banner while it is imported; commands that want more say so (quiet_logs).
    os.environ.setdefault("LOGURU_LEVEL", "WARNING")
    # NumPy reads it when it is imported. Products of small matrices wait for a second thread longer
    # than they take: with one other busy process, scoring took 24 ms in place of 4.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    arguments = list(sys.argv[1:] if argv is None else argv)
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    for name, summary in _COMMANDS.items():
        sub = commands.add_parser(
            name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == wanted:  # the others' imports are not worth the wait
            module = importlib.import_module(f"agent.commands.{name}")
            sub.description = module.__doc__
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    args = parser.parse_args(arguments)
    try:
        return int(args.run(args))
    except FrontdeskError as error:
        print(f"frontdesk {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0


def quiet_logs(level: str = "WARNING") -> None:
    """Send the libraries' log lines to stderr at ``level``, one line each."""
    from loguru import logger

    from agent.log_privacy import keep_private, to_stderr

    keep_private()
    logger.remove()
    logger.add(
        to_stderr,
        level=level.upper(),
        format="{time:HH:mm:ss.SSS} {level: <7} {message}",
        backtrace=False,
        diagnose=False,
    )
    logging.getLogger("websockets").setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
