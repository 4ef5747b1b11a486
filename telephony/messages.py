"""Reading a far end's messages: bounded, and never repeated in an error or a log."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.websockets import WebSocket

from frontdesk import WireError


@asynccontextmanager
async def start_within(timeout_s: float) -> AsyncIterator[None]:
    """What comes before the audio must come within ``timeout_s``.

    Raises:
        WireError: it did not.
    """
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise WireError(f"no start message within {timeout_s:g} s") from None


async def receive(socket: WebSocket, due: str) -> str | bytes:
    """The next message's data; ``due`` names what it should be.

    Raises:
        WireError: the socket was closed.
    """
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        code = message.get("code", 1006)
        if code in (1007, 1009):  # the server looked at the message before we could
            what = "oversized message" if code == 1009 else "text that is not UTF-8"
            raise WireError(f"{what} where {due} is due")
        raise WireError(f"socket closed (code {code}) before the {due} message")
    text: str | None = message.get("text")
    return text if text is not None else message["bytes"]


def parse_message(data: str | bytes, max_bytes: int) -> dict[str, Any]:
    """The JSON object in a text message.

    Raises:
        WireError: for binary data, too many bytes, malformed JSON, or JSON that is no object.
    """
    if not isinstance(data, str):
        raise WireError("binary message where text is due")
    if len(data) > max_bytes or len(data.encode("utf-8", "surrogatepass")) > max_bytes:
        raise WireError(f"oversized message (the limit is {max_bytes} bytes)")
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        # ValueError also covers integers of over 4,300 digits, RecursionError "[[[[…".
        raise WireError("malformed JSON message") from None
    if not isinstance(message, dict):
        raise WireError("JSON message is not an object")
    return message


def part(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object ``name`` in a message of that name.

    Raises:
        WireError: there is none.
    """
    found = message.get(name)
    if not isinstance(found, dict):
        raise WireError(f"{name} message without its {name} object")
    return found


def payload_of(media: Mapping[str, Any], max_bytes: int) -> bytes:
    """The audio of a media message, decoded from base64.

    Raises:
        WireError: there is none, it is not base64, or over ``max_bytes`` once decoded.
    """
    payload = media.get("payload")
    if not isinstance(payload, str):
        raise WireError("media message without a payload")
    try:
        encoded = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        raise WireError("media payload is not base64") from None
    if len(encoded) > max_bytes:
        raise WireError(f"media payload of over {max_bytes} bytes")
    return encoded
