"""How a Twilio media stream begins: the TwiML that opens it and its first two messages.

Protocol: https://www.twilio.com/docs/voice/media-streams/websocket-messages. Everything the far
end sends is checked here; what breaks the protocol raises ``WireError``, whose one line never
repeats the far end's data. Nothing here needs Pipecat, so that the test caller starts fast.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from starlette.websockets import WebSocket

from frontdesk import WireError

PARAM_CALLER = "caller"
"""Stream parameter that carries the caller's number: the start message itself holds none."""
PARAM_CALLED = "called"
"""Stream parameter that carries the number called."""

MAX_MESSAGE_BYTES = 65536
"""A 20 ms media message has about 400 bytes; start messages stay under 16 kB of parameters."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MAX_PARAMETERS = 32
_MAX_PARAMETER_CHARS = 500  # Twilio's own limit on a name and its value together


def twiml(stream_url: str, parameters: Mapping[str, str] | None = None) -> str:
    """TwiML that connects a call to the media socket at ``stream_url``.

    ``parameters`` come back in the start message (Twilio drops a query string on the URL). Values
    may hold anything a caller sent: they are escaped, and characters XML forbids are dropped.
    When the agent closes the socket, Twilio goes on after ``<Connect>``, finds nothing, hangs up.
    """
    inner = "".join(
        f"<Parameter name={_attribute(name)} value={_attribute(value)}/>"
        for name, value in (parameters or {}).items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f"<Response><Connect><Stream url={_attribute(stream_url)}>{inner}</Stream></Connect>"
        "</Response>"
    )


def twiml_refusal(sentence: str) -> str:
    """TwiML that says ``sentence`` in the provider's voice and hangs up (all lines busy)."""
    words = escape(_NOT_XML.sub("", sentence))
    return f'<?xml version="1.0" encoding="UTF-8"?><Response><Say>{words}</Say><Hangup/></Response>'


def _attribute(value: str) -> str:
    return quoteattr(_NOT_XML.sub("", value))


@dataclass(frozen=True, slots=True)
class CallStart:
    """What the start message said.

    The ids hold only letters, digits, ``_`` and ``-`` (at most 64), so they can name files and
    stand in logs. ``caller`` and ``called`` come from the stream's parameters and may be empty.
    ``parameters`` may carry a token and is kept out of ``repr``.
    """

    call_id: str
    stream_id: str
    account_id: str = ""
    caller: str = ""
    called: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


async def read_start(
    websocket: WebSocket, *, timeout_s: float = 5.0, max_bytes: int = MAX_MESSAGE_BYTES
) -> CallStart:
    """Read ``connected`` and ``start`` from an accepted socket.

    Raises:
        WireError: on anything else: other or malformed messages, binary data, a message over
            ``max_bytes``, fields of the wrong kind, a stream that is not 8 kHz mono µ-law, a
            close, or silence: both messages must arrive within ``timeout_s`` in all.
    """
    try:
        async with asyncio.timeout(timeout_s):
            for event in ("connected", "start"):
                message = parse_message(await _receive(websocket, event), max_bytes)
                if message.get("event") != event:
                    raise WireError(f"{event_name(message)} message where {event} is due")
    except TimeoutError:
        raise WireError(f"no start message within {timeout_s:g} s") from None
    return _call_start(message)


async def _receive(websocket: WebSocket, due: str) -> str | bytes:
    """The next message's data; a close is an error here."""
    message = await websocket.receive()
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


KNOWN_EVENTS = frozenset({"connected", "start", "media", "dtmf", "mark", "stop"})


def event_name(message: Mapping[str, Any]) -> str:
    """The event's name if it is one of Twilio's, so that no far-end text gets into a log."""
    event = message.get("event")
    return event if isinstance(event, str) and event in KNOWN_EVENTS else "unknown"


def _call_start(message: Mapping[str, Any]) -> CallStart:
    start = message.get("start")
    if not isinstance(start, dict):
        raise WireError("start message without its start object")
    stream_id = _identifier(start, "streamSid")
    if message.get("streamSid", stream_id) != stream_id:
        raise WireError("start message with two different stream ids")
    _check_format(start.get("mediaFormat"))
    parameters = _parameters(start.get("customParameters"))
    return CallStart(
        call_id=_identifier(start, "callSid"),
        stream_id=stream_id,
        account_id=_identifier(start, "accountSid") if "accountSid" in start else "",
        caller=_NOT_PRINTABLE.sub("", parameters.get(PARAM_CALLER, "")),
        called=_NOT_PRINTABLE.sub("", parameters.get(PARAM_CALLED, "")),
        parameters=MappingProxyType(parameters),
    )


def _identifier(start: Mapping[str, Any], name: str) -> str:
    value = start.get(name)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise WireError(f"start message without a usable {name}")
    return value


def _check_format(media: Any) -> None:
    """Refuse anything but 8 kHz mono µ-law, the only format Twilio streams; absent means that."""
    if media is None:
        return
    if not isinstance(media, dict):
        raise WireError("start message with an odd mediaFormat")
    for name, due in (("encoding", "audio/x-mulaw"), ("sampleRate", 8000), ("channels", 1)):
        value = media.get(name, due)
        if isinstance(value, bool) or value != due:
            raise WireError(f"start message whose mediaFormat {name} is not {due}")


def _parameters(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > _MAX_PARAMETERS:
        raise WireError("start message with odd customParameters")
    for name, value in given.items():
        if not isinstance(value, str) or len(name) + len(value) > _MAX_PARAMETER_CHARS:
            raise WireError("start message with odd customParameters")
    return given
