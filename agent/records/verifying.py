"""Whether records are what was written: events, recording, database, and that none is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.recording import check_recording
from agent.records.chain import Broken, check
from agent.records.ledger import Entry, Ledger
from agent.records.reading import chained
from agent.records.retention import journals
from agent.records.store import RecordStore
from frontdesk import ConfigError


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a call: ``broken`` where a link does not hold, ``unproven`` where there is none.

    ``unproven`` says why there is nothing to check: an older version wrote it, say.
    """

    call: str
    events: int
    broken: Broken | None = None
    unproven: str = ""


class Verifier:
    """Checks the calls of ``folder`` against each other, the ledger and perhaps a database."""

    def __init__(self, folder: Path, key: bytes = b"", store: RecordStore | None = None) -> None:
        self._folder, self._key, self._store = folder, key, store
        self._ledger = Ledger(folder, key)

    def all(self) -> Iterator[Checked]:
        """Every call that is there, and then every one that should be.

        Raises:
            StoreError: the database cannot be read.
        """
        broken = self._ledger.check()
        if broken:
            yield Checked("the ledger", 0, broken)
        entries = self._ledger.calls(broken.seq if broken else None)
        there = set()
        for path in journals(self._folder):
            there.add(path.stem)
            yield self._one(path, entries.get(path.stem))
        for call, entry in entries.items():
            if call not in there and not entry.removed:
                yield Checked(call, 0, Broken(call, 0, "its record is gone, and nobody said why"))
        # A database that several servers share has calls of other folders too.
        stored = self._store.heads() if self._store and self._store.is_ours else {}
        for call in sorted(stored.keys() - there - entries.keys()):
            yield Checked(call, 0, Broken(call, 0, "only the database has it: its record is gone"))

    def one(self, call: str) -> Checked:
        """One call.

        Raises:
            OSError: the ledger cannot be read.
            StoreError: the database cannot be read.
        """
        return self._one(self._folder / f"{call}.jsonl", self._ledger.calls().get(call))

    def _one(self, path: Path, entry: Entry | None) -> Checked:
        call = path.stem
        lines, problem = _lines(path)
        if problem:
            return Checked(call, len(lines), Broken(call, len(lines), problem))
        if entry is None and not any("hash" in event for event in lines) and not self._head(call):
            return Checked(call, len(lines), unproven="written by an older version: not chained")
        broken = (
            check(call, lines, self._key)
            or self._as_entered(call, lines, entry)
            or _as_named(call, lines)
            or self._as_heard(path, lines)
            or self._as_stored(call, lines)
        )
        return Checked(call, len(lines), broken)

    def _as_entered(
        self, call: str, lines: list[dict[str, Any]], entry: Entry | None
    ) -> Broken | None:
        if entry is None:
            return None
        if entry.removed:
            return Broken(call, 0, f"it was removed ({entry.removed}), and is here again")
        if len(lines) != entry.events or lines[-1]["hash"] != entry.head:
            return Broken(call, min(len(lines), entry.events), "it does not end as it ended")
        return None

    def _as_heard(self, path: Path, lines: list[dict[str, Any]]) -> Broken | None:
        if not any("audio" in event for event in lines):
            return None
        problem = check_recording(path.with_suffix(".wav"), lines)
        place = len(lines) - 1
        return Broken(path.stem, place, problem) if problem else None

    def _as_stored(self, call: str, lines: list[dict[str, Any]]) -> Broken | None:
        if self._store is None:
            return None
        found = self._store.proved(call, lines)
        return Broken(call, *found) if found else None

    def _head(self, call: str) -> str:
        """The last hash that the database knows of it, if any."""
        row = self._store.call(call) if self._store else None
        return row.head if row else ""


def _as_named(call: str, lines: list[dict[str, Any]]) -> Broken | None:
    """A whole record may have been copied over another's name."""
    named = lines[0].get("id", call)
    return None if named == call else Broken(call, 0, f"is of another call, {named}")


def _lines(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The events, each as its line has it to the byte, and what is wrong with the next."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return [], f"its record cannot be read ({error.strerror})"
    return chained(data) if data else ([], "its record is empty")


def call_named(folder: Path, name: str) -> str:
    """The id of the call ``name``: its id, the path of its record, or the end of either.

    Raises:
        ConfigError: there is none, or there are several.
    """
    stem = Path(name).stem if name.endswith(".jsonl") else name
    found = [path.stem for path in journals(folder)]
    matches = [stem] if stem in found else [call for call in found if call.endswith(stem)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise ConfigError(f"no call {name!r} in {folder}; frontdesk calls list shows them")
    raise ConfigError(f"{name!r} may be {', '.join(matches[:5])}: give more of it")
