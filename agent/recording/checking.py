"""What a call's events say of its recording: whether it is still the same, and what a kill left."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.recording.silence import blanked
from agent.recording.wave import CALLER, HEADER_BYTES, ROW_BYTES, header, rate_of
from telephony.g711 import ULAW_SILENCE

Events = Sequence[Mapping[str, Any]]
_ENDS = ("call_ended", "recording_stopped")
_Span = tuple[int, int]


def check_recording(path: Path, events: Events) -> str:
    """The first thing in the recording that is not as ``events`` have it, or ''.

    ``events`` are all of the call, in order, and are believed. Of a killed call the last two
    seconds before its last event, and what came after, are not in its hashes.
    """
    hashed = _hashed(events)
    until = max((end for _, end in hashed), default=0)
    ended = any(event["event"] in _ENDS for event in events)
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"the recording {path.name} cannot be read ({error.strerror})"
    sound = data[HEADER_BYTES:]
    problem = _header_problem(data, _rate(events), ended=ended)
    if problem:
        return problem
    if len(sound) < until or (ended and len(sound) != until):
        return f"the recording holds {len(sound)} bytes of sound, not {until}"
    for (begin, end), digest in hashed.items():
        if hashlib.sha256(sound[begin:end]).hexdigest() != digest:
            return f"the recording's bytes {begin} to {end} were changed"
    for low, high in _silenced(events):
        caller = np.frombuffer(sound[low:high], np.uint8)[CALLER::ROW_BYTES]
        if (caller != ULAW_SILENCE).any():
            return f"the caller is not silent in the recording's bytes {low} to {high}"
    return ""


def seal(path: Path, events: Events) -> list[Any] | None:
    """Mend the recording at ``path`` of a killed call, whose ``events`` are these.

    What an event that ends the call is to say of it: ``[end, sha256]`` of the sound that no event
    has yet. None where there is no recording.

    Raises:
        OSError: the file cannot be written.
    """
    if not path.exists():
        return None
    mend(path, events)
    until = max((end for _, end in _hashed(events)), default=0)
    sound = path.read_bytes()[HEADER_BYTES:]
    return [len(sound), hashlib.sha256(sound[until:]).hexdigest()]


def mend(path: Path, events: Events) -> None:
    """Finish what a killed call could not: its file's header, and silence that was recorded.

    Doing it again changes nothing.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        rate_hz = rate_of(file.read(HEADER_BYTES))
        if rate_hz is None:
            return
        rows = (size - HEADER_BYTES) // ROW_BYTES
        for low, high in _silenced(events):
            file.seek(HEADER_BYTES + low)
            sound = file.read(max(0, min(high, rows * ROW_BYTES) - low))
            file.seek(HEADER_BYTES + low)
            file.write(blanked(sound, low, low, high))
        file.truncate(HEADER_BYTES + rows * ROW_BYTES)
        file.seek(0)
        file.write(header(rate_hz, rows))


def _header_problem(data: bytes, rate_hz: int | None, *, ended: bool) -> str:
    found = rate_of(data)
    if found is None or (rate_hz is not None and found != rate_hz):
        return "the recording's header was changed"
    rows = (len(data) - HEADER_BYTES) // ROW_BYTES
    lengths = (rows,) if ended else (None, rows)
    if data[:HEADER_BYTES] not in [header(found, length) for length in lengths]:
        return "the recording's header does not say how long it is"
    return ""


def _rate(events: Events) -> int | None:
    for event in events:
        if event["event"] == "recording":
            return int(event["rate_hz"])
    return None


def _hashed(events: Events) -> dict[_Span, str]:
    """The hash that each span of the sound has now, by the last event that says so."""
    found: dict[_Span, str] = {}
    begin = 0
    for event in events:
        if event["event"] == "silenced":
            for span in event["spans"]:
                found[span["from"], span["to"]] = span["sha256"]
        audio = event.get("audio")
        if audio and audio[0] > begin:
            found[begin, audio[0]] = audio[1]
            begin = audio[0]
    return found


def _silenced(events: Events) -> Iterator[_Span]:
    for event in events:
        if event["event"] == "silenced":
            yield int(event["from"]), int(event["to"])
