"""The embedders that run on this machine, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from frontdesk import ConfigError
from rag.embed import Embedder
from rag.embedders.e5 import E5
from rag.embedders.minilm import MiniLM

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": MiniLM, "e5": E5}


@cache
def make(name: str) -> Embedder:
    """The embedder called ``name``, made once a process and shared between threads.

    Raises:
        ConfigError: if there is none of that name.
        ModelFileError: if one of its files is missing or altered.
    """
    if name not in EMBEDDERS:
        raise ConfigError(f"unknown embedder {name!r}; choose one of: {', '.join(EMBEDDERS)}")
    return EMBEDDERS[name]()
