"""Answers to a webhook that are a JSON array of steps: Vonage's NCCO, jambonz' verbs."""

from __future__ import annotations

import json
from typing import Any

from frontdesk import WireError

_MAX_ANSWER_CHARS = 65536


def json_array(text: str) -> list[dict[str, Any]]:
    """The steps that the agent answered its webhook with.

    Raises:
        WireError: they are none.
    """
    try:
        found = json.loads(text) if len(text) <= _MAX_ANSWER_CHARS else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise WireError("its answer is no JSON array of steps")
    return found
