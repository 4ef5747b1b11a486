"""Twilio's signatures: https://www.twilio.com/docs/usage/security."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping

_PORTS = {"https": ":443", "http": ":80"}


def twilio_signature(token: str, url: str, form: Mapping[str, str]) -> str:
    """``X-Twilio-Signature`` of a POST: HMAC-SHA1 of the URL and the sorted form fields."""
    signed = url + "".join(f"{name}{form[name]}" for name in sorted(form))
    digest = hmac.new(token.encode(), signed.encode("utf-8", "surrogatepass"), hashlib.sha1)
    return base64.b64encode(digest.digest()).decode("ascii")


def is_signed(token: str, url: str, form: Mapping[str, str], given: str) -> bool:
    """Whether ``given`` is the signature; Twilio adds the port, or leaves it out, as it likes."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    port = _PORTS.get(scheme, "")
    bare = host.removesuffix(port)
    return any(
        hmac.compare_digest(
            twilio_signature(token, f"{scheme}://{one}{slash}{path}", form).encode(),
            given.encode("utf-8", "surrogatepass"),
        )
        for one in dict.fromkeys((host, bare, bare + port))
    )
