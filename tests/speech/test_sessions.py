"""One session a model, one thread a session, inference off the event loop."""

import asyncio
import os
import sys
import threading

import pytest

from frontdesk import CitationInSpeechError, ModelFileError, SpeechError, Spoken, models
from speech import sessions
from speech.moonshine import Moonshine
from speech.scheduling import Priority
from tests.speech.conftest import resident_bytes


def test_one_session_for_all_with_one_thread():
    first = sessions.session("silero-vad")
    assert sessions.session("silero-vad") is first
    options = first.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert (options.enable_mem_pattern, options.enable_cpu_mem_arena) == (False, False)
    assert first.get_providers() == ["CPUExecutionProvider"]


def test_only_the_voice_keeps_the_memory_of_its_largest_run(engines):
    kept = {
        name
        for name, session in sessions._sessions.items()
        if session.get_session_options().enable_cpu_mem_arena
    }
    assert kept == {"piper-joe"}


def test_altered_model_is_refused(monkeypatch):
    monkeypatch.setattr(models, "_sha256", lambda *_: "0" * 64)
    monkeypatch.setattr(sessions, "_sessions", {})
    with pytest.raises(ModelFileError, match="make setup"):
        Moonshine()


async def test_runs_off_the_event_loop():
    assert await sessions.run(threading.current_thread) is not threading.current_thread()
    hears = await sessions.run(lambda: threading.current_thread().name)
    renders = await sessions.run_rendering(lambda: threading.current_thread().name)
    assert hears.startswith("hearing")
    assert renders.startswith("rendering")


async def test_pool_is_bounded_and_at_least_two():
    running = [0, 0]
    lock = threading.Lock()
    both = threading.Barrier(2, timeout=5)

    def work() -> None:
        with lock:
            running[0] += 1
            running[1] = max(running)
        both.wait()
        with lock:
            running[0] -= 1

    await asyncio.gather(*(sessions.run(work) for _ in range(8)))
    assert 2 <= running[1] <= sessions.pool().lanes


def test_as_many_threads_as_cores_it_may_use(monkeypatch):
    for cores, threads in ((1, 2), (2, 2), (3, 3)):
        monkeypatch.setattr(sessions.os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert sessions._threads() == threads


def test_whatever_fails_is_a_speech_error_and_a_speech_error_stays():
    error = KeyError("phoneme")
    with (
        pytest.raises(SpeechError, match=r"^it failed: 'phoneme'$") as raised,
        sessions.failing("it failed"),
    ):
        raise error
    assert raised.value.__cause__ is error
    with pytest.raises(CitationInSpeechError, match="refusing"), sessions.failing("it failed"):
        Spoken("[kb-hours]")
    with pytest.raises(KeyboardInterrupt), sessions.failing("it failed"):
        raise KeyboardInterrupt


@pytest.mark.skipif(sys.platform != "linux", reason="memory is given back on Linux")
def test_freed_memory_is_given_back():
    """64 kB pieces stay with the C library when freed: 64 MB of them, but for the last."""
    pieces = [bytes([1]) * 65536 for _ in range(1024)]
    last = pieces[-1]
    del pieces
    before = resident_bytes()
    sessions.release_memory()
    assert before - resident_bytes() > 40_000_000
    assert len(last) == 65536


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own there")
async def test_background_work_and_rendering_give_way_to_hearing():
    def where():
        return threading.current_thread().name, os.getpriority(
            os.PRIO_PROCESS, threading.get_native_id()
        )

    ours = os.getpriority(os.PRIO_PROCESS, 0)
    name, nice = await sessions.run(where, priority=Priority.BACKGROUND)
    assert name.startswith("background")
    assert nice == min(19, ours + 10)
    assert (await sessions.run(where))[1] == ours
    assert (await sessions.run_rendering(where))[1] == min(19, ours + 4)


async def test_arguments_and_results_pass():
    assert await sessions.run(sorted, [1, 3, 2], reverse=True) == [3, 2, 1]
    assert await sessions.run_or_drop(max, 1, 2, priority=Priority.INTERIM, call=None) == 2


async def test_errors_come_back():
    with pytest.raises(ZeroDivisionError):
        await sessions.run(lambda: 1 / 0)
