"""jambonz: signed webhooks that are answered with verbs, REST, and a WebSocket for the audio.

Protocols: https://docs.jambonz.org/verbs/verbs/listen, https://docs.jambonz.org/reference (REST),
https://github.com/jambonz/schema (verbs and webhooks), signatures as in
https://github.com/jambonz/node-client/blob/main/lib/utils/webhook-response.js.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar

from starlette.websockets import WebSocket

from frontdesk import ForbiddenError, TransferError, WireError
from frontdesk.errors import TransferProblem
from telephony.capabilities import Capabilities
from telephony.messages import parse_message, receive, start_within
from telephony.once import Once
from telephony.provider import Account, Answer, Incoming, Provider, Secrets, Webhook
from telephony.providers.dial_url import DialAsked, dial_asked, dial_url
from telephony.providers.jambonz_serializer import RATE_HZ, JambonzSerializer
from telephony.providers.jambonz_signature import MAX_AGE_S, check_signature
from telephony.providers.jambonz_verbs import HANG_UP, dial, listen, say, target, verbs
from telephony.rest import require
from telephony.start import CallStart, identifier, number

# By the SIP status of a dial that failed; the rest cannot be reached.
_REFUSALS: Mapping[int, TransferProblem] = MappingProxyType(
    {
        403: "refused",
        408: "no answer",
        480: "no answer",
        486: "busy",
        487: "no answer",
        600: "busy",
        603: "refused",
    }
)
# Placing a call wants them; our own voice and recogniser are used all the same.
_SPEECH = {
    "speech_synthesis_vendor": "google",
    "speech_synthesis_language": "en-US",
    "speech_synthesis_voice": "en-US-Standard-C",
    "speech_recognizer_vendor": "google",
    "speech_recognizer_language": "en-US",
}


class Jambonz(Provider):
    """An account on a jambonz server.

    ``account.id`` is its SID, ``account.secret`` its webhook secret, ``account.api_key`` a REST
    key; ``account.api_url`` is the server's, ``https://HOST/api``. ``clock`` is seconds since the
    epoch.
    """

    name = "jambonz"
    api_url = "https://jambonz.cloud/api"
    serializer_type = JambonzSerializer
    subprotocols = ("audio.jambonz.org",)
    account_is = "the account's SID"
    secrets = Secrets(secret="JAMBONZ_WEBHOOK_SECRET", api_key="JAMBONZ_API_KEY")
    capabilities: ClassVar = Capabilities(
        name="jambonz",
        audio="16-bit linear 8 kHz, binary",
        clear="killAudio",
        marks=True,
        digits_in="message",
        hang_up="closing the socket, REST",
        transfer="REST (dial verb)",
        summary=True,
        dials="REST",
        caller_number=True,
        checked_by="Jambonz-Signature (HMAC-SHA256)",
    )

    def __init__(self, account: Account, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(account)
        self._clock = clock
        self._once = Once(2 * MAX_AGE_S + 1)

    def credentials(self) -> str:
        """The API key."""
        return self.account.api_key

    def check(self, hook: Webhook) -> None:
        """Check ``Jambonz-Signature``: HMAC-SHA256 of its time and the body; each counts once.

        Raises:
            ForbiddenError: it is missing, malformed, wrong, too old or was used before, or the
                body names another account.
        """
        now = self._clock()
        due = check_signature(self.account.secret, hook, now)
        if self.account.id and hook.json.get("account_sid") != self.account.id:
            raise ForbiddenError("the webhook is of another jambonz account")
        self._once.spend(due, now)

    def incoming(self, hook: Webhook) -> Incoming:
        """The call of a calling webhook."""
        return Incoming(
            identifier(hook.json, "call_sid"),
            number(hook.json.get("from")),
            number(hook.json.get("to")),
        )

    def connect(self, url: str, call: Incoming) -> Answer:
        """Verbs that stream the call both ways, and hang up behind that."""
        return verbs(listen(url), HANG_UP)

    def refuse(self, sentence: str) -> Answer:
        """Verbs that say ``sentence`` in jambonz' voice and hang up."""
        return verbs(say(sentence), HANG_UP)

    def hung_up(self) -> Answer:
        """A verb that hangs up."""
        return verbs(HANG_UP)

    def meanwhile(self, hook: Webhook) -> Answer | None:
        """Whom to dial: what :meth:`transfer` wrote into the URL, on its first request."""
        asked = dial_asked(hook.url)
        return None if asked is None else verbs(dial(asked, self.account.number))

    def transferred(self, hook: Webhook) -> bool:
        """By the ``dial_call_status`` that comes to a dial's action hook."""
        return hook.json.get("dial_call_status") == "completed"

    def transfer_problem(self, hook: Webhook) -> TransferProblem:
        """By the same status, and by the SIP status where the call failed."""
        status, code = hook.json.get("dial_call_status"), hook.json.get("dial_sip_status")
        if status == "busy":
            return "busy"
        if status != "failed":
            return "no answer"
        return _REFUSALS.get(code, "unreachable") if isinstance(code, int) else "unreachable"

    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """The call's attributes, the one text message that has no type."""
        async with start_within(timeout_s):
            message = parse_message(await receive(socket, "first"), max_bytes)
        for name, due in (("sampleRate", RATE_HZ), ("mixType", "mono")):
            value = message.get(name)
            if isinstance(value, bool) or value != due:
                raise WireError(f"a first message whose {name} is not {due}")
        call_id = identifier(message, "callSid")
        return CallStart(
            call_id=call_id,
            stream_id=call_id,
            account_id=identifier(message, "accountSid") if "accountSid" in message else "",
            caller=number(message.get("from")),
            called=number(message.get("to")),
        )

    async def hang_up(self, start: CallStart) -> None:
        """Set the call's status to completed; the verb behind the closed socket does it too."""
        if self.account.id and self.account.api_key:
            await self._rest.ask("PUT", self._call(start), json={"call_status": "completed"})

    def whisper(self, sentence: str) -> Answer:
        """A verb that says ``sentence``."""
        return verbs(say(sentence))

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Send the call to ``then``, which first answers whom to dial (:meth:`meanwhile`)."""
        if not self.account.id or not self.account.api_key:
            raise TransferError("unsupported", "providers.jambonz has no account or API key")
        hook = {"url": dial_url(DialAsked(to, whisper, then)), "method": "POST"}
        await self._rest.move("PUT", self._call(start), json={"call_hook": hook})

    async def dial(self, to: str, *, answered: str) -> str:
        """Place a call with jambonz' detection of answering machines off: ours listens."""
        account = require(self.account.id, "providers.jambonz.account")
        call = await self._rest.place(
            f"/v1/Accounts/{account}/Calls",
            json={
                "from": require(self.account.number, "providers.jambonz.number"),
                "to": target(to),
                "call_hook": {"url": answered, "method": "POST"},
                "call_status_hook": {"url": answered, "method": "POST"},
                **_SPEECH,
            },
        )
        return identifier(call, "sid")

    def _call(self, start: CallStart) -> str:
        return f"/v1/Accounts/{self.account.id}/Calls/{start.call_id}"
