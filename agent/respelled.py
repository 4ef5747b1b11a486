"""The sentences that are said otherwise than they are read, because they are understood better.

They are a file of the knowledge base, ``spoken.json``, by voice: what one voice says badly
another may say well. ``frontdesk kb check --ears`` finds them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loguru import logger

from speech.phrased import Phrase

SPOKEN_FILE = "spoken.json"


def load(kb: Path, identity: bytes) -> dict[str, Phrase]:
    """What the voice of ``identity`` says instead of some sentences, as they are read aloud."""
    return _read(kb / SPOKEN_FILE).get(_name(identity), {})


def by_voice(kb: Path) -> dict[str, dict[str, Phrase]]:
    """The same of every voice, by the voice's name in the file."""
    return _read(kb / SPOKEN_FILE)


def save(kb: Path, identity: bytes, sentences: Mapping[str, Phrase]) -> None:
    """Have that voice say these, and no other ones, otherwise from its next start on.

    Raises:
        OSError: if the file cannot be written.
    """
    path = kb / SPOKEN_FILE
    every, before = _read(path), load(kb, identity)
    every[_name(identity)] = dict(sorted(sentences.items()))
    if before != sentences:
        write_json(path, every)


def write_json(path: Path, what: Any) -> None:
    """Write ``what`` in one step.

    Raises:
        OSError: if the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(what, ensure_ascii=False, indent=1), "utf-8")
    os.replace(part, path)


def _read(path: Path) -> dict[str, dict[str, Phrase]]:
    try:
        found = json.loads(path.read_text("utf-8"))
        return {
            voice: {
                sentence: Phrase(str(words), float(slowness))
                for sentence, (words, slowness) in rows.items()
            }
            for voice, rows in found.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        logger.warning("{} is not used ({}); run: frontdesk kb check --ears", path, error)
        return {}


def _name(identity: bytes) -> str:
    return hashlib.blake2b(identity, digest_size=8).hexdigest()
