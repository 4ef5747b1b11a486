"""Rendered audio is made once, kept within its bytes, and never altered."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frontdesk import SpeechError
from speech.cache import AudioCache


def audio(samples: int) -> np.ndarray:
    return np.zeros(samples, np.int16)


def test_made_once_and_read_only():
    cache = AudioCache(1000)
    made = [cache.get("a", lambda: audio(10)), cache.get("a", lambda: audio(99))]
    assert made[0] is made[1]
    with pytest.raises(ValueError, match="read-only"):
        made[0][0] = 1


def test_oldest_use_goes_first():
    cache = AudioCache(60)
    for key in "abc":
        cache.get(key, lambda: audio(10))
    cache.get("a", lambda: audio(10))
    cache.get("d", lambda: audio(10))
    assert [key for key in "abcd" if key in cache] == ["a", "c", "d"]
    assert cache.size_bytes == 60


def test_too_big_is_not_kept():
    cache = AudioCache(60)
    cache.get("a", lambda: audio(10))
    assert cache.get("big", lambda: audio(31)).size == 31
    assert "big" not in cache
    assert "a" in cache


def test_asked_for_at_once_made_once():
    cache = AudioCache(1000)
    begun, go_on = threading.Event(), threading.Event()
    makings = []

    def make() -> np.ndarray:
        makings.append(1)
        begun.set()
        assert go_on.wait(5)
        return audio(10)

    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(cache.get, "a", make)
        assert begun.wait(5)
        others = [threads.submit(cache.get, "a", make) for _ in range(3)]
        go_on.set()
        results = [future.result(5) for future in (first, *others)]
    assert len(makings) == 1
    assert all(result is results[0] for result in results)


def test_a_failure_is_not_kept():
    cache = AudioCache(1000)

    def fail() -> np.ndarray:
        raise SpeechError("no")

    with pytest.raises(SpeechError):
        cache.get("a", fail)
    assert cache.get("a", lambda: audio(3)).size == 3
