"""What comes first on an AudioHook session: ``open``, or a connection probe.

Protocol: https://developer.genesys.cloud/devapps/audiohook/protocol-reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from starlette.websockets import WebSocket

from frontdesk import WireError
from telephony.messages import parse_message, part, receive
from telephony.start import CallStart, identifier, number, parameters

_MEDIA = {"type": "audio", "format": "PCMU", "channels": ["external"], "rate": 8000}
_NOBODY = "00000000-0000-0000-0000-000000000000"
"""The conversation of a connection probe."""


async def opened(socket: WebSocket, max_bytes: int) -> CallStart:
    """Read ``open`` and answer it.

    Raises:
        WireError: anything else came, or a connection probe, which is answered too.
    """
    message = parse_message(await receive(socket, "open"), max_bytes)
    start = _call_start(message, socket.headers)
    await socket.send_text(_message(start.stream_id, 1, 1, "opened", {"media": [_MEDIA]}))
    if start.call_id == _NOBODY:
        await _answer_probe(socket, start.stream_id, max_bytes)
        raise WireError("connection probe: answered")
    return start


def _call_start(message: Mapping[str, Any], headers: Mapping[str, str]) -> CallStart:
    if message.get("type") != "open" or message.get("version") != "2":
        raise WireError("another message where open is due")
    if isinstance(message.get("seq"), bool) or message.get("seq") != 1:
        raise WireError("message out of sequence")
    session = identifier(message, "id")
    opening = part(message, "parameters")
    organization = identifier(opening, "organizationId")
    for name, value in (("session", session), ("organization", organization)):
        if headers.get(f"audiohook-{name}-id", value) != value:
            raise WireError(f"open message of another {name} than the handshake's")
    media = opening.get("media")
    if not isinstance(media, list) or _MEDIA not in media:
        raise WireError("open message that offers no 8 kHz µ-law of the caller alone")
    caller = opening.get("participant")
    person = caller if isinstance(caller, dict) else {}
    return CallStart(
        call_id=identifier(opening, "conversationId"),
        stream_id=session,
        account_id=organization,
        caller=_phone(person.get("ani")),
        called=_phone(person.get("dnis")),
        parameters=MappingProxyType(parameters(opening.get("inputVariables"))),
    )


def _phone(address: Any) -> str:
    """A number without the ``tel:`` that Genesys writes before it."""
    return number(address).removeprefix("tel:")


async def _answer_probe(socket: WebSocket, session: str, max_bytes: int) -> None:
    """Answer the pings and the close of a probe; it sends no audio."""
    sent = 1
    while True:
        message = parse_message(await receive(socket, "close"), max_bytes)
        kind = {"ping": "pong", "close": "closed"}.get(str(message.get("type")))
        if kind is None:
            continue
        sent += 1
        seq = message.get("seq")
        await socket.send_text(
            _message(session, sent, seq if isinstance(seq, int) else sent, kind, {})
        )
        if kind == "closed":
            return


def _message(session: str, seq: int, clientseq: int, kind: str, given: dict[str, Any]) -> str:
    return json.dumps(
        {
            "version": "2",
            "type": kind,
            "seq": seq,
            "clientseq": clientseq,
            "id": session,
            "parameters": given,
        }
    )
