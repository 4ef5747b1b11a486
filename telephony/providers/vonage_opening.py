"""The first message on Vonage's WebSocket.

Protocol: https://developer.vonage.com/en/voice/voice-api/concepts/websockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from frontdesk import WireError
from telephony.providers.vonage_ncco import CONTENT_TYPE
from telephony.start import PARAM_CALLED, PARAM_CALLER, CallStart, identifier, number, parameters

PARAM_CALL = "call_id"
"""Header of our NCCO that carries the call's id."""


def call_start(message: Mapping[str, Any], account_id: str) -> CallStart:
    """The call of ``websocket:connected``, which has the headers of our NCCO in it.

    Raises:
        WireError: it is another message, or of a stream in another format.
    """
    if message.get("event") != "websocket:connected":
        raise WireError("another message where websocket:connected is due")
    kind = message.get("content-type")
    if not isinstance(kind, str) or kind.replace(" ", "").lower() != CONTENT_TYPE:
        raise WireError(f"a stream that is not {CONTENT_TYPE}")
    call_id = identifier(message, PARAM_CALL)
    given = {
        name: value
        for name, value in message.items()
        if isinstance(value, str) and name not in ("event", "content-type")
    }
    return CallStart(
        call_id=call_id,
        stream_id=call_id,
        account_id=account_id,
        caller=number(given.get(PARAM_CALLER, "")),
        called=number(given.get(PARAM_CALLED, "")),
        parameters=MappingProxyType(parameters(given)),
    )
