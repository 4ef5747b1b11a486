"""A caller's number as a key: it finds their calls again, and cannot be read.

Numbers are few enough to try them all, so the key is made with a secret of this folder's: HMAC,
RFC 2104. Whoever has the folder has the secret too; it keeps numbers out of copies and reports.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tempfile
from pathlib import Path

from frontdesk import ConfigError

SECRET = "callers.secret"
_BYTES = 32


class CallerKeys:
    """The keys of one folder of records."""

    def __init__(self, folder: Path) -> None:
        """Raises:
        ConfigError: the folder's secret can be neither read nor made.
        """
        try:
            self._secret = _secret(folder / SECRET)
        except OSError as error:
            raise ConfigError(
                f"cannot read or make {folder / SECRET} ({error.strerror})"
            ) from error

    def key_of(self, number: str) -> str:
        """32 hexadecimal digits; the same for a number however it is punctuated."""
        digits = re.sub(r"[^0-9a-z]", "", number.casefold()) or number
        return hmac.new(self._secret, digits.encode(), hashlib.sha256).hexdigest()[:32]


def _secret(path: Path) -> bytes:
    """The folder's; made whole before it has its name, so that nobody reads a part of it."""
    if not path.exists():
        fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
        try:
            os.link(name, path)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # a file system without links
            os.rename(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    found = path.read_bytes()
    if len(found) != _BYTES:
        raise ConfigError(
            f"{path} holds {len(found)} bytes, not {_BYTES}: put it back from a copy, or remove it "
            "(the calls until now are then not found by their caller's number)"
        )
    return found
