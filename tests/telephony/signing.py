"""Requests as each provider signs them, for tests: written from the documentation, not with our
own checks, so that a fault in one does not hide in the other.
"""

import base64
import hashlib
import hmac
import time
from urllib.parse import urlencode

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from telephony.provider import Account, Webhook

TELNYX_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TOKEN = "0123456789abcdef"
SIGNED = ("exotel", "plivo", "telnyx", "twilio")


def public_key(key):
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return base64.b64encode(raw).decode()


def account(name, **fields):
    """An account whose secret fits :func:`signed`."""
    secret = public_key(TELNYX_KEY) if name == "telnyx" else TOKEN
    return Account(**{"id": "AC1", "secret": secret, "api_key": "key", **fields})


def twilio(token, url, form):
    """https://www.twilio.com/docs/usage/security: URL, then each sorted name and value."""
    text = url + "".join(name + form[name] for name in sorted(form))
    digest = hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


def telnyx(key, body, stamp=None):
    """https://developers.telnyx.com: Ed25519 of ``timestamp|body``."""
    stamp = str(int(time.time())) if stamp is None else stamp
    signature = key.sign(stamp.encode() + b"|" + body)
    return {
        "telnyx-signature-ed25519": base64.b64encode(signature).decode(),
        "telnyx-timestamp": stamp,
    }


def plivo(token, url, form, nonce="31627761595286130198"):
    """https://www.plivo.com/docs/voice/concepts/signature-validation, of a POST.

    ``url`` holds at most one query field: several would have to be sorted.
    """
    fields = "".join(name + form[name] for name in sorted(form))
    text = f"{url}{'.' if '?' in url else '?'}{fields}.{nonce}"
    digest = hmac.new(token.encode(), text.encode(), hashlib.sha256).digest()
    return {
        "x-plivo-signature-v3": base64.b64encode(digest).decode(),
        "x-plivo-signature-v3-nonce": nonce,
    }


def exotel(secret):
    """HTTP Basic, as the applet sends what stands in its URL."""
    pair = base64.b64encode(f"frontdesk:{secret}".encode()).decode()
    return {"authorization": f"Basic {pair}"}


def signed(name, url, form, *, secret=None):
    """The webhook of a provider, signed with ``secret`` or with the account's own."""
    body = urlencode(form).encode()
    if name == "telnyx":
        headers = telnyx(secret or TELNYX_KEY, body)
    elif name == "exotel":
        url, body, headers = f"{url}?{urlencode(form)}", b"", exotel(secret or TOKEN)
        return Webhook("GET", url, headers, form=form)
    else:
        headers = {"twilio": twilio, "plivo": plivo}[name](secret or TOKEN, url, form)
    return Webhook("POST", url, headers, body, form)
