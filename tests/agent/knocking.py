"""What knocks at the front door: every provider's requests, signed as it signs them, or nearly."""

import base64
import json
import time
import uuid
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from telephony.far_ends import FAR_ENDS
from telephony.provider import Webhook
from tests.telephony import signing, signing_json

PUBLIC = "https://desk.example.com"
WEBHOOKS = ("exotel", "jambonz", "plivo", "telnyx", "twilio", "vonage")
SOCKETS = ("asterisk", "genesys")
ASTERISK_SECRET = "a password of Asterisk's"
OTHER_KEY = signing.Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
_FORM = "application/x-www-form-urlencoded"
ENV = {
    "ASTERISK_PASSWORD": ASTERISK_SECRET,
    "EXOTEL_SECRET": signing.TOKEN,
    "GENESYS_API_KEY": "the-api-key",
    "GENESYS_CLIENT_SECRET": signing_json.SECRET,
    "JAMBONZ_API_KEY": "key",
    "JAMBONZ_WEBHOOK_SECRET": signing_json.SECRET,
    "PLIVO_AUTH_TOKEN": signing.TOKEN,
    "TELNYX_API_KEY": "key",
    "TELNYX_PUBLIC_KEY": signing.public_key(signing.TELNYX_KEY),
    "TWILIO_AUTH_TOKEN": signing.TOKEN,
    "VONAGE_PRIVATE_KEY": signing_json.private_key(),
    "VONAGE_SIGNATURE_SECRET": signing_json.SECRET,
}


def enabled(monkeypatch, *names, **server):
    """Settings with the providers ``names`` enabled, behind a public URL, and their variables."""
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    return {
        "providers": {name: {"enabled": True} for name in names},
        "server": {"public_url": PUBLIC, "refusals_per_address": 1e6, **server},
    }


def new_id(name):
    """A call id as the provider makes them."""
    return FAR_ENDS[name].id_prefix + uuid.uuid4().hex


def far_end(name, call_id=None, caller="+15555550100"):
    """The provider's side of one call."""
    return FAR_ENDS[name](call_id or new_id(name), caller=caller, called="+15555550199")


def announced(name, call_id=None, *, secret=None, url=None, now=None, caller="+15555550100"):
    """The webhook of a call, signed."""
    request = far_end(name, call_id, caller).request()
    path, _, query = request.path.partition("?")
    fields = dict(request.form or request.json or parse_qsl(query))
    url = url or PUBLIC + path
    if name in ("vonage", "jambonz"):
        sign = getattr(signing_json, name)
        return sign(url, fields, secret=secret or signing_json.SECRET, now=now)
    if name == "telnyx" and now is not None:
        body = urlencode(fields).encode()
        headers = signing.telnyx(signing.TELNYX_KEY, body, str(int(now)))
        return Webhook("POST", url, headers, body, fields)
    return signing.signed(name, url, fields, secret=secret)


def attacks(name):
    """What looks like a webhook of the provider and is not: each by name."""
    good = announced(name)
    other = OTHER_KEY if name == "telnyx" else base64.b64encode(b"x" * 32).decode()
    found = {
        "unsigned": replace(good, headers={}),
        "another secret": announced(name, secret=other),
        "odd letters": replace(good, headers=dict.fromkeys(good.headers, "éÿ")),
        "empty": replace(good, headers=dict.fromkeys(good.headers, "")),
    }
    if name != "exotel":  # it sends a password, and signs nothing
        found["altered"] = altered(announced(name))
    if name in ("twilio", "plivo"):
        found["of another path"] = replace(
            announced(name, url=f"{PUBLIC}/{name}/other"), url=f"{PUBLIC}/{name}/voice"
        )
        found["of another host"] = replace(
            announced(name, url=f"https://evil.example.com/{name}/voice"),
            url=f"{PUBLIC}/{name}/voice",
        )
    if name in ("telnyx", "vonage", "jambonz"):
        found["an hour old"] = announced(name, now=time.time() - 3600)
        found["of tomorrow"] = announced(name, now=time.time() + 86400)
    return found


def altered(hook):
    """Another caller, under the same signature."""
    if hook.json:
        return replace(hook, body=json.dumps({**hook.json, "from": "+15555550101"}).encode())
    body = dict(parse_qsl(hook.body.decode(), keep_blank_values=True))
    return replace(hook, body=urlencode({**body, "From": "+15555550101"}).encode())


async def post(server, hook, headers=None):
    """Send a webhook to the server, whatever its public URL says."""
    parts = urlsplit(hook.url)
    kind = "application/json" if hook.json else _FORM
    sent = {**({"content-type": kind} if hook.body else {}), **hook.headers, **(headers or {})}
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    raw = [(name, value.encode("latin-1", "replace")) for name, value in sent.items()]
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        return await client.request(hook.method, target, content=hook.body, headers=raw)


def where(server, name, answer):
    """Where a webhook's answer says that the socket is, as it is reached in a test."""
    told = far_end(name).dialled(answer.text)
    assert told.url.startswith(f"wss://desk.example.com/{name}/media/")
    return replace(told, url=told.url.replace("wss://desk.example.com", server.url, 1))


def asterisk_headers(secret=ASTERISK_SECRET, user="frontdesk"):
    """HTTP Basic, as chan_websocket sends it."""
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}


def handshake(name, **changes):
    """The headers of a socket that proves itself."""
    if name == "asterisk":
        return asterisk_headers(**changes)
    return dict(signing_json.genesys(f"{PUBLIC}/genesys/media", **changes).headers)


def dial(server, where, headers=None):
    """A media socket at ``where``: a path, or what :func:`where` gives."""
    url = where if isinstance(where, str) else where.url
    kinds = () if isinstance(where, str) else where.subprotocols
    return connect(
        url.replace("http", "ws", 1) if "://" in url else f"ws://127.0.0.1:{server.port}{url}",
        additional_headers=headers or {},
        subprotocols=kinds or None,
        compression=None,
        proxy=None,
        open_timeout=10,
    )


async def status(dialling):
    """Of a handshake: 101 if it was accepted, and then closed."""
    try:
        async with dialling:
            return 101
    except InvalidStatus as error:
        return error.response.status_code
