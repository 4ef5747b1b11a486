"""Telnyx: TeXML webhooks, REST, and media streaming over a socket.

Protocols: https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream and
.../texml-verbs/dial, https://developers.telnyx.com/api-reference/texml-rest-commands/update-call
and .../initiate-an-outbound-call, https://developers.telnyx.com/api-reference/call-commands/
hangup-call and .../send-dtmf.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from frontdesk import ConfigError, ForbiddenError, TransferError
from telephony.capabilities import Capabilities
from telephony.once import Once
from telephony.provider import Account, Answer, Incoming, Secrets, Webhook
from telephony.providers.streaming import known_id, media_format
from telephony.providers.telnyx_ids import control_id, kept, placed
from telephony.providers.telnyx_serializer import ENCODINGS, TelnyxSerializer, TelnyxStart
from telephony.providers.telnyx_signature import SIGNED_WITHIN_S, check_signature, public_key
from telephony.providers.xml_calls import XmlCalls, dial, stream, xml
from telephony.rest import require
from telephony.start import PARAM_CALLED, PARAM_CALLER, CallStart, identifier, number, parameters

_OVER = (404, 422)  # 422: error 90018, "Call has already ended"


class Telnyx(XmlCalls):
    """A Telnyx account: ``secret`` is its public key (base64), ``api_key`` opens the REST side.

    ``account.options["application"]`` is the TeXML application that places calls.
    """

    name = "telnyx"
    api_url = "https://api.telnyx.com"
    secrets = Secrets(secret="TELNYX_PUBLIC_KEY", api_key="TELNYX_API_KEY")
    serializer_type = TelnyxSerializer
    options = ("application",)
    account_is = "AccountSid of its webhooks"
    capabilities: ClassVar = Capabilities(
        name="Telnyx",
        audio="µ-law or A-law 8 kHz in, µ-law out, base64 in JSON",
        clear="clear",
        marks=True,
        digits_in="message",
        digits_out="REST",
        hang_up="REST",
        transfer="REST (TeXML Dial)",
        summary=True,
        dials="REST",
        caller_number=True,
        checked_by="telnyx-signature-ed25519, at most 5 minutes old",
    )

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._once = Once(2 * SIGNED_WITHIN_S + 1)

    def prepare(self) -> None:
        """The public key must be one.

        Raises:
            ConfigError: it is not.
        """
        super().prepare()
        try:
            public_key(self.account.secret)
        except ForbiddenError as error:
            raise ConfigError(
                f"{error}: copy it from Mission Control, Keys & Credentials"
            ) from None

    def credentials(self) -> str:
        """The API key."""
        return self.account.api_key

    def check(self, hook: Webhook) -> None:
        """Check the Ed25519 signature of the time and the body.

        Neither URL nor query is signed: only a POST with a body proves what it says.

        Raises:
            ForbiddenError: it is missing, wrong, old or came before, or the form names another
                account.
        """
        if hook.method != "POST" or not hook.body:
            raise ForbiddenError("a Telnyx webhook that is no POST of a form; set it to POST")
        now = time.time()
        said = check_signature(self.account.secret, hook, now)
        if self.account.id and hook.form.get("AccountSid") != self.account.id:
            raise ForbiddenError("the webhook is of another Telnyx account")
        self._once.spend(said, now)

    def kept_id(self, fields: Mapping[str, Any], name: str) -> str:
        """Telnyx' call control id; see :func:`kept`."""
        return kept(fields, name)

    def connect(self, url: str, call: Incoming) -> Answer:
        """TeXML that streams both ways; the numbers go along."""
        return xml(
            stream(
                url,
                {PARAM_CALLER: call.caller, PARAM_CALLED: call.called},
                track="inbound_track",
                bidirectionalMode="rtp",
                bidirectionalCodec="PCMU",
            )
        )

    def call_start(self, message: Mapping[str, Any], start: Mapping[str, Any]) -> TelnyxStart:
        """The call, and the law of its audio."""
        media = media_format(
            start, "media_format", encoding=(*ENCODINGS,), sample_rate=(8000,), channels=(1,)
        )
        given = parameters(start.get("custom_parameters"))
        return TelnyxStart(
            call_id=kept(start, "call_control_id"),
            stream_id=identifier(message, "stream_id"),
            account_id=known_id(start, "user_id"),
            caller=number(start.get("from") or given.get(PARAM_CALLER, "")),
            called=number(start.get("to") or given.get(PARAM_CALLED, "")),
            parameters=MappingProxyType(given),
            encoding=ENCODINGS[media.get("encoding", "PCMU")],
        )

    async def hang_up(self, start: CallStart) -> None:
        """The hang-up command; the end of ``<Connect>`` does it too."""
        if self.account.api_key:
            await self._command(start, "hangup")

    async def press(self, start: CallStart, digits: str) -> None:
        """The send-DTMF command.

        Raises:
            WireError: Telnyx did not take it.
        """
        if self.account.api_key:
            await self._command(start, "send_dtmf", digits=digits)

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Replace the call's TeXML by one that dials ``to``; its end is told to ``then``."""
        account = self.account.id or start.account_id
        if not account or not self.account.api_key:
            raise TransferError("unsupported", "providers.telnyx has no account or API key")
        path = f"/v2/texml/Accounts/{account}/Calls/{control_id(start.call_id)}"
        texml = xml(dial(to, then=then, whisper=whisper)).body
        await self._rest.move("POST", path, gone=_OVER, data={"Texml": texml})

    async def dial(self, to: str, *, answered: str) -> str:
        """Place a call through the TeXML application of the settings."""
        account = require(self.account.id, "providers.telnyx.account")
        application = self.account.options.get("application", "")
        body = {
            "ApplicationSid": require(application, "providers.telnyx.options.application"),
            "To": to,
            "From": require(self.account.number, "providers.telnyx.number"),
            "Url": answered,
            "UrlMethod": "POST",
        }
        return placed(await self._rest.place(f"/v2/texml/Accounts/{account}/Calls", json=body))

    async def _command(self, start: CallStart, command: str, **body: str) -> None:
        path = f"/v2/calls/{control_id(start.call_id)}/actions/{command}"
        await self._rest.ask("POST", path, gone=_OVER, json=body)
