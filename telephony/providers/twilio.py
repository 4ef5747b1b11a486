"""Twilio: webhooks, REST, and Media Streams over a socket.

Protocols: https://www.twilio.com/docs/voice/media-streams/websocket-messages,
https://www.twilio.com/docs/voice/twiml, https://www.twilio.com/docs/voice/api/call-resource.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from frontdesk import ForbiddenError, TransferError
from telephony.capabilities import Capabilities
from telephony.provider import Answer, Incoming, Secrets, Webhook
from telephony.providers.streaming import known_id, media_format, stream_id
from telephony.providers.twilio_serializer import TwilioSerializer
from telephony.providers.twilio_signature import is_signed
from telephony.providers.xml_calls import XmlCalls, dial, stream, xml
from telephony.rest import require
from telephony.start import PARAM_CALLED, PARAM_CALLER, CallStart, identifier, number, parameters

_SID = re.compile("CA[0-9a-fA-F]{32}")


class Twilio(XmlCalls):
    """A Twilio account; ``account.id`` is its SID, ``account.secret`` its auth token."""

    name = "twilio"
    api_url = "https://api.twilio.com"
    secrets = Secrets(secret="TWILIO_AUTH_TOKEN")
    serializer_type = TwilioSerializer
    account_is = "the account's SID, AC…"
    connected_first = True
    capabilities: ClassVar = Capabilities(
        name="Twilio",
        audio="µ-law 8 kHz, base64 in JSON",
        clear="clear",
        marks=True,
        digits_in="message",
        hang_up="REST",
        transfer="REST (TwiML Dial)",
        summary=True,
        dials="REST",
        caller_number=True,
        checked_by="X-Twilio-Signature (HMAC-SHA1)",
    )

    def credentials(self) -> tuple[str, str]:
        """The account's SID and auth token."""
        return self.account.id, self.account.secret

    def check(self, hook: Webhook) -> None:
        """Check ``X-Twilio-Signature`` over the URL and the form.

        Raises:
            ForbiddenError: it is missing or wrong, or the form names another account.
        """
        given = hook.headers.get("x-twilio-signature", "")
        if not given:
            raise ForbiddenError("no X-Twilio-Signature")
        if not self.account.secret:
            raise ForbiddenError("TWILIO_AUTH_TOKEN is not set")
        if hook.method != "POST":
            raise ForbiddenError("a Twilio webhook that is no POST; set it to HTTP POST")
        if not is_signed(self.account.secret, hook.url, hook.form, given):
            raise ForbiddenError("X-Twilio-Signature does not match; is server.public_url right?")
        if self.account.id and hook.form.get("AccountSid") != self.account.id:
            raise ForbiddenError("the webhook is of another Twilio account")
        # What is signed has no bounds between fields: part of the next one, moved into the id,
        # would make a call of a webhook that was seen once. An id of its one length cannot.
        if not _SID.fullmatch(hook.form.get("CallSid", "")):
            raise ForbiddenError("a webhook without a Twilio CallSid")

    def connect(self, url: str, call: Incoming) -> Answer:
        """TwiML that connects the call; the numbers go along, since the start message has none."""
        return xml(stream(url, {PARAM_CALLER: call.caller, PARAM_CALLED: call.called}))

    def call_start(self, message: Mapping[str, Any], start: Mapping[str, Any]) -> CallStart:
        """The call; 8 kHz mono µ-law is all that Twilio streams."""
        stream_sid = stream_id(message, start, "streamSid")
        media_format(
            start, "mediaFormat", encoding=("audio/x-mulaw",), sampleRate=(8000,), channels=(1,)
        )
        given = parameters(start.get("customParameters"))
        return CallStart(
            call_id=identifier(start, "callSid"),
            stream_id=stream_sid,
            account_id=known_id(start, "accountSid"),
            caller=number(given.get(PARAM_CALLER, "")),
            called=number(given.get(PARAM_CALLED, "")),
            parameters=MappingProxyType(given),
        )

    async def hang_up(self, start: CallStart) -> None:
        """Set the call's status to completed; the end of ``<Connect>`` does it too."""
        if self.account.id and self.account.secret:
            await self._rest.ask("POST", self._call(start), data={"Status": "completed"})

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Redirect the call to TwiML that dials ``to``; its end is told to ``then``."""
        if not self.account.id:
            raise TransferError("unsupported", "providers.twilio.account is not set")
        twiml = xml(dial(to, then=then, whisper=whisper)).body
        await self._rest.move("POST", self._call(start), data={"Twiml": twiml})

    async def dial(self, to: str, *, answered: str) -> str:
        """Place a call with Twilio's own detection of answering machines off: ours listens."""
        form = {
            "To": to,
            "From": require(self.account.number, "providers.twilio.number"),
            "Url": answered,
        }
        account = require(self.account.id, "providers.twilio.account")
        path = f"/2010-04-01/Accounts/{account}/Calls.json"
        return identifier(await self._rest.place(path, data=form), "sid")

    def _call(self, start: CallStart) -> str:
        return f"/2010-04-01/Accounts/{self.account.id}/Calls/{start.call_id}.json"
