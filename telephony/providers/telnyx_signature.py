"""Telnyx' signatures, as in its own library.

https://github.com/team-telnyx/telnyx-python, ``lib/webhook_verification.py``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

from frontdesk import ForbiddenError
from telephony.provider import Webhook

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNED_WITHIN_S = 300
"""Telnyx's own tolerance between its clock and ours, in both directions."""


def public_key(encoded: str) -> Ed25519PublicKey:
    """The key of ``encoded``, base64.

    Raises:
        ForbiddenError: it is none.
    """
    # Only servers with Telnyx calls pay for the import, some 40 ms.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        raise ForbiddenError("TELNYX_PUBLIC_KEY is no base64 Ed25519 public key") from None


def check_signature(key: str, hook: Webhook, now: float) -> str:
    """Check the Ed25519 signature of ``timestamp|body``; what was signed, as a key to it.

    ``key`` is base64, ``now`` seconds since the epoch. The key is not the signature:
    base64 can write the same one in several ways.

    Raises:
        ForbiddenError: it is missing, wrong or old.
    """
    from cryptography.exceptions import InvalidSignature

    stamp = hook.headers.get("telnyx-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 16):
        raise ForbiddenError("no telnyx-timestamp")
    if abs(now - int(stamp)) > SIGNED_WITHIN_S:
        raise ForbiddenError("telnyx-timestamp is too far from this machine's clock")
    given = hook.headers.get("telnyx-signature-ed25519", "")
    if not given:
        raise ForbiddenError("no telnyx-signature-ed25519")
    signed = f"{stamp}|".encode("ascii") + hook.body
    try:
        public_key(key).verify(base64.b64decode(given, validate=True), signed)
    except (binascii.Error, ValueError, InvalidSignature):
        raise ForbiddenError("telnyx-signature-ed25519 does not match") from None
    return hashlib.sha256(signed).hexdigest()
