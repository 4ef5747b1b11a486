"""JSON Web Tokens (RFC 7519) as telephone providers use them: HS256 read, RS256 written."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

from frontdesk import ConfigError, ForbiddenError

_MAX_CHARS = 8192


def read_hs256(token: str, secret: str) -> dict[str, Any]:
    """The claims of ``token``, whose signature by ``secret`` is right; they may be out of date.

    The algorithm is ours, whatever the token's header says: one that names another is refused.

    Raises:
        ForbiddenError: it is malformed, or signed otherwise.
    """
    if len(token) > _MAX_CHARS or token.count(".") != 2 or not token.isascii() or not secret:
        raise ForbiddenError("not a token")
    signed, _, mac = token.rpartition(".")
    header, _, claims = signed.partition(".")
    if _object(header).get("alg") != "HS256":
        raise ForbiddenError("a token that is not signed with HS256")
    due = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(due, _bytes(mac)):
        raise ForbiddenError("a token that our secret did not sign")
    return _object(claims)


def write_hs256(claims: Mapping[str, Any], secret: str) -> str:
    """A token of ``claims``, signed with ``secret``: what a provider's far end sends."""
    signed = _signed("HS256", claims)
    mac = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{_text(mac)}"


def rs256_writer(pem: str, what: str) -> Callable[[Mapping[str, Any]], str]:
    """What makes tokens of claims, signed with the RSA private key ``pem``, which ``what`` names.

    A key in one line, its line breaks written ``\\n``, is taken too: variables often hold it so.

    Raises:
        ConfigError: it is no such key.
    """
    # Only servers that use RS256 pay for the import, some 40 ms.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.replace("\\n", "\n").encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigError(f"{what} is not a private key in PEM format") from None
    if not isinstance(key, RSAPrivateKey):
        raise ConfigError(f"{what} is not an RSA key")

    def write(claims: Mapping[str, Any]) -> str:
        signed = _signed("RS256", claims)
        return f"{signed}.{_text(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"

    return write


def _signed(algorithm: str, claims: Mapping[str, Any]) -> str:
    parts = ({"alg": algorithm, "typ": "JWT"}, claims)
    return ".".join(_text(json.dumps(part, separators=(",", ":")).encode()) for part in parts)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _bytes(text: str) -> bytes:
    """What ``text`` stands for; of the ways to write it only the one that has no idle bits."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or _text(data) != text:
        raise ForbiddenError("not a token")
    return data


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(_bytes(text))
    except (ValueError, RecursionError):
        raise ForbiddenError("not a token") from None
    if not isinstance(found, dict):
        raise ForbiddenError("not a token")
    return found
