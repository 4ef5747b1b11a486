"""Plivo: XML webhooks, REST, and audio streaming over a socket.

Protocols: https://www.plivo.com/docs/voice-agents/audio-streaming/xml/stream,
https://www.plivo.com/docs/voice/xml/dial, https://www.plivo.com/docs/voice/api/call.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from frontdesk import ForbiddenError, TransferError, WireError
from telephony.capabilities import Capabilities
from telephony.once import Once
from telephony.provider import RING_S, Account, Answer, Incoming, Secrets, Webhook, is_sip
from telephony.providers.dial_url import DialAsked, dial_asked, dial_url
from telephony.providers.plivo_serializer import PlivoSerializer
from telephony.providers.plivo_signature import check_signature
from telephony.providers.streaming import known_id, media_format
from telephony.providers.xml_calls import XmlCalls, element, xml
from telephony.rest import require
from telephony.start import PARAM_CALLED, PARAM_CALLER, CallStart, identifier, number, parameters
from telephony.xml import attribute

NONCES_KEPT_S = 3600.0
"""A request that comes again within the hour is refused; Plivo's signatures carry no time."""

_UUID = re.compile("[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_NONE = "0" * 32


class Plivo(XmlCalls):
    """A Plivo account; ``account.id`` is its auth id, ``account.secret`` its auth token."""

    name = "plivo"
    api_url = "https://api.plivo.com"
    secrets = Secrets(secret="PLIVO_AUTH_TOKEN")
    serializer_type = PlivoSerializer
    account_is = "the auth id, MA…"
    call_field = "CallUUID"
    status_field = "DialStatus"
    speaks = "Speak"
    capabilities: ClassVar = Capabilities(
        name="Plivo",
        audio="µ-law 8 kHz, base64 in JSON",
        clear="clearAudio",
        marks=True,
        digits_in="message",
        digits_out="REST",
        hang_up="REST",
        transfer="REST (XML Dial)",
        summary=True,
        dials="REST",
        caller_number=True,
        checked_by="X-Plivo-Signature-V3 (HMAC-SHA256 with a nonce)",
    )

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._once = Once(NONCES_KEPT_S)

    def credentials(self) -> tuple[str, str]:
        """The auth id and the auth token."""
        return self.account.id, self.account.secret

    def check(self, hook: Webhook) -> None:
        """Check ``X-Plivo-Signature-V3`` over the URL, the form and the nonce.

        Raises:
            ForbiddenError: it is missing or wrong, or came before.
        """
        seen = check_signature(self.account.secret, hook)
        # As with Twilio's: no bounds between the fields that are signed.
        if not _UUID.fullmatch(hook.form.get("CallUUID", _NONE)):
            raise ForbiddenError("a webhook whose CallUUID is none")
        self._once.spend(seen, time.monotonic())

    def connect(self, url: str, call: Incoming) -> Answer:
        """XML that streams both ways; the numbers' digits go along as extra headers.

        Plivo passes letters and digits only. When the agent closes the socket, Plivo goes on
        after ``<Stream>``, finds nothing, hangs up.
        """
        numbers = {PARAM_CALLER: call.caller, PARAM_CALLED: call.called}
        extra = ",".join(
            f"{name}={value}"
            for name, given in numbers.items()
            if (value := re.sub("[^A-Za-z0-9]", "", given))
        )
        return xml(
            element(
                "Stream",
                url,
                bidirectional="true",
                keepCallAlive="true",
                contentType="audio/x-mulaw;rate=8000",
                extraHeaders=extra,
            )
        )

    def meanwhile(self, hook: Webhook) -> Answer | None:
        """The dial that :meth:`transfer` sent the call to ask for."""
        if "DialStatus" in hook.form:
            return None
        asked = dial_asked(hook.url)
        return None if asked is None else xml(_dialling(asked))

    def call_start(self, message: Mapping[str, Any], start: Mapping[str, Any]) -> CallStart:
        """The call; its audio is what our ``<Stream>`` asks for."""
        media_format(start, "mediaFormat", encoding=("audio/x-mulaw",), sampleRate=(8000,))
        given = _extra_headers(message.get("extra_headers"))
        return CallStart(
            call_id=identifier(start, "callId"),
            stream_id=identifier(start, "streamId"),
            account_id=known_id(start, "accountId"),
            caller=number(given.get(PARAM_CALLER, "")),
            called=number(given.get(PARAM_CALLED, "")),
            parameters=MappingProxyType(given),
        )

    async def hang_up(self, start: CallStart) -> None:
        """Delete the call; the end of ``<Stream>`` does it too."""
        if self.account.id and self.account.secret:
            await self._rest.ask("DELETE", self._call(start))

    async def press(self, start: CallStart, digits: str) -> None:
        """Play the keys' tones to the caller.

        Raises:
            WireError: Plivo did not take it.
        """
        if self.account.id and self.account.secret:
            body = {"digits": digits, "leg": "aleg"}
            await self._rest.ask("POST", f"{self._call(start)}DTMF/", json=body)

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Send the call to ``then``, which answers with the dial (:meth:`meanwhile`).

        Plivo takes no XML by REST, only where to ask for it. The signature of that request
        covers the query, so that nobody else can have us dial.
        """
        if not self.account.id:
            raise TransferError("unsupported", "providers.plivo.account is not set")
        url = dial_url(DialAsked(to, whisper, then))
        body = {"legs": "aleg", "aleg_url": url, "aleg_method": "POST"}
        await self._rest.move("POST", self._call(start), json=body)

    async def dial(self, to: str, *, answered: str) -> str:
        """Place a call with Plivo's own detection of answering machines off: ours listens."""
        body = {
            "to": to,
            "from": require(self.account.number, "providers.plivo.number"),
            "answer_url": answered,
            "answer_method": "POST",
        }
        account = require(self.account.id, "providers.plivo.account")
        call = await self._rest.place(f"/v1/Account/{account}/Call/", json=body)
        return identifier(call, "request_uuid")

    def _call(self, start: CallStart) -> str:
        return f"/v1/Account/{self.account.id}/Call/{start.call_id}/"


def _dialling(asked: DialAsked) -> str:
    """XML that dials; whoever answers hears what the whisper says before the two meet."""
    first = f" confirmSound={attribute(asked.whisper)}" if asked.whisper else ""
    action = f'action={attribute(asked.then)} method="POST"'
    target = element("User" if is_sip(asked.to) else "Number", asked.to)
    return f'<Dial timeout="{RING_S}" {action}{first}>{target}</Dial>'


def _extra_headers(given: Any) -> dict[str, str]:
    """Documented as ``a=1;b=2``, ``a=1,b=2`` and a JSON string; all three are read.

    Raises:
        WireError: they are of another kind, too many or too long.
    """
    if isinstance(given, str) and not given.startswith("{"):
        pairs = (pair.partition("=") for pair in re.split("[,;]", given) if pair.strip())
        given = {name.strip(): value.strip() for name, _, value in pairs}
    elif isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise WireError("start message with odd extra headers") from None
    found = parameters(given)
    return {name.removeprefix("X-PH-"): value for name, value in found.items()}
