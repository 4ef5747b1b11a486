"""jambonz' signatures, as its own library checks them.

https://github.com/jambonz/node-client/blob/main/lib/utils/webhook-response.js.
"""

from __future__ import annotations

import hashlib
import hmac

from frontdesk import ForbiddenError
from telephony.provider import Webhook

MAX_AGE_S = 300.0
_MAX_CHARS = 1024


def jambonz_signature(secret: str, stamp: str, body: bytes) -> str:
    """The ``v1`` of a request's ``Jambonz-Signature``; ``stamp`` is its ``t``."""
    return hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()


def check_signature(secret: str, hook: Webhook, now: float) -> str:
    """Check ``Jambonz-Signature``; the signature, as ours. ``now`` is seconds since the epoch.

    Raises:
        ForbiddenError: it is missing, malformed, wrong or too old.
    """
    given = hook.headers.get("jambonz-signature", "")
    if not given:
        raise ForbiddenError("no Jambonz-Signature")
    if not secret:
        raise ForbiddenError("JAMBONZ_WEBHOOK_SECRET is not set")
    stamp, codes = _parts(given)
    if abs(now - int(stamp)) > MAX_AGE_S:
        raise ForbiddenError("a Jambonz-Signature that is too old, or from the future")
    due = jambonz_signature(secret, stamp, hook.body)
    if not any(hmac.compare_digest(due, code) for code in codes):
        raise ForbiddenError("a wrong Jambonz-Signature")
    return due


def _parts(given: str) -> tuple[str, list[str]]:
    """The time and the codes in a header ``t=…,v1=…``.

    Raises:
        ForbiddenError: it is no such header.
    """
    pairs = [one.strip().partition("=") for one in given.split(",")]
    stamps = [value for name, _, value in pairs if name == "t"]
    codes = [value for name, _, value in pairs if name == "v1" and value.isascii()]
    plain = len(given) <= _MAX_CHARS and len(stamps) == 1 and codes
    if not plain or not (stamps[0].isascii() and stamps[0].isdigit() and len(stamps[0]) < 16):
        raise ForbiddenError("a malformed Jambonz-Signature")
    return stamps[0], codes
