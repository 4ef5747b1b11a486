"""Place a test call over a real wire: real-time audio, timings taken on the returned media.

  frontdesk call "what time do you open on saturday" "goodbye"  # typed turns, spoken for you
  frontdesk call question1.wav question2.flac --out call.wav         # recorded turns
  frontdesk call --wire telnyx "are you open on sunday"   # as another provider would call
  frontdesk call --to sip:agent@127.0.0.1:5060 question.wav          # over SIP
  frontdesk call press:0 "what are your hours"                       # keys, then words
  frontdesk call question.mp3 --loss 10 --jitter 60 --noise -40      # over a bad line
Exit 1 if a turn got no answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agent.cli import quiet_logs
from agent.settings import load_settings
from frontdesk import ConfigError, Spoken
from telephony.bad_line import BadLine
from telephony.caller import (
    CallerTurn,
    CallResult,
    load_audio,
    place_call,
    wire_of,
    write_recording,
)
from telephony.caller_types import KEYS, pressing
from telephony.far_ends import FAR_ENDS
from telephony.recording import AUDIO_SUFFIXES

_LINGER_MS = 3000  # for the agent to hang up after a goodbye
_REFUSED = re.compile(r"\b(?:403|404|429)\b")  # HTTP's, of a webhook or a handshake


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "turns", nargs="+", metavar="FILE|TEXT|press:KEYS", help="what the caller says or presses"
    )
    parser.add_argument(
        "--to",
        metavar="URL",
        help="the agent: http://… (webhook), ws://… (media socket), sip:… or tcp://… (AudioSocket)",
    )
    parser.add_argument(
        "--wire",
        choices=sorted(FAR_ENDS),
        help="whose protocol to speak (default: twilio; sip: and tcp: imply theirs)",
    )
    parser.add_argument("--calls", type=int, default=1, help="that many callers at once")
    parser.add_argument(
        "--interrupt", type=int, action="append", default=[], metavar="N", help="turn N cuts in"
    )
    bad = parser.add_argument_group("a bad line, from the caller to the agent")
    bad.add_argument("--loss", type=float, default=0, metavar="%", help="of the frames lost")
    bad.add_argument("--jitter", type=float, default=0, metavar="MS", help="frames late by up to")
    bad.add_argument("--gap", type=float, default=0, metavar="MS", help="lost every two seconds")
    bad.add_argument("--noise", type=float, metavar="DB", help="white noise, of full scale: -40")
    bad.add_argument("--gain", type=float, default=0, metavar="DB", help="louder, till it clips")
    bad.add_argument("--offset", type=int, default=0, metavar="N", help="added to each sample")
    parser.add_argument("--out", type=Path, help="write the stereo recording (first caller) here")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when every turn was answered, 1 when one was not."""
    if not 1 <= args.calls <= 64:
        raise ConfigError("--calls takes 1 to 64")
    beyond = [n for n in args.interrupt if not 1 <= n <= len(args.turns)]
    if beyond:
        raise ConfigError(f"--interrupt {beyond[0]}: the turns are 1 to {len(args.turns)}")
    line = BadLine(args.loss, args.jitter, args.gap, args.noise, args.gain, args.offset)
    quiet_logs()
    server = load_settings().server
    url = args.to or f"http://{server.host}:{server.port}"
    turns = [_turn(text, n in args.interrupt) for n, text in enumerate(args.turns, 1)]
    wire = args.wire or wire_of(url) or "twilio"
    results = asyncio.run(_place(url, turns, args.calls, line, wire))
    if args.out:
        write_recording(args.out, results[0].recording)
    failed = any(result.error or result.unanswered for result in results)
    if args.json:
        print(json.dumps([_shape(result) for result in results], indent=2))
        return 1 if failed else 0
    for number, result in enumerate(results, 1):
        _print(number, result)
    return 1 if failed else 0


async def _place(
    url: str, turns: list[CallerTurn], calls: int, line: BadLine, wire: str
) -> list[CallResult]:
    lines = (replace(line, seed=number) for number in range(calls))
    return await asyncio.gather(
        *(place_call(url, turns, wire=wire, linger_ms=_LINGER_MS, line=line) for line in lines)
    )


def _turn(what: str, interrupts: bool) -> CallerTurn:
    kind, _, digits = what.partition(":")
    if kind == "press":
        if not digits or not set(digits) <= KEYS:
            raise ConfigError(f"{what}: keys are 0 to 9, * and #, as in press:12#")
        return replace(
            pressing(digits), label=what, interrupt_after_ms=600.0 if interrupts else None
        )
    path = Path(what)
    if path.suffix.lower() in AUDIO_SUFFIXES or path.is_file():
        if not path.is_file():
            raise ConfigError(f"no audio file {what}")
        turn = CallerTurn(load_audio(path), path.stem)
    else:
        turn = CallerTurn(_voice().render(Spoken(what)), what)
    return replace(turn, interrupt_after_ms=600.0) if interrupts else turn


def _voice() -> Any:
    from speech.piper import Voice

    return Voice()


def _shape(result: CallResult) -> dict[str, Any]:
    return {
        "turns": [asdict(turn) for turn in result.turns],
        "greeting_ms": result.greeting_ms,
        "ended_by": result.ended_by,
        "error": result.error,
        "pressed": result.pressed,
        "handed_to": result.handed_to,
        "seconds": round(len(result.recording) / 8000, 2),
    }


def _print(number: int, result: CallResult) -> None:
    print(f"call {number}: {len(result.recording) / 8000:.1f} s, ended by {result.ended_by}")
    for turn in result.turns:
        took = "no answer" if turn.latency_ms is None else f"{turn.latency_ms:6.0f} ms"
        cut = (
            "" if turn.barge_in_ms is None else f"  silenced the agent in {turn.barge_in_ms:.0f} ms"
        )
        print(f"  {took:>10}  {turn.label}{cut}")
    if result.error:
        print(f"  error: {result.error}")
        if not any(turn.answered for turn in result.turns):
            print(f"  {_mend(result.error)}")


def _mend(error: str) -> str:
    if _REFUSED.search(error):
        return (
            "the agent did not let it in (its log says why): call on the agent's machine, as the "
            "user who runs the agent"
        )
    return "is the agent running? start it with: frontdesk serve"
