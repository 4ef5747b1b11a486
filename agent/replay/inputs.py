"""What can be replayed: call records, transcripts, recordings, cases, and folders of them."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.records import read_record
from agent.replay.case import Case, read_case
from agent.replay.recorded import case_of_record
from agent.replay.transcript import case_of_transcript, is_transcript
from frontdesk import ConfigError
from speech.audio import Int16

CASE, RECORDING = ".json", ".wav"
_KINDS = (".jsonl", CASE, RECORDING, ".flac")
_RATES_HZ = (8000, 16000)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is replayed of one file.

    ``track`` is what a recording has of the caller, at ``rate_hz``; ``at_ms`` is when each turn of
    the record beside it was answered. ``is_case`` says that results can be accepted into it.
    """

    path: Path
    case: Case
    track: Int16 | None = None
    rate_hz: int = 0
    at_ms: tuple[float, ...] = ()
    is_case: bool = False


def record_paths(paths: Sequence[Path], calls: Path | None = None) -> list[Path]:
    """Conversations named one by one, by folder, or by the id of a call in ``calls``.

    In a folder a recording stands for itself only where there is no record beside it.

    Raises:
        ConfigError: if a path is missing or a folder holds none.
    """
    found: list[Path] = []
    for path in paths:
        if calls is not None and not path.exists() and len(path.parts) == 1:
            path = _by_id(path, calls)
        inside = _inside(path) if path.is_dir() else [path]
        if not path.exists():
            raise ConfigError(
                f"no call record at {path}; frontdesk calls list shows the calls that there are"
            )
        if not inside:
            raise ConfigError(
                f"no call record at {path}: the folder has none, and no case, transcript or "
                "recording; frontdesk serve fills records.folder"
            )
        found += inside
    return found


def _by_id(path: Path, calls: Path) -> Path:
    found = sorted(calls.glob(f"*{glob.escape(path.name)}.jsonl"))
    whole = [one for one in found if one.stem == path.name]
    if len(found) > 1 and not whole:
        raise ConfigError(f"{path.name} is the end of {len(found)} calls' ids; give more of it")
    return (whole or found or [path])[0]


def _inside(folder: Path) -> list[Path]:
    files = sorted(one for one in folder.iterdir() if one.suffix in _KINDS and one.is_file())
    records = {one.stem for one in files if one.suffix == ".jsonl"}
    return [one for one in files if one.suffix in (".jsonl", CASE) or one.stem not in records]


def conversation(path: Path, *, audio: bool = False) -> Conversation:
    """What ``path`` holds; with ``audio`` a record stands for the recording beside it.

    Raises:
        ConfigError: it cannot be read; what is wrong with it is said, with the line if it has any.
    """
    if path.suffix == CASE:
        return Conversation(path, read_case(path), is_case=True)
    if path.suffix in (RECORDING, ".flac"):
        return _recording(path, path.with_suffix(".jsonl"))
    if is_transcript(path):
        return Conversation(path, case_of_transcript(path))
    if audio and path.with_suffix(RECORDING).is_file():
        return _recording(path.with_suffix(RECORDING), path)
    return Conversation(path, case_of_record(path))


def _recording(path: Path, record: Path) -> Conversation:
    track, rate_hz = caller_track(path)
    if not record.is_file():
        return Conversation(path, Case(()), track, rate_hz)
    case = case_of_record(record)
    own = Case(tuple(t for t in case.turns if not t.earlier), case.pins, seconds=case.seconds)
    at_ms = tuple(e["t_ms"] for e in read_record(record) if e["event"] == "verdict")
    return Conversation(path, own, track, rate_hz, at_ms)


def caller_track(path: Path) -> tuple[Int16, int]:
    """The left channel of a stereo recording, int16 mono, and its rate in Hz.

    Raises:
        ConfigError: it is not stereo, of another rate than a line's, empty, or no recording.
    """
    wave, rate_hz = _read(path)
    if wave.ndim != 2 or wave.shape[1] != 2:
        raise ConfigError(
            f"{path} is not stereo; a recording has the caller on the left, the agent on the right"
        )
    if rate_hz not in _RATES_HZ:
        raise ConfigError(
            f"{path} is at {rate_hz} Hz, and a line at 8000 or 16000; "
            f"convert it: ffmpeg -i {path.name} -ar 8000 out.wav"
        )
    if not wave.size:
        raise ConfigError(f"{path} is empty")
    return np.ascontiguousarray(wave[:, 0]), rate_hz


def _read(path: Path) -> tuple[Int16, int]:
    import soundfile

    try:
        wave, rate_hz = soundfile.read(str(path), dtype="int16", always_2d=True)
    except (soundfile.LibsndfileError, OSError, ValueError) as error:
        raise ConfigError(f"cannot read recording {path}: {error}") from None
    return wave, int(rate_hz)
