"""The token that Vonage signs a webhook with, and the one that we sign a request with.

Formats: https://developer.vonage.com/en/getting-started/concepts/webhooks
(decoding signed webhooks) and .../concepts/authentication (JWTs).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from frontdesk import ConfigError, ForbiddenError, TransferError
from telephony.jwt import read_hs256, rs256_writer
from telephony.once import Once
from telephony.provider import Account, Webhook

MAX_AGE_S = 300.0
_MAX_SKEW_S = 30.0


class WebhookToken:
    """Checks webhooks for ``account``; ``clock`` is seconds since the epoch."""

    def __init__(self, account: Account, clock: Callable[[], float]) -> None:
        self._account = account
        self._clock = clock
        self._once = Once(MAX_AGE_S + 2 * _MAX_SKEW_S)

    def check(self, hook: Webhook) -> None:
        """Check the token in ``Authorization``: signature, age, account, body; each counts once.

        Raises:
            ForbiddenError: it is missing, wrong, too old, of another account, for another body,
                or was used before.
        """
        scheme, _, token = hook.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise ForbiddenError("no signed token in Authorization")
        claims = read_hs256(token.strip(), self._account.secret)
        now = self._clock()
        if not _is_current(claims, now):
            raise ForbiddenError("a token that is too old, or from the future")
        own = {
            "iss": "Vonage",
            "application_id": self._account.id,
            "api_key": self._account.options.get("api_key", ""),
        }
        if any(due and claims.get(claim) != due for claim, due in own.items()):
            raise ForbiddenError("a token of another Vonage application")
        given = claims.get("payload_hash")
        if not isinstance(given, str) or not given.isascii():
            raise ForbiddenError("a token that covers no payload")
        if not any(hmac.compare_digest(given.lower(), due) for due in _payload_hashes(hook)):
            raise ForbiddenError("a token for another payload")
        signed, _, _ = token.strip().rpartition(".")
        self._once.spend(hashlib.sha256(signed.encode()).hexdigest(), now)


class RequestToken:
    """Makes a token for each request, signed with the application's private key."""

    def __init__(self, account: Account, clock: Callable[[], float]) -> None:
        self._account = account
        self._clock = clock
        self._write: Callable[[Mapping[str, Any]], str] | None = None

    def load(self) -> Callable[[Mapping[str, Any]], str]:
        """Read the key, which holds everyone up for 50 ms the first time.

        Raises:
            ConfigError: it is none.
        """
        if self._write is None:
            self._write = rs256_writer(self._account.api_key, "VONAGE_PRIVATE_KEY")
        return self._write

    def __call__(self) -> str:
        """A token that is good for a minute.

        Raises:
            TransferError: there is no key to sign it with.
        """
        try:
            write = self.load()
        except ConfigError as error:
            raise TransferError("failed", str(error)) from None
        now = int(self._clock())
        claims = {"application_id": self._account.id, "iat": now, "exp": now + 60}
        return write({**claims, "jti": str(uuid.uuid4())})


def _is_current(claims: Mapping[str, Any], now: float) -> bool:
    """Whether a token was issued in the last minutes and has not expired."""
    issued, expires = claims.get("iat"), claims.get("exp", now)
    if not all(isinstance(t, int | float) and not isinstance(t, bool) for t in (issued, expires)):
        return False
    assert issued is not None
    return -_MAX_SKEW_S <= now - issued <= MAX_AGE_S and now <= expires + _MAX_SKEW_S


def _payload_hashes(hook: Webhook) -> list[str]:
    """What ``payload_hash`` may be: of the body, or of the query's fields as JSON where none is.

    The latter as in https://api.support.vonage.com/hc/en-us/articles/19033783342876.
    """
    if hook.body:
        return [hashlib.sha256(hook.body).hexdigest()]
    fields = json.dumps(dict(hook.form), separators=(",", ":"), ensure_ascii=False)
    return [hashlib.sha256(fields.encode("utf-8", "surrogatepass")).hexdigest()]
