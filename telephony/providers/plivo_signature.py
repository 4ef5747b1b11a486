"""Plivo's V3 signatures: https://www.plivo.com/docs/voice/concepts/signature-validation.

What is signed is as in Plivo's own library (https://github.com/plivo/plivo-python,
``plivo/utils/signature_v3.py``), from whose tests ours take their vectors.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit, urlunsplit

from frontdesk import ForbiddenError
from telephony.provider import Webhook

_HEADERS = ("x-plivo-signature-v3", "x-plivo-signature-ma-v3")
"""Signed with the token of the number's own (sub)account, and of the main one."""


def check_signature(token: str, hook: Webhook) -> str:
    """Check the signature over the URL, the form and the nonce; a key to what was signed.

    Raises:
        ForbiddenError: it is missing or wrong.
    """
    given = ",".join(hook.headers[name] for name in _HEADERS if hook.headers.get(name))
    nonce = hook.headers.get("x-plivo-signature-v3-nonce", "")
    if not given or not nonce:
        raise ForbiddenError("no X-Plivo-Signature-V3, or no nonce")
    if not token:
        raise ForbiddenError("PLIVO_AUTH_TOKEN is not set")
    form = {} if hook.method == "GET" else hook.form  # a GET's fields are in the URL
    signature = plivo_signature(token, hook.method, hook.url, nonce, form)
    if not is_signed(signature, given):
        raise ForbiddenError("X-Plivo-Signature-V3 does not match; is server.public_url right?")
    return f"{nonce} {signature}"


def plivo_signature(token: str, method: str, url: str, nonce: str, form: Mapping[str, str]) -> str:
    """``X-Plivo-Signature-V3`` of a request whose body is ``form``.

    The query's fields go in sorted, a GET's ``form`` among them; a POST's follow, sorted too.
    """
    parts = urlsplit(url)
    fields: dict[str, list[str]] = parse_qs(parts.query, keep_blank_values=True)
    body = ""
    if method == "GET":
        for name, value in form.items():
            fields.setdefault(name, [value])
    else:
        body = "".join(f"{name}{form[name]}" for name in sorted(form))
    query = "&".join(f"{name}={value}" for name in sorted(fields) for value in sorted(fields[name]))
    bare = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
    signed = bare + (f"?{query}" if query or body else "") + ("." if query and body else "") + body
    digest = hmac.new(
        token.encode(), f"{signed}.{nonce}".encode("utf-8", "surrogatepass"), "sha256"
    )
    return base64.b64encode(digest.digest()).decode("ascii")


def is_signed(signature: str, given: str) -> bool:
    """Whether ``signature`` is in the header ``given``: one for each token the account has."""
    expected = signature.encode("ascii")
    return any(
        hmac.compare_digest(expected, one.strip().encode("utf-8", "surrogatepass"))
        for one in given.split(",")
    )
