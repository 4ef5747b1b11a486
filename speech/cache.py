"""A least-recently-used cache of rendered audio, bounded in bytes, each key made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

from speech.audio import Int16


class AudioCache:
    """Audio by key for all threads; two that ask for the same key at once share one making."""

    def __init__(self, max_bytes: int) -> None:
        """Keep up to ``max_bytes`` of samples; 0 keeps nothing but still shares the making."""
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Int16] = OrderedDict()
        self._making: dict[str, Future[Int16]] = {}
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """Bytes of samples held."""
        return self._bytes

    def __contains__(self, key: str) -> bool:
        """Whether ``key`` is held (not whether it is being made)."""
        with self._lock:
            return key in self._kept

    def items(self) -> list[tuple[str, Int16]]:
        """Everything held, the longest unused first."""
        with self._lock:
            return list(self._kept.items())

    def put(self, key: str, audio: Int16) -> None:
        """Hold ``audio`` of ``key`` unless something is held already."""
        with self._lock:
            self._keep(key, audio)

    def held(self, key: str) -> Int16 | None:
        """The audio of ``key`` if it is held: never a wait, never a making."""
        with self._lock:
            return self._used(key)

    def get(self, key: str, make: Callable[[], Int16]) -> Int16:
        """The audio of ``key``, read-only, made by ``make`` if nobody has yet.

        Raises:
            Exception: whatever ``make`` raised, in every thread that waited for it; the next
                call tries again.
        """
        with self._lock:
            audio = self._used(key)
            if audio is not None:
                return audio
            future = self._making.get(key)
            mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if not mine:
            return future.result()
        try:
            audio = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            future.set_exception(error)
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, audio)
        future.set_result(audio)
        return audio

    def _used(self, key: str) -> Int16 | None:
        audio = self._kept.get(key)
        if audio is not None:
            self._kept.move_to_end(key)
        return audio

    def _keep(self, key: str, audio: Int16) -> None:
        audio.flags.writeable = False
        if key in self._kept or audio.nbytes > self._max_bytes:
            return
        self._kept[key] = audio
        self._bytes += audio.nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes
