"""What DOCX and XLSX share: a zip archive that may be damaged, encrypted or a bomb."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from rag.readers.types import Damaged

_UNPACKED = 400 * 1024 * 1024
_OLD = b"\xd0\xcf\x11\xe0"


@contextmanager
def opened(data: bytes, name: str, part: str) -> Iterator[io.BytesIO]:
    """``data`` as a file, once it is known to be a whole archive that holds ``part``.

    Raises:
        Damaged: if it is not, or if the reading inside fails on its contents.
    """
    if data.startswith(_OLD):
        raise Damaged(
            f"the {name} is encrypted, or of the format before 2007; "
            f"save it as .{name.lower()} without a password"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _UNPACKED:
                raise Damaged(f"the {name} unpacks to more than {_UNPACKED // 1024**2} MB")
            if part not in archive.namelist():
                raise Damaged(f"the {name} is damaged (no {part} in it); save it again")
            broken = archive.testzip()
        if broken:
            raise Damaged(f"the {name} is damaged ({broken}); save it again")
        yield io.BytesIO(data)
    except Damaged:
        raise
    # The libraries let any error of XML, zip or their own assumptions out of a damaged file.
    except Exception as error:
        detail = " ".join(str(error).split())[:100] or type(error).__name__
        raise Damaged(f"the {name} is damaged ({detail}); save it again") from error
