"""Telnyx' call control ids, ``v3:…``, and ours: the colon cannot stand in a file's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from frontdesk import WireError
from telephony.start import identifier

_CONTROL_ID = re.compile(r"v([0-9]):([A-Za-z0-9_-]{1,60})")


def kept(fields: Mapping[str, Any], name: str) -> str:
    """The call control id ``name`` in ``fields`` as a :class:`CallStart` may keep it.

    The colon becomes a hyphen, and :func:`control_id` turns it back.

    Raises:
        WireError: it is missing, or of anything but letters, digits, ``_`` and ``-``.
    """
    value = fields.get(name)
    versioned = _CONTROL_ID.fullmatch(value) if isinstance(value, str) else None
    return f"v{versioned[1]}-{versioned[2]}" if versioned else identifier(fields, name)


def control_id(call_id: str) -> str:
    """Telnyx's own form of a kept call id."""
    return re.sub(r"^v([0-9])-", r"v\1:", call_id)


def placed(answer: Mapping[str, Any]) -> str:
    """The id of a placed call: in the answer itself, or in the ``data`` of the older one."""
    inner = answer.get("data")
    call = inner if isinstance(inner, dict) else answer
    for name in ("call_sid", "sid", "call_control_id"):
        if name in call:
            return kept(call, name)
    raise WireError("Telnyx answered without the call's id")
