"""Libraries that only some formats need, imported when one is read."""

from __future__ import annotations

import importlib
from types import ModuleType

from rag.readers.types import Damaged

_INSTALL = "pip install 'frontdesk[documents]'"
_NAMES = {
    "docx": "python-docx",
    "bs4": "beautifulsoup4",
    "charset_normalizer": "charset-normalizer",
}


def need(module: str) -> ModuleType:
    """The module, or the reason that names the command to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = _NAMES.get(module, module)
        raise Damaged(f"reading it needs {name}; install it with: {_INSTALL}") from error
