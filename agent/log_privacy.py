"""Log lines without callers' numbers and without tokens, whoever writes them."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from loguru import logger

from telephony.redaction import without_secrets

if TYPE_CHECKING:
    from loguru import Record


def keep_private() -> None:
    """Mask every message of loguru before any sink has it, and what logging has no handler for."""
    logger.configure(patcher=_mask)
    last = logging.lastResort
    if last is not None and not any(isinstance(one, _Masked) for one in last.filters):
        last.addFilter(_Masked())


def to_stderr(line: str) -> None:
    """A sink that masks the whole line: an exception's text comes after the patcher."""
    sys.stderr.write(without_secrets(line))


def _mask(record: Record) -> None:
    record["message"] = without_secrets(record["message"])


class _Masked(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_secrets(record.getMessage()), ()
        return True
