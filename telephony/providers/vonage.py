"""Vonage's Voice API: webhooks, call control objects (NCCO), REST, and a WebSocket for the audio.

Protocols: https://developer.vonage.com/en/voice/voice-api/concepts/websockets,
https://developer.vonage.com/en/voice/voice-api/ncco-reference,
https://developer.vonage.com/en/getting-started/concepts/webhooks (signatures).
The Audio Connector of Vonage's Video API sends the same messages, but no telephone calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar

from starlette.websockets import WebSocket

from frontdesk import TransferError
from frontdesk.errors import TransferProblem
from telephony.capabilities import Capabilities
from telephony.messages import parse_message, receive, start_within
from telephony.provider import Account, Answer, Incoming, Provider, Secrets, Webhook
from telephony.providers.vonage_ncco import (
    connect_person,
    connect_socket,
    digits,
    endpoint,
    ncco,
    talk,
)
from telephony.providers.vonage_opening import PARAM_CALL, call_start
from telephony.providers.vonage_serializer import MESSAGE_SAMPLES, RATE_HZ, VonageSerializer
from telephony.providers.vonage_token import RequestToken, WebhookToken
from telephony.rest import Credentials, require
from telephony.start import PARAM_CALLED, PARAM_CALLER, CallStart, identifier, number

# Of the leg that a transfer dials; the others tell of a dial that goes on.
_DONE = "completed"
_PROBLEMS: Mapping[str, TransferProblem] = MappingProxyType(
    {
        "busy": "busy",
        "timeout": "no answer",
        "unanswered": "no answer",
        "cancelled": "no answer",
        "rejected": "refused",
        "failed": "unreachable",
    }
)


class Vonage(Provider):
    """A Vonage application.

    ``account.id`` is the application's id, ``account.secret`` the account's signature secret,
    ``account.api_key`` the application's private key (PEM), ``options["api_key"]`` the account's
    key, which is checked where it is given. ``clock`` is seconds since the epoch.
    """

    name = "vonage"
    api_url = "https://api.nexmo.com"
    secrets = Secrets(secret="VONAGE_SIGNATURE_SECRET", api_key="VONAGE_PRIVATE_KEY")
    serializer_type = VonageSerializer
    options = ("api_key",)
    account_is = "the application's id"
    rate_hz = RATE_HZ
    chunk_ms = 20
    packet_bytes = 2 * MESSAGE_SAMPLES  # Pipecat's silence at the end is one message of a second
    capabilities: ClassVar = Capabilities(
        name="Vonage",
        audio="16-bit linear 16 kHz, binary",
        clear="clear",
        marks=True,
        digits_in="message",
        digits_out="REST",
        hang_up="REST",
        transfer="REST (NCCO connect)",
        summary=True,
        dials="REST",
        caller_number=True,
        checked_by="signed webhook (JWT, HS256, with the body's SHA-256)",
    )

    def __init__(self, account: Account, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(account)
        self._webhooks = WebhookToken(account, clock)
        self._requests = RequestToken(account, clock)

    def prepare(self) -> None:
        """The private key must be one.

        Raises:
            ConfigError: it is not.
        """
        super().prepare()
        if self.account.api_key:
            self._requests.load()

    def credentials(self) -> Credentials:
        """A token of each request's own."""
        return self._requests if self._may_ask() else ""

    def check(self, hook: Webhook) -> None:
        """Check the token in ``Authorization``: signature, age, account, body; each counts once.

        Raises:
            ForbiddenError: it is missing, wrong, too old, of another account, for another body,
                or was used before.
        """
        self._webhooks.check(hook)

    def incoming(self, hook: Webhook) -> Incoming:
        """The call of an answer webhook."""
        fields = hook.json or hook.form
        return Incoming(
            identifier(fields, "uuid"), number(fields.get("from")), number(fields.get("to"))
        )

    def connect(self, url: str, call: Incoming) -> Answer:
        """An NCCO that connects the call; the numbers come back in the socket's first message."""
        numbers = {PARAM_CALLER: call.caller, PARAM_CALLED: call.called}
        return ncco(connect_socket(url, {PARAM_CALL: call.call_id, **numbers}))

    def refuse(self, sentence: str) -> Answer:
        """An NCCO that says ``sentence`` in Vonage's voice; the call ends behind it."""
        return self.whisper(sentence)

    def hung_up(self) -> Answer:
        """An empty NCCO: the call ends."""
        return ncco()

    def meanwhile(self, hook: Webhook) -> Answer | None:
        """Nothing, for each event of the dialled leg before its last."""
        status = _status(hook)
        return None if status == _DONE or status in _PROBLEMS else Answer("", status=204)

    def transferred(self, hook: Webhook) -> bool:
        """By the ``status`` of the dialled leg's last event."""
        return _status(hook) == _DONE

    def transfer_problem(self, hook: Webhook) -> TransferProblem:
        """By the same ``status``."""
        return _PROBLEMS.get(_status(hook), "no answer")

    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """``websocket:connected``."""
        async with start_within(timeout_s):
            message = parse_message(await receive(socket, "websocket:connected"), max_bytes)
        return call_start(message, self.account.id)

    async def hang_up(self, start: CallStart) -> None:
        """Hang the caller's leg up; the end of the NCCO does it too."""
        if self._may_ask():
            await self._rest.ask("PUT", f"/v1/calls/{start.call_id}", json={"action": "hangup"})

    async def press(self, start: CallStart, digits: str) -> None:
        """Play the keys' tones to the caller.

        Raises:
            WireError: Vonage did not take it.
        """
        if self._may_ask():
            path = f"/v1/calls/{start.call_id}/dtmf"
            await self._rest.ask("PUT", path, json={"digits": digits})

    def whisper(self, sentence: str) -> Answer:
        """An NCCO that says ``sentence``."""
        return ncco(talk(sentence))

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Give the call an NCCO that dials ``to``; every event of that goes to ``then``."""
        if not self._may_ask():
            raise TransferError("unsupported", "providers.vonage has no account or private key")
        steps = [connect_person(to, self.account.number, whisper=whisper, then=then)]
        destination = {"type": "ncco", "ncco": steps}
        body = {"action": "transfer", "destination": destination}
        await self._rest.move("PUT", f"/v1/calls/{start.call_id}", json=body)

    async def dial(self, to: str, *, answered: str) -> str:
        """Place a call; Vonage's own detection of answering machines is off: ours listens."""
        require(self.account.id, "providers.vonage.account")
        require(self.account.api_key, "VONAGE_PRIVATE_KEY")
        ours = require(self.account.number, "providers.vonage.number")
        body = {
            "to": [endpoint(to)],
            "from": {"type": "phone", "number": digits(ours)},
            "answer_url": [answered],
            "answer_method": "POST",
        }
        return identifier(await self._rest.place("/v1/calls", json=body), "uuid")

    def _may_ask(self) -> bool:
        return bool(self.account.id and self.account.api_key)


def _status(hook: Webhook) -> str:
    status = (hook.json or hook.form).get("status")
    return status if isinstance(status, str) else ""
