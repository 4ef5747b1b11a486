"""Exotel: the Voicebot applet's request for a socket, the socket, and REST to place calls.

Protocols: https://developer.exotel.com/docs/agentstream/stream-voicebot-applet,
https://developer.exotel.com/docs/voice-v1/api-reference/connect-to-flow.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from frontdesk import ConfigError, ForbiddenError, WireError
from telephony.capabilities import Capabilities
from telephony.provider import Answer, Incoming, Secrets, Webhook
from telephony.providers.exotel_serializer import RATES_HZ, ExotelSerializer, ExotelStart
from telephony.providers.streaming import Streaming, known_id, media_format, stream_id
from telephony.rest import require
from telephony.start import identifier, number, parameters

MIN_SECRET_CHARS = 16
_RATES = (*RATES_HZ, *(str(rate) for rate in RATES_HZ))


class Exotel(Streaming):
    """An Exotel account. Exotel signs nothing: ``secret`` is ours, and stands in the applet's URL.

    ``account.id`` is the account's SID, ``account.api_key`` the API token, whose name is
    ``options["key"]``; ``options["app"]`` is the flow that a placed call runs through.
    """

    name = "exotel"
    api_url = "https://api.exotel.com"
    secrets = Secrets(secret="EXOTEL_SECRET", api_key="EXOTEL_API_TOKEN", key_with_url=True)
    serializer_type = ExotelSerializer
    options = ("key", "app")
    chunk_ms = 200  # 3,200 bytes at 8 kHz: Exotel takes no less, and multiples of 320
    capabilities: ClassVar = Capabilities(
        name="Exotel",
        audio="16-bit linear 8 or 16 kHz, base64 in JSON",
        clear="clear",
        marks=True,
        digits_in="message",
        hang_up="closing the socket (the flow goes on)",
        dials="REST (through a flow)",
        caller_number=True,
        checked_by="a secret of ours in the applet's URL (Exotel signs nothing)",
    )

    def prepare(self) -> None:
        """Our secret is all that keeps strangers out: it must be long.

        Raises:
            ConfigError: it is not.
        """
        super().prepare()
        if len(self.account.secret) < MIN_SECRET_CHARS:
            raise ConfigError(
                f"EXOTEL_SECRET has under {MIN_SECRET_CHARS} characters: anyone could guess it; "
                "take what openssl rand -hex 24 prints"
            )

    def entrance(self, base: str) -> str:
        """The applet's URL; ``SECRET`` stands for ours."""
        where = base.replace("://", "://frontdesk:SECRET@", 1)
        return f"Voicebot applet {where}/exotel/voice (SECRET: what EXOTEL_SECRET holds)"

    def credentials(self) -> tuple[str, str]:
        """The API key's name and its token."""
        return self.account.options.get("key", ""), self.account.api_key

    def check(self, hook: Webhook) -> None:
        """Check our secret: HTTP Basic's password, or ``key`` in the query.

        Raises:
            ForbiddenError: it is missing or wrong.
        """
        given = _password(hook.headers.get("authorization", "")) or hook.form.get("key", "")
        if not given:
            raise ForbiddenError("no secret in the request; is it in the applet's URL?")
        if not self.account.secret:
            raise ForbiddenError("EXOTEL_SECRET is not set")
        ours, theirs = self.account.secret.encode(), given.encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(ours, theirs):
            raise ForbiddenError("the secret in the applet's URL is not EXOTEL_SECRET")

    def incoming(self, hook: Webhook) -> Incoming:
        """The call for which the applet asks."""
        fields = {**hook.json, **hook.form}
        return Incoming(
            identifier(fields, "CallSid"),
            number(fields.get("CallFrom") or fields.get("From", "")),
            number(fields.get("CallTo") or fields.get("To", "")),
        )

    def connect(self, url: str, call: Incoming) -> Answer:
        """The socket's URL in JSON."""
        return Answer(json.dumps({"url": url}))

    def refuse(self, sentence: str) -> Answer:
        """An error: the applet says nothing, the flow goes on."""
        return Answer(json.dumps({"error": "busy"}), status=503)

    def call_start(self, message: Mapping[str, Any], start: Mapping[str, Any]) -> ExotelStart:
        """The call, and the rate of its audio."""
        media = media_format(start, "media_format", sample_rate=_RATES)
        if "law" in str(media.get("encoding", "")).lower():  # linear goes by many names
            raise WireError("start message of audio that is not 16-bit linear")
        return ExotelStart(
            call_id=identifier(start, "call_sid"),
            stream_id=stream_id(message, start, "stream_sid"),
            account_id=known_id(start, "account_sid"),
            caller=number(start.get("from", "")),
            called=number(start.get("to", "")),
            parameters=MappingProxyType(parameters(start.get("custom_parameters"))),
            rate_hz=int(media.get("sample_rate", RATES_HZ[0])),
        )

    async def dial(self, to: str, *, answered: str) -> str:
        """Call ``to`` and run the flow of the settings; its Voicebot applet asks for a socket."""
        account = require(self.account.id, "providers.exotel.account")
        app = require(self.account.options.get("app", ""), "providers.exotel.options.app")
        form = {
            "From": to,
            "CallerId": require(self.account.number, "providers.exotel.number"),
            "Url": f"http://my.exotel.com/{account}/exoml/start_voice/{app}",
        }
        path = f"/v1/Accounts/{account}/Calls/connect.json"
        call = (await self._rest.place(path, data=form)).get("Call")
        if not isinstance(call, dict):
            raise WireError("Exotel answered without the call")
        return identifier(call, "Sid")


def _password(authorization: str) -> str:
    """The password of HTTP Basic; empty if there is none."""
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        decoded = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return decoded.partition(":")[2]
