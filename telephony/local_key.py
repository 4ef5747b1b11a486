"""The key by which programs of the same user on this machine are let in without a provider.

Each server makes one and leaves it in a file that only its user can read; who can read the file
could as well read the server's memory. ``frontdesk call`` and the benchmarks send it along.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from frontdesk import ConfigError
from telephony.limits import is_loopback

HEADER = "x-frontdesk-local-key"
_PREFIX = "fdk_"


def new() -> str:
    """A key for one server."""
    return _PREFIX + secrets.token_urlsafe(32)


@contextmanager
def published(key: str, port: int) -> Iterator[None]:
    """Leave ``key`` for programs that call the server on ``port``; take it away afterwards.

    Raises:
        ConfigError: the folder is not ours alone, or cannot be written.
    """
    path = _folder() / str(port)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        _is_ours(path.parent)
        path.unlink(missing_ok=True)  # of a server that was killed
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ConfigError(f"cannot write {path} ({error.strerror}); set XDG_RUNTIME_DIR") from error
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key)
    try:
        yield
    finally:
        if _read(path) == key:  # not that of a server that came after this one
            path.unlink(missing_ok=True)


def read(port: int) -> str:
    """The key of the server on ``port``; empty if it left none that is ours to read."""
    path = _folder() / str(port)
    try:
        _is_ours(path.parent)
    except (OSError, ConfigError):
        return ""
    return _read(path)


def headers_for(url: str) -> dict[str, str]:
    """What to send along to the agent at ``url``; nothing where it is on another machine."""
    parts = urlsplit(url)
    if not parts.hostname or not is_loopback(parts.hostname):
        return {}
    key = read(parts.port or (443 if parts.scheme in ("https", "wss") else 80))
    return {HEADER: key} if key else {}


def _folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        return Path(runtime) / "frontdesk"
    return Path(tempfile.gettempdir()) / f"frontdesk-{os.getuid()}"


def _is_ours(folder: Path) -> None:
    """A folder that another user made in a shared place would hold whatever key they like.

    Raises:
        ConfigError: it is no folder, another's, or open to others.
    """
    found = os.lstat(folder)
    private = not stat.S_IMODE(found.st_mode) & 0o077
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or not private:
        raise ConfigError(f"{folder} is not this user's alone; remove it or set XDG_RUNTIME_DIR")


def _read(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    with os.fdopen(handle, encoding="ascii", errors="replace") as file:
        return file.read(200).strip()
