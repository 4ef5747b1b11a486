"""One ONNX session a model for all calls, the threads that run them, and the memory they take."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import ParamSpec, TypeVar

import onnxruntime as ort

from frontdesk import SpeechError
from frontdesk.models import verified

_P = ParamSpec("_P")
_T = TypeVar("_T")

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
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.enable_mem_pattern = False
            options.enable_cpu_mem_arena = arena
            _sessions[model] = ort.InferenceSession(
                str(verified(model)), options, providers=["CPUExecutionProvider"]
            )
        return _sessions[model]


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
def pool() -> ThreadPoolExecutor:
    """The threads that hear (recogniser and turn model), one a core and at least two.

    More threads than cores only make every decode slower; fewer than two would let one long
    decode hold up every other call.
    """
    return ThreadPoolExecutor(_threads(), thread_name_prefix="hearing")


@cache
def rendering_pool() -> ThreadPoolExecutor:
    """The threads that render speech, apart from those that hear.

    One sentence takes a third of a second: with eight calls on two busy cores and one pool for
    both, hearing a turn waited behind sentences for up to 1183 ms, with two pools for 487 ms.
    """
    return ThreadPoolExecutor(_threads(), thread_name_prefix="rendering")


def _threads() -> int:
    """Cores this process may use (a container's share, not the machine's), at least two."""
    if sys.platform == "linux":
        return max(2, len(os.sched_getaffinity(0)))
    return max(2, os.cpu_count() or 2)


async def run(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """``function(*args, **kwargs)`` on a hearing thread, off the event loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(pool(), partial(function, *args, **kwargs))


async def run_rendering(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """``function(*args, **kwargs)`` on a rendering thread, off the event loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(rendering_pool(), partial(function, *args, **kwargs))
