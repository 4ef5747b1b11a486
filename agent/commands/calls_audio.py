"""``frontdesk calls audio``: a call's recording as 16-bit stereo, the caller left.

frontdesk calls audio CA1 --out call.wav
frontdesk calls audio CA1 --flac > call.flac
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from agent.settings import load_settings
from frontdesk import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("call", metavar="CALL", help="its id, the end of it, or a recording's file")
    parser.add_argument("--flac", action="store_true", help="FLAC in place of WAV")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")


def run(args: argparse.Namespace) -> int:
    """Write it."""
    import soundfile

    from agent.recording import read_recording

    if args.out is None and sys.stdout.isatty():
        raise ConfigError("sound is not for a terminal: add --out FILE, or > FILE")
    samples, rate_hz = read_recording(_path_of(args.call))
    made = io.BytesIO()
    soundfile.write(made, samples, rate_hz, "PCM_16", format="FLAC" if args.flac else "WAV")
    if args.out is None:
        sys.stdout.buffer.write(made.getvalue())
        return 0
    try:
        args.out.write_bytes(made.getvalue())
    except OSError as error:
        raise ConfigError(f"cannot write {args.out}: {error.strerror}") from None
    print(f"{args.out}: {len(samples) / rate_hz:.1f} s, the caller left, the agent right")
    return 0


def _path_of(call: str) -> Path:
    """The recording's file.

    Raises:
        ConfigError: there is no such call, or it was not recorded.
    """
    from agent.records.verifying import call_named

    if Path(call).is_file():
        return Path(call).with_suffix(".wav")
    folder = load_settings().records.folder
    path = folder / f"{call_named(folder, call)}.wav"
    if not path.is_file():
        raise ConfigError(f"call {path.stem} was not recorded; see records.recording")
    return path
