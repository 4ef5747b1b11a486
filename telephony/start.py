"""What is known of a call when its audio begins, and what its far end may put into that.

Nothing here needs Pipecat, so that the test caller starts fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from frontdesk import WireError

MAX_MESSAGE_BYTES = 65536
"""A 20 ms media message has about 400 bytes; start messages stay under 16 kB of parameters."""

PARAM_CALLER = "caller"
"""Stream parameter that carries the caller's number: most start messages hold none."""
PARAM_CALLED = "called"
"""Stream parameter that carries the number called."""
PARAM_RETURNED = "returned"
"""Why a transfer failed, on a wire that brings the caller back on a new socket."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MAX_PARAMETERS = 32
_MAX_PARAMETER_CHARS = 500  # Twilio's own limit on a name and its value together
_MAX_NUMBER_CHARS = 128


@dataclass(frozen=True, slots=True)
class CallStart:
    """What is known of a call when its audio begins.

    The ids hold only letters, digits, ``_`` and ``-`` (at most 64), so they can name files and
    stand in logs. ``caller`` and ``called`` are as the wire gave them and may be empty. They and
    ``parameters``, which may carry a token, are kept out of ``repr``.
    """

    call_id: str
    stream_id: str
    account_id: str = ""
    caller: str = field(default="", repr=False)
    called: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


def identifier(fields: Mapping[str, Any], name: str) -> str:
    """The id ``name`` in ``fields``.

    Raises:
        WireError: it is missing, or of anything but letters, digits, ``_`` and ``-``.
    """
    value = fields.get(name)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise WireError(f"start message without a usable {name}")
    return value


def number(value: Any) -> str:
    """A caller's or a called number as it may be kept: printable and short; else empty."""
    if not isinstance(value, str) or len(value) > _MAX_NUMBER_CHARS:
        return ""
    return _NOT_PRINTABLE.sub("", value)


def parameters(given: Any) -> dict[str, str]:
    """The parameters that came with a start message.

    Raises:
        WireError: they are no mapping of strings to strings, too many or too long.
    """
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > _MAX_PARAMETERS:
        raise WireError("start message with odd parameters")
    for name, value in given.items():
        if not isinstance(value, str) or len(name) + len(value) > _MAX_PARAMETER_CHARS:
            raise WireError("start message with odd parameters")
    return given
