"""Tokens for the paths that a provider is told: short-lived, of one use, bound to one call.

A token is ``fdt_`` and 16 bytes of nonce, 8 of expiry and the words it speaks for, signed with
HMAC-SHA256 (RFC 2104) and written as URL-safe base64. It can be read by whoever sees it, so
nothing goes in that is secret; without the secret it can be neither made nor altered.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

from frontdesk import ForbiddenError

Purpose = Literal["media", "whisper", "return"]

PREFIX = "fdt_"
"""What log lines are searched for."""
MAX_CHARS = 300
_NONCE_BYTES = 16
_EXPIRY_BYTES = 8
_MAC_BYTES = 32
_MAX_SPENT = 100_000


class Tokens:
    """Makes tokens and takes each once. ``clock`` is seconds since the epoch.

    Servers that share a ``secret`` take each other's tokens; that a token is taken once holds
    within one server. A spent one is remembered until it would have expired. With ``max_spent``
    remembered none is taken: better no call than one twice.
    """

    def __init__(
        self,
        secret: bytes,
        *,
        clock: Callable[[], float] = time.time,
        max_spent: int = _MAX_SPENT,
    ) -> None:
        self._secret = secret
        self._clock = clock
        self._max_spent = max_spent
        self._spent: OrderedDict[bytes, float] = OrderedDict()

    def mint(
        self, provider: str, call_id: str, ttl_s: float = 60.0, *, purpose: Purpose = "media"
    ) -> str:
        """A token for ``call_id`` at ``provider``, good for ``ttl_s``."""
        expires_ms = int((self._clock() + ttl_s) * 1000)
        words = "\n".join((purpose, provider, call_id)).encode()
        signed = (
            secrets.token_bytes(_NONCE_BYTES) + expires_ms.to_bytes(_EXPIRY_BYTES, "big") + words
        )
        whole = signed + self._mac(signed)
        return PREFIX + base64.urlsafe_b64encode(whole).decode("ascii").rstrip("=")

    def read(self, token: str, provider: str, *, purpose: Purpose = "media") -> str:
        """The call id of a token that is good, and stays so.

        Raises:
            ForbiddenError: as :meth:`spend`.
        """
        return self._good(token, provider, purpose)[0]

    def spend(self, token: str, provider: str, *, purpose: Purpose = "media") -> str:
        """The call id that ``token`` was made for; it is good for nothing from now on.

        Raises:
            ForbiddenError: it is malformed, altered, expired or spent, or was made for another
                provider or purpose.
        """
        call_id, nonce, expires_s = self._good(token, provider, purpose)
        if len(self._spent) >= self._max_spent:
            raise ForbiddenError("too many tokens at once")
        self._spent[nonce] = expires_s
        return call_id

    def _good(self, token: str, provider: str, purpose: Purpose) -> tuple[str, bytes, float]:
        """The call id, nonce and expiry of a token."""
        signed = self._signed(token)
        nonce, rest = signed[:_NONCE_BYTES], signed[_NONCE_BYTES:]
        expires_s = int.from_bytes(rest[:_EXPIRY_BYTES], "big") / 1000
        made_for, _, call_id = rest[_EXPIRY_BYTES:].decode().rpartition("\n")
        if made_for != f"{purpose}\n{provider}":
            raise ForbiddenError("a token of another kind")
        now = self._clock()
        if now >= expires_s:
            raise ForbiddenError("an expired token")
        self._forget(now)
        if nonce in self._spent:
            raise ForbiddenError("a token for the second time")
        return call_id, nonce, expires_s

    def _signed(self, token: str) -> bytes:
        if not token.startswith(PREFIX) or len(token) > MAX_CHARS:
            raise ForbiddenError("not a token")
        body = token.removeprefix(PREFIX)
        try:
            whole = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ForbiddenError("not a token") from None
        signed, mac = whole[:-_MAC_BYTES], whole[-_MAC_BYTES:]
        if not hmac.compare_digest(self._mac(signed), mac):
            raise ForbiddenError("a token that is not ours")
        return signed

    def _mac(self, signed: bytes) -> bytes:
        return hmac.new(self._secret, signed, hashlib.sha256).digest()

    def _forget(self, now: float) -> None:
        """Drop what has expired; all of it only where room is short."""
        while self._spent:
            nonce, expires_s = next(iter(self._spent.items()))
            if expires_s > now:
                break
            del self._spent[nonce]
        if len(self._spent) >= self._max_spent:
            for nonce in [one for one, expires_s in self._spent.items() if expires_s <= now]:
                del self._spent[nonce]
