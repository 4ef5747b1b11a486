"""Talk to the agent through the local microphone and speaker, as a caller would.

  frontdesk mic --devices               # list the devices
  frontdesk mic --input usb --output 3  # by a part of the name, or by number
What the loudspeaker plays is taken out of what the microphone hears; with headphones there is
nothing to take out: --headphones.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli import quiet_logs
from agent.garbage import set_aside
from agent.settings import load_settings
from frontdesk import ConfigError
from telephony.devices import AudioDevice, check_devices, list_devices
from telephony.start import CallStart

if TYPE_CHECKING:
    from agent.switchboard import Switchboard


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--devices", action="store_true", help="list audio devices and stop")
    parser.add_argument("--json", action="store_true", help="with --devices: as JSON")
    parser.add_argument("--input", help="microphone: number or part of its name")
    parser.add_argument("--output", help="speaker: number or part of its name")
    parser.add_argument("--headphones", action="store_true", help="take no echo out")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")


def run(args: argparse.Namespace) -> int:
    """Hold one conversation; Ctrl-C ends it."""
    if args.devices:
        devices = list_devices()
        print(
            json.dumps([asdict(one) for one in devices], indent=2) if args.json else table(devices)
        )
        return 0
    if args.json:
        raise ConfigError("--json goes with --devices; the record of a call is JSON lines anyway")
    source, sink = check_devices(args.input, args.output)
    settings = load_settings(kb=args.kb)
    quiet_logs(settings.log_level)

    from agent.engines import Engines
    from agent.prerender import Prerenderer, prepare_own_words
    from agent.records.keeper import Records
    from agent.switchboard import Switchboard
    from telephony.local import LocalLine

    engines = Engines(settings)
    prepare_own_words(engines.voice, settings, engines.policy.refusal)
    set_aside()
    call_id = f"mic-{uuid.uuid4().hex[:8]}"
    start = CallStart(call_id, call_id)
    records = Records(settings.records)
    records.start()
    switchboard = Switchboard(settings, engines, records)

    async def converse() -> None:
        print(
            f"microphone {source.name}; speaker {sink.name}; record in {settings.records.folder}\n"
            "speak now; Ctrl-C ends the call",
            flush=True,
        )
        try:
            with _signals_hang_up(switchboard):
                await switchboard.hold(
                    start,
                    lambda listener: LocalLine(
                        start, listener, source, sink, cancels=not args.headphones, shows=show
                    ),
                )
        finally:
            await engines.close()
            await asyncio.to_thread(records.close)

    with Prerenderer(engines.voice, lambda: engines.index, settings).running():
        asyncio.run(converse())
    return 0


@contextlib.contextmanager
def _signals_hang_up(switchboard: Switchboard) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the call as a caller does; the second time, the program."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    ending: list[asyncio.Task[bool]] = []
    kinds = (signal.SIGINT, signal.SIGTERM)

    def hang_up() -> None:
        for kind in kinds:
            loop.remove_signal_handler(kind)
        ending.extend(loop.create_task(call.gone()) for call in switchboard.calls)
        if not ending and main is not None:
            main.cancel()

    with contextlib.suppress(NotImplementedError):  # Windows
        for kind in kinds:
            loop.add_signal_handler(kind, hang_up)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for kind in kinds:
                loop.remove_signal_handler(kind)


def table(devices: list[AudioDevice]) -> str:
    """The devices, one a line."""
    if not devices:
        return "no audio device found"
    wide = max(4, *(len(one.name) for one in devices))
    lines = [f" no  {'name'.ljust(wide)}   in  out    rate  default"]
    for one in devices:
        default = [
            word
            for word, is_it in (("input", one.default_input), ("output", one.default_output))
            if is_it
        ]
        lines.append(
            f"{one.index:3}  {one.name.ljust(wide)} {one.inputs:4} {one.outputs:4} "
            f"{one.rate_hz:7}  {', '.join(default)}".rstrip()
        )
    return "\n".join(lines)


def show(event: Mapping[str, Any]) -> None:
    """Print what is said."""
    match event:
        case {"event": "said", "say": say}:
            print(f"agent: {say}", flush=True)
        case {"event": "verdict", "heard": heard, "say": say, "citations": citations}:
            print(f"you:   {heard}", flush=True)
            if say:
                print("agent:", say, *(f"[{one}]" for one in citations), flush=True)
        case {"event": "interrupted", "rest": str(rest)} if rest:
            print("       (cut)", flush=True)
        case {"event": "resumed", "say": say}:
            print(f"agent: {say}", flush=True)
        case {"event": "call_ended", "reason": "no media"}:
            print("the microphone is gone, and the call with it: see frontdesk mic --devices")
        case {"event": "call_ended", "reason": reason}:
            print(f"call ended: {reason}")
