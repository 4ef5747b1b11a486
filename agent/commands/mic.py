"""Talk to the agent through the local microphone and speaker, as a caller would.

  frontdesk mic --devices        # list the devices
  frontdesk mic --input 1 --output 3
Wear headphones: the agent would hear itself through a loudspeaker and stop.
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from pathlib import Path

from agent.cli import quiet_logs
from agent.garbage import set_aside
from agent.settings import load_settings
from telephony.local import check_devices, list_devices, local_transport

_RATE_HZ = 16000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--devices", action="store_true", help="list audio devices and stop")
    parser.add_argument("--input", type=int, help="microphone, by number (default: the system's)")
    parser.add_argument("--output", type=int, help="speaker, by number (default: the system's)")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")


def run(args: argparse.Namespace) -> int:
    """Hold one conversation; Ctrl-C ends it."""
    if args.devices:
        devices = list_devices()
        for device in devices:
            print(device)
        if not devices:
            print("no audio device found")
        return 0
    check_devices(args.input, args.output)
    settings = load_settings(kb=args.kb)
    quiet_logs(settings.log_level)

    from agent.call import Call
    from agent.engines import Engines
    from agent.prerender import Prerenderer, prepare_own_words
    from agent.records import CallRecord

    engines = Engines(settings)
    prepare_own_words(engines.voice, settings, engines.policy.refusal)
    set_aside()

    async def converse() -> None:
        transport = local_transport(args.input, args.output)
        record = CallRecord(settings.records.folder, f"mic-{uuid.uuid4().hex[:8]}")
        print(f"speak now; Ctrl-C ends the call; record: {record.path}", flush=True)
        try:
            await Call(settings, engines, transport, record, rate_hz=_RATE_HZ).run()
        finally:
            await engines.close()

    with Prerenderer(engines.voice, lambda: engines.index, settings).running():
        asyncio.run(converse())
    return 0
