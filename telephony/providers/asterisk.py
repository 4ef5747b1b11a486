"""Asterisk, by ``chan_websocket``: its dialplan dials us, over a socket that logs in.

Protocol: https://docs.asterisk.org/Configuration/Channel-Drivers/WebSocket. The dialplan that goes
with it is ``deploy/asterisk/extensions.conf``: it passes the channel variables named here, and
asks for the next step when the socket is closed.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from starlette.websockets import WebSocket

from frontdesk import ForbiddenError, TransferError, WireError
from telephony.ari import Ari
from telephony.asterisk_control import is_plain, read_event
from telephony.asterisk_formats import FORMATS
from telephony.capabilities import Capabilities
from telephony.messages import receive, start_within
from telephony.next_steps import NEXT_STEPS
from telephony.provider import Account, Provider, Secrets, Webhook
from telephony.providers.asterisk_serializer import AsteriskSerializer
from telephony.start import (
    PARAM_CALLED,
    PARAM_CALLER,
    PARAM_RETURNED,
    CallStart,
    identifier,
    number,
)

DEFAULT_USER = "frontdesk"
PARAM_CALL = "call"
PARAM_CHANNEL = "channel"
_PREFIX = "FRONTDESK_"
_PARAMETERS = (PARAM_CALL, PARAM_CHANNEL, PARAM_CALLER, PARAM_CALLED, PARAM_RETURNED)
"""As the channel variables FRONTDESK_CALL …, or in the URL (``v(call=…)``) with plain text."""


class Asterisk(Provider):
    """One Asterisk; ``account.secret`` is the password that its sockets log in with.

    ``account.api_url`` (``http://HOST:8088``) and ``account.api_key`` open ARI, by which a
    transfer leaves the caller with the agent until somebody has picked up; without them it is
    the dialplan's. ``account.id`` is the user of both, ``frontdesk`` where it is empty.
    """

    name = "asterisk"
    secrets = Secrets(
        secret="ASTERISK_PASSWORD", api_key="ASTERISK_ARI_PASSWORD", key_with_url=True
    )
    serializer_type = AsteriskSerializer
    subprotocols = ("media",)
    socket_proves_itself = True
    needs_return_url = False
    capabilities: ClassVar = Capabilities(
        name="Asterisk (chan_websocket)",
        audio="µ-law, A-law, 16-bit 8 kHz or 16 kHz, binary",
        clear="FLUSH_MEDIA",
        marks=True,
        digits_in="message",
        hang_up="closing the socket",
        transfer="ARI, or the dialplan",
        dials="ARI",
        caller_number=True,
        checked_by="password (HTTP Basic) on the socket",
        tested="the real peer",
    )

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._user = account.id or DEFAULT_USER
        self._ari = (
            Ari(account.api_url, self._user, account.api_key)
            if account.api_url and account.api_key
            else None
        )

    async def close(self) -> None:
        """Close the connection to ARI."""
        if self._ari is not None:
            await self._ari.close()

    def check(self, hook: Webhook) -> None:
        """Check the user and the password of a socket or of a dialplan's question.

        Raises:
            ForbiddenError: they are missing or wrong, or none are set here.
        """
        if not self.account.secret:
            raise ForbiddenError("no password is set for Asterisk")
        given = hook.headers.get("authorization", "")
        if not given:
            raise ForbiddenError("no password from Asterisk")
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._login()):
            raise ForbiddenError("the user or the password from Asterisk is wrong")

    def _login(self) -> bytes:
        return b"Basic " + base64.b64encode(f"{self._user}:{self.account.secret}".encode())

    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """``MEDIA_START``."""
        async with start_within(timeout_s):
            data = await receive(socket, "MEDIA_START")
        return read_start(data, dict(socket.query_params), max_bytes)

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """By ARI, else by the dialplan: it asks for the next step once our socket is closed.

        Raises:
            TransferError: by ARI, nobody took the call; by the dialplan, ``to`` is no address.
        """
        if self._ari is None:
            NEXT_STEPS.dial(start.call_id, to)
            return
        channel = start.parameters.get(PARAM_CHANNEL, "")
        if not channel:
            raise TransferError("unsupported", "the dialplan does not set FRONTDESK_CHANNEL")
        await self._ari.transfer(channel, to, start.caller)

    async def dial(self, to: str, *, answered: str) -> str:
        """By ARI; the dialplan connects whoever picks up, so ``answered`` is not asked."""
        if self._ari is None:
            raise TransferError("unsupported", "placing a call needs providers.asterisk.api_url")
        return await self._ari.dial(to, self.account.number)


def read_start(data: str | bytes, query: Mapping[str, str], max_bytes: int) -> CallStart:
    """The call that a ``MEDIA_START`` begins; ``query`` is the socket's.

    Raises:
        WireError: anything else came, or a format that is not served.
    """
    if not isinstance(data, str):
        raise WireError("binary message where MEDIA_START is due")
    plain = is_plain(data)
    message = read_event(data, max_bytes, plain=plain)
    if message["event"] != "MEDIA_START":
        raise WireError("another message where MEDIA_START is due")
    audio = message.get("format")
    if not isinstance(audio, str) or audio not in FORMATS:
        raise WireError(f"an audio format that is none of {', '.join(FORMATS)}")
    named = _named(message.get("channel_variables"), query)
    given = {name: number(value) for name, value in named.items()}
    stream_id = _identifier(message, "channel_id")
    return CallStart(
        call_id=_identifier(named, PARAM_CALL) if named.get(PARAM_CALL) else stream_id,
        stream_id=stream_id,
        caller=given.get(PARAM_CALLER, ""),
        called=given.get(PARAM_CALLED, ""),
        parameters=MappingProxyType(
            {**given, "format": audio, "control": "plain" if plain else "json"}
        ),
    )


def _named(variables: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """What the dialplan passed on; every other channel variable is left out."""
    found: dict[str, Any] = {name: query[name] for name in _PARAMETERS if name in query}
    if not isinstance(variables, dict):
        return found
    # Inherited variables keep their underscores: __FRONTDESK_CALL.
    plain = {str(name).lstrip("_"): value for name, value in variables.items()}
    keys = {name: _PREFIX + name.upper() for name in _PARAMETERS}
    return {**found, **{name: plain[key] for name, key in keys.items() if key in plain}}


def _identifier(fields: Mapping[str, Any], name: str) -> str:
    """Asterisk's ids are times (``1764530000.12``): the dot becomes a hyphen."""
    value = fields.get(name)
    given = value.replace(".", "-") if isinstance(value, str) else value
    return identifier({name: given}, name)
