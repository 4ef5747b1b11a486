"""The files of the Whisper models that come as packages, checked and ready for the runtime."""

from __future__ import annotations

import mmap
from pathlib import Path

from frontdesk import ConfigError
from frontdesk.models import verified

# Manifest entries by the name that the runtime knows a file by; parts are joined in order.
_FILES: dict[str, dict[str, tuple[str, ...]]] = {
    "whisper-tiny-en": {
        "model.bin": ("whisper-tiny-en",),
        "config.json": ("whisper-tiny-en-config",),
        "vocabulary.txt": ("whisper-tiny-en-vocabulary",),
        "tokenizer.json": ("whisper-tiny-en-tokenizer",),
    },
    "whisper-base": {
        "model.bin": ("whisper-base-part1", "whisper-base-part2"),
        "config.json": ("whisper-base-config",),
        "vocabulary.txt": ("whisper-base-vocabulary",),
        "tokenizer.json": ("whisper-base-tokenizer",),
    },
}


def files(model: str) -> dict[str, bytes]:
    """Every file of ``model`` by name, its parts joined in memory and each part verified.

    Raises:
        frontdesk.ConfigError: if there is no such model.
        frontdesk.ModelFileError: if a file is missing or altered.
    """
    if model not in _FILES:
        raise ConfigError(f"no Whisper model {model!r}: {', '.join(_FILES)}, or a folder of one")
    return {
        name: b"".join(_mapped(verified(part)) for part in parts)
        for name, parts in _FILES[model].items()
    }


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
