"""Rendered audio on disk: one file an entry, found by name, so that nothing is read ahead.

A file is written beside its place and moved there, and begins with a seal: what was cut short,
altered or put there by anything else is as good as absent. Several processes may share a folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SUFFIX, _UNFINISHED = ".speech", ".part"
_SEAL_BYTES = 16
_LOOK_EVERY = 64  # files written between two looks at what all processes have written
_PRUNED_TO = 0.9
_USED_AGAIN_S = 24 * 3600
_ABANDONED_S = 3600
_LEFT_FREE = 64_000_000


class Kept:
    """Entries of one voice in ``folder``, of ``max_bytes`` together; safe for threads.

    Where there is no room, those that were not used for longest leave, whichever voice's they
    are: a use is noted once a day. The last 64 MB of a disk are left to what matters more.
    ``identity`` says what makes the same of the same key.
    """

    def __init__(self, folder: Path, identity: bytes, max_bytes: int) -> None:
        """Nothing is read or written before the first entry is."""
        self._folder = folder
        self._key = hashlib.blake2b(identity, digest_size=16).digest()
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._written = 0

    def __contains__(self, key: str) -> bool:
        """Whether there is a file for ``key``; one stat."""
        return os.path.exists(self._path(key))

    def size_of(self, key: str) -> int:
        """Bytes that the entry takes; 0 if there is none."""
        try:
            return os.stat(self._path(key)).st_size
        except OSError:
            return 0

    def read(self, key: str) -> bytes | None:
        """The bytes of ``key``; None if there are none, or none to be trusted."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                used_s = os.fstat(file.fileno()).st_mtime
                seal, data = file.read(_SEAL_BYTES), file.read()
        except OSError:
            return None
        if seal != self._seal(key, data):
            return None
        if time.time() - used_s > _USED_AGAIN_S:
            with suppress(OSError):  # a folder that may only be read
                os.utime(path)
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keep ``data`` as that of ``key``, in one step.

        Raises:
            OSError: if it cannot be written; what was there before is there still.
        """
        path = self._path(key)
        self._folder.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self._folder).free < _LEFT_FREE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
        part = f"{path}.{os.getpid()}-{threading.get_ident()}{_UNFINISHED}"
        try:
            with open(part, "wb") as file:
                file.write(self._seal(key, data) + data)
            os.replace(part, path)
        except OSError:
            with suppress(OSError):
                os.unlink(part)
            raise
        with self._lock:
            self._written += 1
            is_due = self._written % _LOOK_EVERY == 1
        if is_due:
            self.prune()

    def prune(self) -> None:
        """Let the longest unused go until nine tenths of ``max_bytes`` are taken, if more than
        ``max_bytes`` are; and what a process that died has left unfinished.
        """
        now_s = time.time()
        found = []
        for entry, stat in self._entries():
            if entry.name.endswith(_SUFFIX):
                found.append((stat.st_mtime, stat.st_size, entry.path))
            elif entry.name.endswith(_UNFINISHED) and now_s - stat.st_mtime > _ABANDONED_S:
                with suppress(OSError):
                    os.unlink(entry.path)
        taken = sum(size for _, size, _ in found)
        if taken <= self.max_bytes:
            return
        for _, size, path in sorted(found):
            if taken <= self.max_bytes * _PRUNED_TO:
                return
            with suppress(OSError):  # another process was first
                os.unlink(path)
            taken -= size

    def _entries(self) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        yield entry, entry.stat()
        except OSError:
            return

    def _path(self, key: str) -> str:
        name = hashlib.blake2b(key.encode(), digest_size=16, key=self._key).hexdigest()
        return f"{self._folder}/{name}{_SUFFIX}"

    def _seal(self, key: str, data: bytes) -> bytes:
        made = hashlib.blake2b(key.encode(), digest_size=_SEAL_BYTES, key=self._key)
        made.update(b"\0")
        made.update(data)
        return made.digest()
