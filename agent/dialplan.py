"""What Asterisk's dialplan asks over HTTP: where a caller goes next, and a UUID for AudioSocket."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response

from agent.arrivals import arrival
from agent.doorman import Doorman, Refused, forbidden
from agent.provider_accounts import account_of
from agent.settings import Settings
from frontdesk import ForbiddenError
from telephony.expected_calls import EXPECTED_CALLS
from telephony.next_steps import NEXT_STEPS
from telephony.provider import Webhook
from telephony.providers.asterisk import Asterisk
from telephony.start import number

_MAX_ID_CHARS = 64


def dialplan(settings: Settings, doorman: Doorman) -> APIRouter:
    """The routes; each asks for the password in ``ASTERISK_PASSWORD``, and refuses without one.

    Raises:
        ConfigError: Asterisk is enabled, and a variable that it needs is not set.
    """
    asterisk = Asterisk(account_of(settings, Asterisk))
    router = APIRouter()

    def check(request: Request) -> None:
        come = arrival(request, settings.server)
        hook = Webhook(request.method, str(request.url), dict(request.headers))
        try:
            doorman.look_at(come, request.headers)
            try:
                asterisk.check(hook)
            except ForbiddenError as error:
                raise forbidden(error) from None
        except Refused as refused:
            doorman.turn_away("dialplan's question", come, refused)
            raise HTTPException(refused.status) from None

    @router.get("/asterisk/next/{call_id}")
    async def next_step(request: Request, call_id: str) -> Response:
        """``dial,TARGET`` or ``hangup``, once the agent has left the call."""
        check(request)
        return _text(NEXT_STEPS.take(call_id[:_MAX_ID_CHARS].replace(".", "-")))

    @router.get("/audiosocket/call")
    async def announce(request: Request) -> Response:
        """A UUID for a call over AudioSocket; ``call`` is that of a caller who comes back."""
        check(request)
        given = {name: number(request.query_params.get(name, "")) for name in _ANNOUNCED}
        call_id = given["call"] if _is_id(given["call"]) else ""
        return _text(
            EXPECTED_CALLS.announce(
                caller=given["caller"],
                called=given["called"],
                returned=given["returned"],
                call_id=call_id,
            )
        )

    return router


_ANNOUNCED = ("caller", "called", "returned", "call")


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _MAX_ID_CHARS and text.replace("-", "").isalnum() and text.isascii()


def _text(answer: str) -> Response:
    return Response(answer, media_type="text/plain")
