"""The chain of a call's events: each holds the hash of the one before, so none can be changed.

A line of a journal is compact JSON, and its hash is of just those bytes with ``hash`` left out;
read and written again, a line is the same, so that nothing need be sorted. Without a key a chain
shows damage and careless changes; whoever may write the files could also make a new chain. With a
key (HMAC-SHA256) they would need that too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64
"""Stands for the hash before the first event of the first call."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Broken:
    """The first link of a call that does not hold: its event, from 0, and what is wrong."""

    call: str
    seq: int
    problem: str

    def __str__(self) -> str:
        return f"{self.call}, event {self.seq}: {self.problem}"


def canonical(event: Mapping[str, Any]) -> bytes:
    """The bytes of ``event`` that are hashed: all of it but ``hash``."""
    fields = {name: value for name, value in event.items() if name != "hash"}
    return _JSON.encode(fields).encode("utf-8", "backslashreplace")


def digest(data: bytes, key: bytes = b"") -> str:
    """The link's hash, hexadecimal; HMAC-SHA256 (RFC 2104) where there is a ``key``."""
    if key:
        return hmac.new(key, data, hashlib.sha256).hexdigest()
    return hashlib.sha256(data).hexdigest()


def sealed(event: Mapping[str, Any], key: bytes = b"") -> tuple[bytes, str]:
    """The line of ``event``, which holds ``prev`` already, and its hash."""
    body = canonical(event)
    found = digest(body, key)
    return body[:-1] + f',"hash":"{found}"}}\n'.encode(), found


def check(call: str, events: Iterable[Mapping[str, Any]], key: bytes = b"") -> Broken | None:
    """The first event whose number, link or hash is not what it must be; None where all hold."""
    before: str | None = None
    for number, event in enumerate(events):
        problem = _problem(event, number, before, key)
        if problem:
            return Broken(call, number, problem)
        before = event["hash"]
    return None


def _problem(event: Mapping[str, Any], number: int, before: str | None, key: bytes) -> str:
    if "hash" not in event:
        return "has no hash: it was written by an older version, or changed"
    if event.get("seq") != number:
        return f"is numbered {event.get('seq')}: events are missing, added or out of order"
    if before is not None and event.get("prev") != before:
        return "does not follow the event before it"
    found = digest(canonical(event), key).encode()
    if not hmac.compare_digest(str(event["hash"]).encode("utf-8", "replace"), found):
        return "was changed" if not key else "was changed, or the key is another"
    return ""
