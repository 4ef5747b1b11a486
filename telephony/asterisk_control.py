"""The control messages of Asterisk's ``chan_websocket``, in JSON and as plain text, without I/O.

Protocol: https://docs.asterisk.org/Configuration/Channel-Drivers/WebSocket and
``channels/chan_websocket.c`` of Asterisk 22. Events come from Asterisk, commands go to it; a
command of more than 128 bytes is ignored there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from frontdesk import WireError
from telephony.messages import parse_message

MAX_COMMAND_BYTES = 128

EVENTS = frozenset(
    {
        "MEDIA_START",
        "MEDIA_XON",
        "MEDIA_XOFF",
        "MEDIA_BUFFERING_COMPLETED",
        "MEDIA_MARK_PROCESSED",
        "QUEUE_DRAINED",
        "DTMF_END",
        "STATUS",
        "ERROR",
    }
)
COMMANDS = frozenset(
    {
        "ANSWER",
        "HANGUP",
        "START_MEDIA_BUFFERING",
        "STOP_MEDIA_BUFFERING",
        "MARK_MEDIA",
        "FLUSH_MEDIA",
        "GET_STATUS",
        "REPORT_QUEUE_DRAINED",
        "PAUSE_MEDIA",
        "CONTINUE_MEDIA",
    }
)
_CORRELATED = frozenset({"MEDIA_BUFFERING_COMPLETED", "MEDIA_MARK_PROCESSED"})


def is_plain(data: str | bytes) -> bool:
    """Whether the first message on a socket is of the plain kind."""
    return isinstance(data, str) and not data.lstrip().startswith("{")


def read_event(data: str, max_bytes: int, *, plain: bool) -> dict[str, Any]:
    """The event in a text message, its name under ``event``; of an unknown one only that.

    Raises:
        WireError: it is oversized, malformed or nameless.
    """
    message = _plain_event(data, max_bytes) if plain else parse_message(data, max_bytes)
    if not isinstance(message.get("event"), str):
        raise WireError("message without an event name")
    return message


def _plain_event(data: str, max_bytes: int) -> dict[str, Any]:
    if len(data) > max_bytes:
        raise WireError(f"oversized message (the limit is {max_bytes} bytes)")
    event, _, rest = data.strip().partition(" ")
    if event not in EVENTS:
        return {"event": event}
    if event in _CORRELATED:
        return {"event": event, "correlation_id": rest}
    fields = dict(part.partition(":")[::2] for part in rest.split(" ") if part)
    return {**fields, "event": event}


def command(name: str, correlation_id: str = "", *, plain: bool = False) -> str:
    """The message that tells Asterisk to do ``name``."""
    if plain:
        return f"{name} {correlation_id}".rstrip()
    fields = {"command": name}
    if correlation_id:
        fields["correlation_id"] = correlation_id
    return json.dumps(fields, separators=(",", ":"))


def read_command(data: str) -> tuple[str, str]:
    """The name and the correlation id of a command, as Asterisk reads it.

    Raises:
        WireError: Asterisk would not take it.
    """
    if len(data.encode("utf-8", "surrogatepass")) > MAX_COMMAND_BYTES:
        raise WireError("the agent sent a command of over 128 bytes")
    if is_plain(data):
        name, _, correlation_id = data.strip().partition(" ")
    else:
        fields = _fields(data)
        name, correlation_id = str(fields.get("command")), str(fields.get("correlation_id", ""))
    if name not in COMMANDS:
        raise WireError("the agent sent a command that Asterisk does not know")
    return name, correlation_id


def _fields(data: str) -> Mapping[str, Any]:
    try:
        return parse_message(data, MAX_COMMAND_BYTES)
    except WireError:
        raise WireError("the agent sent malformed JSON") from None
