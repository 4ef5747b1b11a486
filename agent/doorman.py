"""Who is let in: the proofs, the limits, and one line in the log for who is not."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from loguru import logger
from starlette.requests import HTTPConnection

from agent.arrivals import Arrival, arrival, foreign_origin
from agent.server_settings import ServerSettings, is_insecure, token_secret
from frontdesk import ForbiddenError
from telephony import local_key
from telephony.limits import Bursts, Rate, by_address, by_number, is_loopback
from telephony.tokens import Tokens

_COUNTED = (400, 403, 404, 408, 413)
"""Refusals for what somebody brought, not for how many they are."""


class Refused(Exception):
    """Somebody is not let in; ``status`` is HTTP's, ``why`` a line of our own words."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Doorman:
    """One a server, for every provider.

    Raises:
        ConfigError: what the settings ask for is not safe, or not there.
    """

    def __init__(self, server: ServerSettings) -> None:
        self.insecure = is_insecure(server)
        self.tokens = Tokens(token_secret(server))
        self.local_key = local_key.new()
        self._server = server
        self._numbers = Rate(server.calls_per_number)
        self._addresses = Rate(server.calls_per_address)
        self._refusals = Rate(server.refusals_per_address)
        self._bursts = Bursts()

    def look_at(self, come: Arrival, headers: Mapping[str, str]) -> bool:
        """Before anything is read of what they bring; whether they need no further proof.

        Raises:
            Refused: a web page sent them, or they were refused too often.
        """
        if foreign_origin(come, self._server):
            raise Refused(403, "an Origin that is not ours")
        if self.vouched_for(come, headers):
            return True
        if come.address is not None and self._refusals.spent(by_address(come.address)):
            raise Refused(429, "too many refused requests from one address")
        return False

    def vouched_for(self, come: Arrival, headers: Mapping[str, str]) -> bool:
        """Whether they need neither signature nor token.

        They are a program on this machine that knows its key; or it was said by name that nobody
        needs them, and they are on this machine with no proxy between, or that is not asked.
        """
        if self.is_local(come, headers):
            return True
        if self._server.insecure == "anywhere":
            return True
        return self.insecure and is_loopback(come.peer) and not come.forwarded

    def is_local(self, come: Arrival, headers: Mapping[str, str]) -> bool:
        """Whether they are a program of this machine that knows its key, with no proxy between."""
        given = headers.get(local_key.HEADER, "")
        # As bytes: compare_digest takes no text beyond ASCII.
        known = hmac.compare_digest(given.encode("utf-8", "replace"), self.local_key.encode())
        return known and is_loopback(come.peer) and not come.forwarded

    def lets_in(self, request: HTTPConnection) -> bool:
        """Whether a request is of a program of this machine, for what only those may ask for."""
        return self.is_local(arrival(request, self._server), request.headers)

    def count_call(self, come: Arrival) -> None:
        """One more call begins from there.

        Raises:
            Refused: that is too many of one address in a minute.
        """
        if come.address is not None and not self._addresses.take(by_address(come.address)):
            raise Refused(503, "too many calls from one address")

    def count_caller(self, caller: str) -> None:
        """One more call begins from that number.

        Raises:
            Refused: that is too many of one number in a minute.
        """
        number = by_number(caller)
        if number is not None and not self._numbers.take(number):
            raise Refused(503, "too many calls from one number")

    def warn(self, line: str) -> None:
        """Log a line of our own words, once a burst."""
        said = self._bursts.line(line)
        if said:
            logger.warning("{}", said)

    def turn_away(self, what: str, come: Arrival, refused: Refused) -> None:
        """Say so, once a burst; whoever brought no proof is counted."""
        self.warn(f"{what} refused: {refused.why}")
        if refused.status in _COUNTED and come.address is not None:
            self._refusals.take(by_address(come.address))


def forbidden(error: ForbiddenError) -> Refused:
    """The refusal of someone without proof."""
    return Refused(403, str(error))
