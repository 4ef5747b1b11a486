"""One call's recording as it is made: a file that is 20 ms behind the call, and its hashes.

Everything happens where it is called, on the event loop: one write of 320 bytes to a file every
20 ms. Nothing here raises for the disk's sake.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from loguru import logger

from agent.recording.lanes import AgentLane, CallerLane
from agent.recording.silence import Silence, Span, blanked
from agent.recording.tape import Tape, UInt8
from agent.recording.wave import CALLER, HEADER_BYTES, ROW_BYTES, header
from frontdesk import ConfigError
from telephony.g711 import ulaw_encode

_WRITE_MS = 8
"""There is nothing to write before so much has come: packets may hold 10 ms."""
_UNSETTLED_MS = 2000
"""What is younger may still be moved; it is hashed when it is older."""
_SETTLE_MS = 250
_ROOM_MS = 6000
_ULAW = np.frombuffer(ulaw_encode(np.arange(65536, dtype=np.uint16).view(np.int16)), np.uint8)
"""By a sample's two bytes: in half the time of ``ulaw_encode``, which makes bytes."""


class Recording:
    """Both sides of a call in ``path``, on one time line that begins with the call.

    ``now_ms`` is the clock of the call's record. ``on_stopped`` is told in plain words why the
    recording ends before its call does.
    """

    def __init__(
        self,
        path: Path,
        rate_hz: int,
        now_ms: Callable[[], float],
        on_stopped: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """Make the file.

        Raises:
            ConfigError: it cannot be written.
        """
        self.path = path
        self.rate_hz = rate_hz
        self._now_ms = now_ms
        self._on_stopped = on_stopped
        self._per_ms = rate_hz // 1000
        self._tape = Tape(_ROOM_MS * self._per_ms)
        self._caller = CallerLane(self._tape, rate_hz)
        self._agent = AgentLane(self._tape, rate_hz)
        self._hash = hashlib.sha256()
        self._given = 0
        self._spans: list[tuple[int, int]] = []
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            _write(self._fd, 0, header(rate_hz, None))
        except OSError as error:
            raise ConfigError(
                f"cannot write recordings to {path.parent} ({error.strerror}); set records.folder, "
                'or records.recording to "off"'
            ) from error

    @property
    def is_behind(self) -> bool:
        """Whether something of the agent is heard from now on, or was and is not in the file."""
        return self._fd >= 0 and self._agent.end > self._tape.written

    def heard(self, audio: bytes) -> None:
        """The caller's ``audio`` (16-bit, the line's rate) has come."""
        if self._fd >= 0:
            now = self._now()
            self._caller.heard(now, _ulaw(audio))
            if now - self._tape.written >= _WRITE_MS * self._per_ms:
                self._write(now)

    def played(self, audio: bytes) -> None:
        """The agent's ``audio`` (16-bit, the line's rate) was sent."""
        if self._fd >= 0:
            self._agent.played(self._now(), _ulaw(audio))

    def cut(self, *, drops: bool) -> None:
        """The agent was interrupted: what it had sent is not heard.

        ``drops`` says that the far end drops also the piece that is being sent now.
        """
        if self._fd >= 0:
            self._agent.cut(self._now(), drops=drops)

    def flush(self) -> bool:
        """Bring the file up to now; whether there was anything to write."""
        now = self._now()
        if self._fd < 0 or now - self._tape.written < _WRITE_MS * self._per_ms:
            return False
        self._write(now)
        return True

    def so_far(self) -> tuple[int, str]:
        """The sound that no event holds yet: its end in bytes behind the header, and its SHA-256.

        It ends two seconds ago, or with the recording. Say when it is :meth:`taken`.
        """
        return self._tape.settled * ROW_BYTES, self._hash.hexdigest()

    def taken(self) -> None:
        """An event holds what :meth:`so_far` said."""
        until = self._tape.settled * ROW_BYTES
        if until > self._given:
            self._spans.append((self._given, until))
        self._given, self._hash = until, hashlib.sha256()

    def silence(self, from_ms: float, to_ms: float) -> Silence | None:
        """Make the caller silent from ``from_ms`` to ``to_ms`` of the call.

        Record its ``fields`` as an event and then have it done (:meth:`Silence.done`): a call that
        is killed in between is mended by them. None if nothing of it was recorded, or it cannot
        be read back: then the recording stops.
        """
        self._write(self._now())
        low = max(0, round(from_ms * self._per_ms)) * ROW_BYTES
        high = min(round(to_ms * self._per_ms), self._tape.written) * ROW_BYTES
        if self._fd < 0 or low >= high:
            return None
        self._tape.blank(CALLER, low // ROW_BYTES, high // ROW_BYTES)
        self._caller.freeze(high // ROW_BYTES)
        try:
            spans = [
                Span(begin, end, hashlib.sha256(self._blanked(begin, end, low, high)).hexdigest())
                for begin, end in self._spans
                if begin < high and end > low
            ]
            settled = self._tape.settled * ROW_BYTES
            self._hash = hashlib.sha256(self._blanked(self._given, settled, low, high))
        except OSError as error:
            self._stop(error)
            return None
        return Silence(low, high, spans, self._overwrite)

    def close(self) -> None:
        """The call is over: the file ends here and its header says how long it is."""
        if self._fd < 0:
            return
        now = self._now()
        self._agent.cut(now, drops=True)
        self._write(now)
        self._end()

    def _now(self) -> int:
        return int(self._now_ms() * self._per_ms)

    def _write(self, now: int) -> None:
        if self._fd < 0:
            return
        at, data = self._tape.fresh(now)
        try:
            _write(self._fd, HEADER_BYTES + at * ROW_BYTES, data)
        except OSError as error:
            self._tape.written = max(at, self._tape.settled)
            self._stop(error)
            return
        edge = now - _UNSETTLED_MS * self._per_ms
        if edge - self._tape.settled >= _SETTLE_MS * self._per_ms:
            self._hash.update(self._tape.settle(edge))

    def _stop(self, error: OSError) -> None:
        """The call goes on without."""
        reason = error.strerror or type(error).__name__
        logger.error("recording {} stopped: {}", self.path.name, reason)
        self._end()
        self._on_stopped(reason)

    def _end(self) -> None:
        """Cut the file to what is whole, and say so in its header."""
        fd, self._fd = self._fd, -1
        rows = self._tape.written
        self._hash.update(self._tape.settle(rows))
        try:
            os.ftruncate(fd, HEADER_BYTES + rows * ROW_BYTES)
            _write(fd, 0, header(self.rate_hz, rows))
        except OSError as error:
            logger.error("recording {} has no end: {}", self.path.name, error.strerror)
        finally:
            os.close(fd)

    def _blanked(self, begin: int, end: int, low: int, high: int) -> bytes:
        """Bytes ``begin`` to ``end`` of the sound, the caller silent from ``low`` to ``high``."""
        data = os.pread(self._fd, end - begin, HEADER_BYTES + begin)
        return blanked(data, begin, low, high)

    def _overwrite(self, low: int, high: int) -> None:
        if self._fd < 0:
            return
        try:
            _write(self._fd, HEADER_BYTES + low, self._blanked(low, high, low, high))
        except OSError as error:
            self._stop(error)


def _ulaw(audio: bytes) -> UInt8:
    return _ULAW.take(np.frombuffer(audio, np.uint16))


def _write(fd: int, at: int, data: bytes) -> None:
    """All of ``data`` at ``at``; a disk that is full takes a part and says so at the next.

    Raises:
        OSError: it does not go there.
    """
    done = os.pwrite(fd, data, at)
    while done < len(data):
        done += os.pwrite(fd, data[done:], at + done)
