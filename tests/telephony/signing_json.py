"""Requests as Vonage, jambonz and Genesys sign them, for tests: written from the documentation,
not with our own checks, so that a fault in one does not hide in the other.
"""

import base64
import hashlib
import hmac
import json
import time
import uuid
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from telephony.provider import Account, Webhook

SECRET = "c2VjcmV0IG9mIDMyIGJ5dGVzLCBpbiBiYXNlNjQuLi4="
ACCOUNTS = {
    "vonage": Account(id="app-1", secret=SECRET, options={"api_key": "abcd1234"}),
    "jambonz": Account(id="acc-1", secret=SECRET),
    "genesys": Account(id="org-1", secret=SECRET, api_key="the-api-key"),
}


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(claims, secret=SECRET, header=None):
    """https://www.rfc-editor.org/rfc/rfc7515, HS256."""
    parts = (header or {"alg": "HS256", "typ": "JWT"}, claims)
    signed = ".".join(text(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{text(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest())}"


def vonage_claims(body, now=None, **changes):
    """https://developer.vonage.com/en/getting-started/concepts/webhooks."""
    claims = {
        "iat": int(time.time() if now is None else now),
        "jti": str(uuid.uuid4()),
        "iss": "Vonage",
        "payload_hash": hashlib.sha256(body).hexdigest(),
        "api_key": "abcd1234",
        "application_id": "app-1",
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not ...}


def vonage(url, fields, *, secret=SECRET, now=None, header=None, **changes):
    """A POST of ``fields``, its token's claims changed."""
    body = json.dumps(fields).encode()
    token = jwt(vonage_claims(body, now, **changes), secret, header)
    return Webhook("POST", url, {"authorization": f"Bearer {token}"}, body, json=fields)


def jambonz(url, fields, *, secret=SECRET, now=None):
    """https://docs.jambonz.org/guides/using-the-rest-api/webhook-security: of ``t.body``."""
    body = json.dumps(fields).encode()
    stamp = str(int(time.time() if now is None else now))
    code = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return Webhook("POST", url, {"jambonz-signature": f"t={stamp},v1={code}"}, body, json=fields)


def genesys(url, *, secret=SECRET, key="the-api-key", now=None, organization="org-1", **changes):
    """https://developer.genesys.cloud/devapps/audiohook/security, of a handshake."""
    parts = urlsplit(url)
    headers = {
        "audiohook-organization-id": organization,
        "audiohook-session-id": str(uuid.uuid4()),
        "audiohook-correlation-id": str(uuid.uuid4()),
        "x-api-key": key,
    }
    values = {
        "@request-target": parts.path + (f"?{parts.query}" if parts.query else ""),
        "@authority": parts.netloc,
        **headers,
    }
    created = int(time.time() if now is None else now)
    parameters = {
        "keyid": key,
        "nonce": base64.b64encode(uuid.uuid4().bytes).decode(),
        "alg": "hmac-sha256",
        "created": created,
        "expires": created + 30,
        **changes,
    }
    covered = {name: values[name] for name in parameters.pop("covers", values)}
    given = "(" + " ".join(f'"{name}"' for name in covered) + ")"
    for name, value in parameters.items():
        if value is not ...:
            given += f';{name}="{value}"' if isinstance(value, str) else f";{name}={value}"
    lines = [f'"{name}": {value}' for name, value in covered.items()]
    signed = "\n".join([*lines, f'"@signature-params": {given}'])
    mac = hmac.new(base64.b64decode(secret), signed.encode(), hashlib.sha256).digest()
    headers["signature-input"] = f"sig1={given}"
    headers["signature"] = f"sig1=:{base64.b64encode(mac).decode()}:"
    return Webhook("GET", url, headers)


def private_key():
    """An RSA key in PEM, as a Vonage application has one."""
    key = generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
