"""Log lines without callers' numbers, cards and addresses and without tokens, whoever writes them.

Nothing that a caller says is logged at INFO or above. This is the second wall, for the text of
exceptions and for libraries: it knows written forms only, and leaves names of programs alone.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING

from loguru import logger

from agent.luhn import passes_luhn
from telephony.redaction import without_secrets

if TYPE_CHECKING:
    from loguru import Record

_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){13,18}(?!\w)")
_EMAIL = re.compile(r"(?<![\w.+-])(?<!sip:)(?<!sips:)[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")


def private(line: str) -> str:
    """``line`` without numbers, tokens, card numbers and e-mail addresses."""
    line = _CARD.sub(_hidden, line)
    return without_secrets(_EMAIL.sub("[e-mail address]", line))


def _hidden(match: re.Match[str]) -> str:
    is_card = passes_luhn(re.sub(r"\D", "", match.group()))
    return "[card number]" if is_card else match.group()


def keep_private() -> None:
    """Mask every message of loguru before any sink has it, and what logging has no handler for."""
    logger.configure(patcher=_mask)
    last = logging.lastResort
    if last is not None and not any(isinstance(one, _Masked) for one in last.filters):
        last.addFilter(_Masked())


def to_stderr(line: str) -> None:
    """A sink that masks the whole line: an exception's text comes after the patcher."""
    sys.stderr.write(private(line))


def _mask(record: Record) -> None:
    record["message"] = private(record["message"])


class _Masked(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = private(record.getMessage()), ()
        return True
