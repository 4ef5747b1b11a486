"""How long records are kept: by age, by size, and until somebody asks for theirs to be removed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from loguru import logger

from agent.records.ledger import Ledger
from agent.records.recovery import goes_on
from agent.records.store import RecordStore
from agent.records_settings import RecordSettings

_NAME = re.compile(r"(\d{8}T\d{12})-.+")  # as agent.records.journal.CallRecord names it
_BELONGS = (".jsonl", ".wav")
CASES = "cases"
"""The folder of the cases that were made of calls marked wrong, each named after its call."""


def journals(folder: Path) -> list[Path]:
    """All journals, the oldest first."""
    found = (path for path in folder.glob("*.jsonl") if _NAME.fullmatch(path.stem))
    return sorted(path for path in found if not path.is_dir())


def began(call: str) -> datetime | None:
    """When the call of that id began; None where its name does not tell."""
    match = _NAME.fullmatch(call)
    try:
        return match and datetime.strptime(match[1], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return None


def files_of(folder: Path, call: str) -> list[Path]:
    """What there is of a call in ``folder``."""
    paths = [folder / f"{call}{end}" for end in _BELONGS]
    paths.append(folder / CASES / f"{call}.json")
    return [path for path in paths if path.is_file() or path.is_symlink()]


def remove(folder: Path, store: RecordStore, ledger: Ledger, call: str, why: str) -> None:
    """Remove a call and all that belongs to it; the ledger says so first, so that it can go on.

    What is free of the database's files may still hold its words until ``store.wipe()``.

    Raises:
        OSError: a file could not be removed, or the ledger not be written.
        StoreError: the database could not be written.
    """
    ledger.removed(call, why)
    for path in files_of(folder, call):
        path.unlink(missing_ok=True)
    store.remove(call, why)


def expire(
    settings: RecordSettings, store: RecordStore, ledger: Ledger, now: datetime | None = None
) -> list[str]:
    """Remove what is too old or too much; the calls that were removed. Those that go on stay.

    Raises:
        OSError, StoreError: as :func:`remove`.
    """
    found = journals(settings.folder)
    gone = {
        path.stem: f"older than {settings.keep_days:g} days" for path in _old(found, settings, now)
    }
    for path in _too_many([one for one in found if one.stem not in gone], settings):
        gone[path.stem] = f"more than {settings.keep_mb:g} MB"
    removed = [call for call in gone if not is_live(settings.folder / f"{call}.jsonl")]
    for call in removed:
        remove(settings.folder, store, ledger, call, gone[call])
    if removed:
        store.wipe()
        logger.info("{} calls removed: kept long enough", len(removed))
    return removed


def _old(found: list[Path], settings: RecordSettings, now: datetime | None) -> list[Path]:
    if not settings.keep_days:
        return []
    until = (now or datetime.now(UTC)) - timedelta(days=settings.keep_days)
    return [path for path in found if (at := began(path.stem)) and at < until]


def _too_many(found: list[Path], settings: RecordSettings) -> list[Path]:
    if not settings.keep_mb:
        return []
    room, kept = settings.keep_mb * 1e6, 0.0
    for place in range(len(found) - 1, -1, -1):
        kept += sum(_size(path) for path in files_of(settings.folder, found[place].stem))
        if kept > room:
            return found[: place + 1]
    return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process removed it just now
        return 0


def is_live(path: Path) -> bool:
    """Whether the call of that journal goes on, in whatever process."""
    try:
        return goes_on(path)
    except OSError:  # it is gone, or nobody can have it open
        return False
