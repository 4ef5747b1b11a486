"""Rendered audio is made once, kept within its bytes, in memory and on disk, never altered."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from frontdesk import SpeechError
from speech import mulaw
from speech.cache import AudioCache
from speech.kept import Kept


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


def test_held_is_what_is_there_and_counts_as_a_use():
    cache = AudioCache(60)
    assert cache.held("a") is None
    made = [cache.get(key, lambda: audio(10)) for key in "abc"]
    assert cache.held("a") is made[0]
    cache.get("d", lambda: audio(10))
    assert [key for key in "abcd" if key in cache] == ["a", "c", "d"]


def test_put_keeps_what_is_there_read_only():
    cache = AudioCache(1000)
    first = audio(10)
    cache.put("a", first)
    cache.put("a", audio(20))
    assert cache.get("a", lambda: audio(99)) is first
    assert cache.size_bytes == 20
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1


def test_put_while_it_is_being_made_counts_once():
    cache = AudioCache(1000)

    def make() -> np.ndarray:
        cache.put("a", audio(10))
        return audio(10)

    cache.get("a", make)
    assert cache.size_bytes == 20


def test_those_who_waited_get_the_failure_too(monkeypatch):
    waiting = threading.Event()

    class Awaited(Future):
        def result(self, timeout=None):
            waiting.set()
            return super().result(timeout)

    def fail() -> np.ndarray:
        assert waiting.wait(5)
        raise SpeechError("no")

    monkeypatch.setattr("speech.cache.Future", Awaited)
    cache = AudioCache(1000)
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(cache.get, "a", fail) for _ in range(2)]
        assert [type(future.exception(5)) for future in both] == [SpeechError, SpeechError]
    assert cache.get("a", lambda: audio(3)).size == 3


def test_mu_law_takes_half_and_gives_the_same_made_or_kept():
    cache, samples = AudioCache(1000, companded=True), np.arange(-400, 400, 8, dtype=np.int16)
    made, kept = cache.get("a", lambda: samples), cache.held("a")
    assert cache.size_bytes == samples.nbytes // 2
    assert np.array_equal(made, mulaw.decode(mulaw.encode(samples)))
    assert np.array_equal(made, kept)
    with pytest.raises(ValueError, match="read-only"):
        made[0] = 1


@pytest.mark.parametrize("companded", [False, True])
def test_what_is_made_is_there_for_the_next_process(tmp_path, companded):
    samples = np.arange(-400, 400, 8, dtype=np.int16)
    caches = [
        AudioCache(1000, companded=companded, disk=Kept(tmp_path, b"joe", 10_000)) for _ in "ab"
    ]
    made = caches[0].get("a", lambda: samples)
    assert "a" in caches[1]
    assert caches[1].held("a") is None, "nothing is read ahead"
    assert np.array_equal(caches[1].get("a", lambda: audio(99)), made)
    assert np.array_equal(caches[1].held("a"), made)
    assert caches[1].size_of("a") == made.size * (1 if companded else 2) + 16


def test_a_full_disk_is_said_once_and_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_bytes(b"")
    cache = AudioCache(1000, disk=Kept(tmp_path / "file", b"joe", 10_000))
    for key in "abc":
        assert cache.get(key, lambda: audio(10)).size == 10
    assert len([line for line in caplog.messages if "is not kept" in line]) == 1
