"""One ONNX session a model for all calls, the threads that run them, and the memory they take."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

import onnxruntime as ort

from frontdesk import SpeechError
from frontdesk.models import verified
from speech.pool import Pool
from speech.scheduling import Dropped, Priority

_P = ParamSpec("_P")
_T = TypeVar("_T")

_RENDERING_NICE, _BACKGROUND_NICE = 4, 10

_lock = threading.Lock()
_sessions: dict[str, ort.InferenceSession] = {}


def session(model: str, *, arena: bool = False) -> ort.InferenceSession:
    """The session of manifest entry ``model``: one a process, shared by all calls.

    One intra-op and one inter-op thread: with several calls at once the calls are the
    parallelism, and a session's own threads would only fight each other. ``run`` of an ONNX
    session may be called from several threads at a time.

    ``arena`` lets the session keep the memory of its largest run. Recogniser, VAD and turn model
    are as fast without (30 s of audio then leaves 64 MB behind, not 187); the voice is not (317
    ms a sentence, with one 285). Memory patterns, one for every length of input ever seen, gain
    nothing: rendering 60 sentences on two threads took 268 MB with them and 132 to 160 without.

    Raises:
        frontdesk.ModelFileError: if the model file is missing or altered.
    """
    with _lock:
        if model not in _sessions:
            _sessions[model] = _open(str(verified(model)), arena)
        return _sessions[model]


def built_sessions(
    names: Sequence[str], build: Callable[[], Sequence[bytes]]
) -> list[ort.InferenceSession]:
    """Sessions like ``session``'s of graphs that ``build`` makes, once a process."""
    with _lock:
        if any(name not in _sessions for name in names):
            graphs = zip(names, build(), strict=True)
            _sessions.update({name: _open(graph, arena=False) for name, graph in graphs})
        return [_sessions[name] for name in names]


def _open(model: str | bytes, arena: bool) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = arena
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Whatever goes wrong inside comes out as a ``SpeechError`` that begins with ``what``.

    For the work of one utterance: a caller waits for its outcome, so no error may go astray.
    """
    try:
        yield
    except SpeechError:
        raise
    except Exception as error:
        raise SpeechError(f"{what}: {error}") from error


def release_memory() -> None:
    """Give memory that was used and freed back to the system, where the C library can.

    Loading models leaves glibc holding about 100 MB that it would only use again for as much.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


@cache
def pool() -> Pool:
    """The threads that hear and answer, one a core and at least two, in order of priority.

    More threads than cores only make every decode slower; fewer than two would let one long
    decode hold up every other call.
    """
    return Pool(_threads())


@cache
def rendering_pool() -> ThreadPoolExecutor:
    """The threads that render speech, apart from those that hear.

    One sentence takes a third of a second: with eight calls on two busy cores and one pool for
    both, hearing a turn waited behind sentences for up to 1183 ms, with two pools for 487 ms.
    Its threads give way to those that hear: with two sentences always being rendered, on a
    machine crowded by others, a decode took 1383 ms (median) at equal priority and 837 ms four
    steps below, the main thread came 44 and 27 ms late, and no fewer sentences were rendered.
    """
    return ThreadPoolExecutor(
        _threads(), "rendering", initializer=give_way, initargs=(_RENDERING_NICE,)
    )


@cache
def background_pool() -> ThreadPoolExecutor:
    """The one thread for work that nobody waits for."""
    return ThreadPoolExecutor(1, "background", initializer=give_way, initargs=(_BACKGROUND_NICE,))


def give_way(steps: int) -> None:
    """Lower the priority of this thread, where threads have one of their own (Linux)."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        nice = os.getpriority(os.PRIO_PROCESS, thread) + steps
        os.setpriority(os.PRIO_PROCESS, thread, min(19, nice))


def queue_delay_ms() -> float:
    """How long hearing has to wait for a thread, now and lately: a measure of load."""
    return pool().delay_ms


def _threads() -> int:
    """Cores this process may use (a container's share, not the machine's), at least two."""
    if sys.platform == "linux":
        return max(2, len(os.sched_getaffinity(0)))
    return max(2, os.cpu_count() or 2)


async def run(
    function: Callable[..., _T],
    *args: Any,
    priority: Priority = Priority.FINAL,
    call: object | None = None,
    **kwargs: Any,
) -> _T:
    """``function(*args, **kwargs)`` on a thread of the pool, off the event loop.

    ``call`` is whose work it is: calls take turns (see ``speech.scheduling``). Cancelling the
    awaiting task takes back work that has not begun.
    """
    work = partial(function, *args, **kwargs)
    if priority is Priority.BACKGROUND:
        return await asyncio.get_running_loop().run_in_executor(background_pool(), work)
    outcome: _T = await pool().run(work, priority, call)
    return outcome


async def run_or_drop(
    function: Callable[..., _T], *args: Any, priority: Priority, call: object
) -> _T | Dropped:
    """``run`` for interims and eager texts, which may be ``DROPPED``: see ``Pool.run``."""
    outcome: _T | Dropped = await pool().run(partial(function, *args), priority, call)
    return outcome


async def run_rendering(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """``function(*args, **kwargs)`` on a rendering thread, off the event loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(rendering_pool(), partial(function, *args, **kwargs))
