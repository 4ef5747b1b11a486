"""One ONNX session a model for all calls, and the threads that run them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

import onnxruntime as ort

from frontdesk.models import verified

_P = ParamSpec("_P")
_T = TypeVar("_T")

_lock = threading.Lock()
_sessions: dict[str, ort.InferenceSession] = {}


def session(model: str) -> ort.InferenceSession:
    """The session of manifest entry ``model``: one a process, shared by all calls.

    One intra-op and one inter-op thread: with several calls at once the calls are the
    parallelism, and a session's own threads would only fight each other. ``run`` of an ONNX
    session may be called from several threads at a time.

    Raises:
        frontdesk.ModelFileError: if the model file is missing or altered.
    """
    with _lock:
        if model not in _sessions:
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            _sessions[model] = ort.InferenceSession(
                str(verified(model)), options, providers=["CPUExecutionProvider"]
            )
        return _sessions[model]


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
    return max(2, os.cpu_count() or 2)


async def run(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """``function(*args, **kwargs)`` on a hearing thread, off the event loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(pool(), lambda: function(*args, **kwargs))


async def run_rendering(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """``function(*args, **kwargs)`` on a rendering thread, off the event loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(rendering_pool(), lambda: function(*args, **kwargs))
