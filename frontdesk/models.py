"""Model files: one manifest, checked by SHA-256 before use.

Files come inside installed packages, so a fresh machine needs the package index and nothing
else. ``manifest.toml`` names each file's package, path, upstream address, hash and licence.
"""

from __future__ import annotations

import hashlib
import importlib.util
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from frontdesk.errors import ModelFileError

_MANIFEST = Path(__file__).with_name("manifest.toml")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of the manifest. ``extra`` is the optional dependency that brings it, or ''."""

    name: str
    job: str
    package: str
    path: str
    upstream: str
    sha256: str
    licence: str
    extra: str = ""

    @property
    def mend(self) -> str:
        """The command that puts the right file in place."""
        return "make setup" if not self.extra else f"make setup  (installs the {self.extra} extra)"


@cache
def manifest() -> dict[str, ModelFile]:
    """Every model file by name, in the manifest's order."""
    table = tomllib.loads(_MANIFEST.read_text(encoding="utf-8"))
    return {name: ModelFile(name=name, **fields) for name, fields in table.items()}


def locate(name: str) -> Path:
    """Where model file ``name`` lies, unchecked.

    Raises:
        ModelFileError: if its package or the file itself is missing.
    """
    model = manifest()[name]
    try:
        spec = importlib.util.find_spec(model.package)
    except ModuleNotFoundError:
        spec = None
    roots = spec.submodule_search_locations if spec else None
    if not roots:
        raise ModelFileError(
            f"model {name!r} needs the package {model.package.split('.')[0]}; run: {model.mend}"
        )
    path = Path(roots[0]) / model.path
    if not path.is_file():
        raise ModelFileError(f"model file {name!r} is missing from {path}; run: {model.mend}")
    return path


def verified(name: str) -> Path:
    """Where model file ``name`` lies, its SHA-256 checked (once per file state and process).

    Raises:
        ModelFileError: if it is missing or its hash differs from the manifest.
    """
    path = locate(name)
    stat = path.stat()
    found = _sha256(path, stat.st_size, stat.st_mtime_ns)
    if found != manifest()[name].sha256:
        raise ModelFileError(
            f"model file {name!r} at {path} is altered (sha256 {found[:12]}…, manifest says "
            f"{manifest()[name].sha256[:12]}…); run: {manifest()[name].mend} FORCE=1"
        )
    return path


@cache
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    """Hash of a file; size and time are in the key so that a changed file is read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(names: Iterable[str] | None = None) -> dict[str, str]:
    """Status of each file: ``ok``, or the error's line."""
    result: dict[str, str] = {}
    for name in names or manifest():
        try:
            verified(name)
            result[name] = "ok"
        except ModelFileError as error:
            result[name] = str(error)
    return result
