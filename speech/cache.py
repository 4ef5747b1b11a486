"""Rendered audio by key: in memory, behind it on disk, each key made once.

Kept as µ-law where it is for a telephone, half the bytes of samples; as samples otherwise.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import numpy.typing as npt

from speech import mulaw
from speech.audio import Int16
from speech.kept import Kept

_Packed = npt.NDArray[Any]
_log = logging.getLogger(__name__)


class AudioCache:
    """Audio by key for all threads; two that ask for the same key at once share one making.

    The longest unused leaves memory first. What comes from here is read-only, and the same
    whether it was just made or kept.
    """

    def __init__(
        self, max_bytes: int, *, companded: bool = False, disk: Kept | None = None
    ) -> None:
        """Keep up to ``max_bytes`` in memory; 0 keeps nothing there but still shares the making.

        ``companded`` keeps µ-law. ``disk`` is asked for what is not in memory, and given what is
        made.
        """
        self._max_bytes = max_bytes
        self._companded = companded
        self.disk = disk
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Packed] = OrderedDict()
        self._making: dict[str, Future[_Packed]] = {}
        self._bytes = 0
        self._is_full = False

    @property
    def size_bytes(self) -> int:
        """Bytes held in memory."""
        return self._bytes

    def __contains__(self, key: str) -> bool:
        """Whether ``key`` is in memory or on disk (not whether it is being made)."""
        with self._lock:
            if key in self._kept:
                return True
        return self.disk is not None and key in self.disk

    def size_of(self, key: str) -> int:
        """Bytes that ``key`` takes on disk, or in memory where there is no disk."""
        if self.disk is not None:
            return self.disk.size_of(key)
        with self._lock:
            packed = self._kept.get(key)
        return 0 if packed is None else packed.nbytes

    def held(self, key: str) -> Int16 | None:
        """The audio of ``key`` if it is in memory: never a wait, never a making."""
        with self._lock:
            packed = self._used(key)
        return None if packed is None else self._unpacked(packed)

    def stored(self, key: str) -> Int16 | None:
        """The audio of ``key`` if it is in memory or on disk, from where it comes to memory."""
        audio = self.held(key)
        if audio is not None or self.disk is None:
            return audio
        data = self.disk.read(key)
        if data is None:
            return None
        packed: _Packed = np.frombuffer(data, np.uint8 if self._companded else np.int16)
        with self._lock:
            self._keep(key, packed)
        return self._unpacked(packed)

    def put(self, key: str, audio: Int16) -> None:
        """Hold ``audio`` of ``key`` in memory and on disk, unless it is in memory already."""
        packed = self._packed(audio)
        with self._lock:
            if key in self._kept:
                return
            self._keep(key, packed)
        self._write(key, packed)

    def get(self, key: str, make: Callable[[], Int16]) -> Int16:
        """The audio of ``key``, from memory or disk, else made by ``make``; for a thread.

        Raises:
            Exception: whatever ``make`` raised, in every thread that waited for it; the next
                call tries again.
        """
        audio = self.stored(key)
        if audio is not None:
            return audio
        with self._lock:
            packed = self._used(key)
            if packed is not None:
                return self._unpacked(packed)
            future = self._making.get(key)
            mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if not mine:
            return self._unpacked(future.result())
        try:
            packed = self._packed(make())
        except BaseException as error:
            with self._lock:
                del self._making[key]
            future.set_exception(error)
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, packed)
        future.set_result(packed)
        self._write(key, packed)
        return self._unpacked(packed)

    def _used(self, key: str) -> _Packed | None:
        packed = self._kept.get(key)
        if packed is not None:
            self._kept.move_to_end(key)
        return packed

    def _keep(self, key: str, packed: _Packed) -> None:
        if key in self._kept or packed.nbytes > self._max_bytes:
            return
        self._kept[key] = packed
        self._bytes += packed.nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes

    def _write(self, key: str, packed: _Packed) -> None:
        if self.disk is None:
            return
        try:
            self.disk.write(key, packed.tobytes())
            self._is_full = False
        except OSError as error:
            if not self._is_full:  # said once, not for every sentence
                _log.warning("rendered speech is not kept (%s)", error)
            self._is_full = True

    def _packed(self, audio: Int16) -> _Packed:
        packed: _Packed = mulaw.encode(audio) if self._companded else audio
        packed.flags.writeable = False
        return packed

    def _unpacked(self, packed: _Packed) -> Int16:
        if not self._companded:
            return packed
        audio = mulaw.decode(packed)
        audio.flags.writeable = False
        return audio
