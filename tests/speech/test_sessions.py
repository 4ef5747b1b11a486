"""One session a model, one thread a session, inference off the event loop."""

import asyncio
import threading

import pytest

from frontdesk import ModelFileError, models
from speech import sessions
from speech.moonshine import Moonshine


def test_one_session_for_all_with_one_thread():
    first = sessions.session("silero-vad")
    assert sessions.session("silero-vad") is first
    options = first.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert first.get_providers() == ["CPUExecutionProvider"]


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
    assert 2 <= running[1] <= sessions.pool()._max_workers


async def test_errors_come_back():
    with pytest.raises(ZeroDivisionError):
        await sessions.run(lambda: 1 / 0)
