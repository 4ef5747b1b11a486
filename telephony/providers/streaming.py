"""What Twilio, Telnyx, Plivo and Exotel share before the audio: one ``start`` message."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from starlette.websockets import WebSocket

from frontdesk import WireError
from telephony.messages import parse_message, receive, start_within
from telephony.provider import Provider
from telephony.providers.envelope import Enveloped
from telephony.start import CallStart, identifier


class Streaming(Provider):
    """A provider whose socket brings JSON messages with an ``event``."""

    serializer_type: ClassVar[type[Enveloped]]
    connected_first: ClassVar[bool] = False
    """Whether ``connected`` must come before ``start``; else it may."""

    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """``connected`` and ``start``."""
        async with start_within(timeout_s):
            message = await self._opening(socket, max_bytes)
        start = message.get("start")
        if not isinstance(start, dict):
            raise WireError("start message without its start object")
        return self.call_start(message, start)

    @abstractmethod
    def call_start(self, message: Mapping[str, Any], start: Mapping[str, Any]) -> CallStart:
        """The call of a start ``message``, whose start object is ``start``.

        Raises:
            WireError: its fields are of the wrong kind, or its audio is of another format.
        """

    async def _opening(self, socket: WebSocket, max_bytes: int) -> dict[str, Any]:
        due = "connected" if self.connected_first else "start"
        message = parse_message(await receive(socket, due), max_bytes)
        if message.get("event") == "connected":
            due = "start"
            message = parse_message(await receive(socket, due), max_bytes)
        event = message.get("event")
        if event != due:
            # Only the provider's own words, so that no far-end text gets into a log.
            known = isinstance(event, str) and event in self.serializer_type.known_events
            named = event if known or event in ("connected", "start") else "unknown"
            raise WireError(f"{named} message where {due} is due")
        return message


def media_format(start: Mapping[str, Any], name: str, **due: tuple[Any, ...]) -> dict[str, Any]:
    """The media format ``name`` in ``start``; every field it has must be one of those ``due``.

    Raises:
        WireError: one is not, so the audio could not be read.
    """
    given = start.get(name, {})
    if not isinstance(given, dict):
        raise WireError(f"start message with an odd {name}")
    for field, allowed in due.items():
        value = given.get(field, allowed[0])
        if isinstance(value, bool) or value not in allowed:
            raise WireError(f"start message whose {name} {field} is not {allowed[0]}")
    return given


def stream_id(message: Mapping[str, Any], start: Mapping[str, Any], name: str) -> str:
    """The stream's id ``name``, which stands in a start ``message``, its ``start`` object or both.

    Raises:
        WireError: it is missing, or there are two.
    """
    found = identifier(start if name in start else message, name)
    if message.get(name, found) != found:
        raise WireError("start message with two different stream ids")
    return found


def known_id(fields: Mapping[str, Any], name: str) -> str:
    """The id ``name`` in ``fields``; empty where there is none.

    Raises:
        WireError: it is of anything but letters, digits, ``_`` and ``-``.
    """
    return "" if fields.get(name) in (None, "") else identifier(fields, name)
