"""The keeper: puts what journals hold into the database, as calls go and after a crash.

It works in a thread of its own and reads the journals themselves, so that no call waits for the
database, and nothing is held in memory while that is down. Calls that a killed process left are
closed and taken in at the start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loguru import logger

from agent.records import retention
from agent.records.caller_key import CallerKeys
from agent.records.following import Tail
from agent.records.journal import CallRecord, Fields, check_folder
from agent.records.ledger import Ledger
from agent.records.recovery import close_killed
from agent.records.store import GapError, RecordStore, StoreError
from agent.records_settings import RecordSettings
from frontdesk import ConfigError
from telephony.redaction import masked

_EVERY_S = 0.25
_AGAIN_S = 2.0
"""After the database, or the disk, was not to be had."""
_HOUSEKEEPING_S = 3600.0
_PATIENCE_S = 60
"""Of a command, for a database that is being filled."""
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What a journal may come to that somebody wrote into: no other journal waits for it."""
Watch = Callable[[str, Fields], None]
"""Told a call's id and an event of it; in the thread of the event, so it must be short."""


class Records:
    """All records of one server: opened once, before anything listens.

    ``trouble`` says what keeps records from being written or stored; '' while all is well.
    Journals are written from the first; the database is filled between :meth:`start` and
    :meth:`close`, and where it ``expires``, what was kept long enough is removed.
    """

    def __init__(self, settings: RecordSettings, *, expires: bool = True) -> None:
        """Raises:
        ConfigError: the folder cannot be written, or a variable that is named is not set.
        """
        check_folder(settings.folder)
        self._settings, self._expires = settings, expires
        self._key, self._url = settings.key(), settings.database()
        self._callers = CallerKeys(settings.folder)
        self.ledger = Ledger(settings.folder, self._key)
        self._store: RecordStore | None = None
        self._live: dict[Path, CallRecord] = {}
        self._watches: dict[Watch, Callable[[], bool]] = {}
        self._tails: dict[Path, Tail] = {}
        self._dirty: set[Path] = set()
        self._problem, self._told, self._recovered = "", "", False
        self._lost, self._lost_at = "", 0.0
        self._busy = False
        self._wake, self._stop = threading.Event(), threading.Event()
        self._idle = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)

    def start(self) -> None:
        """Begin to fill the database."""
        self._thread.start()

    def begin(
        self, call_id: str, *, caller: str = "", called: str = "", **known: Any
    ) -> CallRecord:
        """The record of a call that begins.

        Raises:
            ConfigError: it cannot be written.
        """
        kept = str if self._settings.keep_numbers else masked
        if caller:
            known["caller_key"] = self._callers.key_of(caller)
        record = CallRecord(
            self._settings.folder,
            call_id,
            key=self._key,
            watcher=self._written,
            caller=kept(caller),
            called=kept(called),
            **known,
        )
        record.wants_passing = lambda: any(wants() for wants in self._watches.values())
        self._live[record.path] = record
        return record

    @property
    def store(self) -> RecordStore:
        """The database.

        Raises:
            StoreError: it cannot be opened just now.
        """
        if self._store is None:
            raise StoreError(self._problem or "the database of calls is being opened")
        return self._store

    @property
    def trouble(self) -> str:
        """What the operator should know, in one line."""
        if self._lost and time.monotonic() - self._lost_at < _HOUSEKEEPING_S:
            return f"events of calls were lost: {self._lost}"
        return self._problem

    def live(self) -> list[CallRecord]:
        """The records of calls in progress."""
        return [record for record in tuple(self._live.values()) if record.is_open]

    def subscribe(
        self, watch: Watch, *, passing: Callable[[], bool] = lambda: True
    ) -> Callable[[], None]:
        """Have ``watch`` told of every event; call what is returned to end that.

        Of what passes (interim transcripts) nothing is told while nobody's ``passing`` says True:
        each would be looked through for personal details for nobody.
        """
        self._watches[watch] = passing

        def end() -> None:
            self._watches.pop(watch, None)

        return end

    def settled(self, timeout_s: float = 10.0) -> bool:
        """Wait until the database holds all that was written so far; whether it does."""
        with self._idle:
            self._wake.set()
            return self._idle.wait_for(self._is_settled, timeout_s)

    def close(self) -> None:
        """Store what is left, if that can be done at once, and let go of the database."""
        self._stop.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=10)

    def _is_settled(self) -> bool:
        still = self._dirty or self._busy or self._problem
        return self._recovered and not still

    def _written(self, record: CallRecord, event: Fields) -> None:
        for watch in tuple(self._watches):
            watch(record.id, event)
        if "seq" not in event:
            return
        if "hash" in event:
            self._note(record.path)
        else:
            self._lost, self._lost_at = record.trouble, time.monotonic()
        if event["event"] == "call_ended":
            self._live.pop(record.path, None)

    def _note(self, path: Path) -> None:
        with self._idle:
            self._dirty.add(path)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            if not self._stop.is_set():  # an error of ours: threading prints it
                self._problem = "call records are kept in files only: the keeper has stopped"
        self._finish()

    def _work(self) -> None:
        housekeeping = 0.0
        while not self._stop.is_set():
            try:
                self._open()
                if time.monotonic() >= housekeeping:
                    self._recover()
                    housekeeping = time.monotonic() + _HOUSEKEEPING_S
                    self._expire()
                self._keep()
                self._fine()
            except StoreError as error:
                self._wrong(str(error))
                self._reopen()
            except OSError as error:
                self._wrong(str(error))
            self._wake.wait(_AGAIN_S if self._problem else _EVERY_S)
            self._wake.clear()

    def _expire(self) -> None:
        """What cannot be removed is told of, and tried again in an hour: nothing waits for it."""
        try:
            if self._expires:
                retention.expire(self._settings, self.store, self.ledger)
        finally:
            self._recovered = True

    def _finish(self) -> None:
        try:
            self._open()
            self._keep()
        except (StoreError, OSError) as error:
            self._wrong(str(error))
        if self._store is not None:
            self._store.close()

    def _open(self) -> None:
        if self._store is None:
            self._store = RecordStore.open(self._url)

    def _reopen(self) -> None:
        """Begin anew: what was opened may be of a file that is no longer there."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _recover(self) -> None:
        """Close the calls of killed processes, and note every journal that is not all stored."""
        stored, entered = self.store.heads(), self.ledger.calls()
        came_back: dict[Path, str] = {}
        for path in retention.journals(self._settings.folder):
            entry, head = entered.get(path.stem), stored.get(path.stem)
            if entry is not None and entry.removed:  # that was cut short, or it was put back
                came_back[path] = entry.removed
            elif head is None or (head and entry is None):
                self._take_in(path, ended=entry is not None)
        if came_back and self.ledger.check() is None:  # else nothing is removed by its word
            self._remove_again(came_back)

    def _remove_again(self, came_back: dict[Path, str]) -> None:
        for path, why in came_back.items():
            try:
                retention.remove(self._settings.folder, self.store, self.ledger, path.stem, why)
            except OSError as error:
                logger.error("call record {} is not removed: {}", path.name, error.strerror)
        self.store.wipe()

    def _take_in(self, path: Path, *, ended: bool) -> None:
        """What is there of a journal. Nothing is written into that of a call that had ended."""
        try:
            if path not in self._live and (ended or close_killed(path, self._key)):
                self._note(path)
        except (*_DAMAGED, OSError) as error:
            self._left_out(path, error)

    def _keep(self) -> None:
        self._busy = True
        try:
            for path in tuple(self._dirty):
                self._keep_one(path)
        finally:
            with self._idle:
                self._busy = False
                self._idle.notify_all()

    def _keep_one(self, path: Path) -> None:
        tail = self._tails.setdefault(path, Tail(path))
        with self._idle:
            self._dirty.discard(path)
        try:
            events, at = tail.new()
        except (*_DAMAGED, OSError) as error:
            self._left_out(path, error)
            return
        try:
            # Those of an older version have no numbers; they were whole before we came.
            events = [{"seq": number, **event} for number, event in enumerate(events)]
            if events:
                self.store.put(path.stem, events)
                self._enter(path.stem, events[-1])
        except GapError as error:
            self._begin_anew(path, tail, error)
        except (StoreError, OSError):
            self._note(path)
            raise
        except _DAMAGED as error:
            self._left_out(path, error)
        else:
            tail.passed(at)
            if events and events[-1]["event"] == "call_ended":
                self._tails.pop(path, None)

    def _begin_anew(self, path: Path, tail: Tail, error: GapError) -> None:
        """The database lost what it had of a call that goes on."""
        if tail.is_at_begin:
            self._left_out(path, error)
        else:
            self._tails.pop(path, None)
            self._note(path)

    def _left_out(self, path: Path, error: Exception) -> None:
        self._tails.pop(path, None)
        if not isinstance(error, FileNotFoundError) or path.is_symlink():  # else it was removed
            logger.error("call record {} is not stored: {}", path.name, type(error).__name__)

    def _enter(self, call: str, last: Fields) -> None:
        """In the ledger, if it has ended as the database has it: ``last`` may be of another."""
        if last["event"] != "call_ended" or "hash" not in last:
            return
        row = self.store.call(call)
        if row is not None and row.head == last["hash"]:
            self.ledger.ended(call, last["hash"], last["seq"] + 1)

    def _wrong(self, problem: str) -> None:
        self._problem = problem
        if problem != self._told:
            logger.error("call records are kept in files only for now: {}", problem)
        self._told = problem

    def _fine(self) -> None:
        if self._told:
            logger.info("call records are stored again")
        self._problem = self._told = ""
        with self._idle:
            self._idle.notify_all()


@contextmanager
def kept(settings: RecordSettings) -> Iterator[Records]:
    """The records, once the database holds all that the journals do; for a command.

    Raises:
        ConfigError: the database cannot be had.
    """
    records = Records(settings, expires=False)
    records.start()
    try:
        if not records.settled(_PATIENCE_S):
            raise ConfigError(f"the database of calls is not to be had: {records.trouble}")
        yield records
    finally:
        records.close()
