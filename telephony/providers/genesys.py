"""Genesys Cloud's Audio Connector: AudioHook, a WebSocket that proves itself by its handshake.

Protocol: https://developer.genesys.cloud/devapps/audiohook/protocol-reference; signatures:
https://developer.genesys.cloud/devapps/audiohook/security; Genesys' own server:
https://github.com/GenesysCloudBlueprints/audioconnector-server-reference-implementation.
There is no webhook and no REST here: the flow in Architect calls us and goes on behind us.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Callable
from typing import ClassVar
from urllib.parse import urlsplit

from starlette.websockets import WebSocket

from frontdesk import ConfigError, ForbiddenError
from telephony.capabilities import Capabilities
from telephony.http_signature import Signed, is_right, read_signature
from telephony.messages import start_within
from telephony.once import Once
from telephony.provider import Account, Provider, Secrets, Webhook
from telephony.providers.genesys_opening import opened
from telephony.providers.genesys_serializer import GenesysSerializer
from telephony.start import CallStart

COMPONENTS = (
    "@request-target",
    "@authority",
    "audiohook-organization-id",
    "audiohook-session-id",
    "audiohook-correlation-id",
    "x-api-key",
)
"""What a signature must cover."""
MAX_AGE_S = 30.0
_MAX_SKEW_S = 5.0
_MIN_NONCE_CHARS = 22
_PORTS = {"https": ":443", "wss": ":443", "http": ":80", "ws": ":80"}


class Genesys(Provider):
    """An Audio Connector integration.

    ``account.api_key`` and ``account.secret`` are its API key and its client secret (base64), as
    entered in Genesys Cloud; ``account.id``, if given, the organization. ``clock`` is seconds
    since the epoch.
    """

    name = "genesys"
    secrets = Secrets(secret="GENESYS_CLIENT_SECRET", api_key="GENESYS_API_KEY")
    serializer_type = GenesysSerializer
    socket_proves_itself = True
    needs_return_url = False
    # Genesys limits the messages a second; Pipecat sends as fast as speech, here five of them.
    chunk_ms = 200
    capabilities: ClassVar = Capabilities(
        name="Genesys AudioHook",
        audio="µ-law 8 kHz, binary",
        clear="barge_in",
        marks=True,
        digits_in="message",
        hang_up="message (disconnect)",
        transfer="message (disconnect; the Architect flow transfers)",
        summary=False,
        caller_number=True,
        checked_by="HTTP signature of the handshake (HMAC-SHA256, nonce)",
    )

    def __init__(self, account: Account, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(account)
        self._clock = clock
        self._once = Once(MAX_AGE_S + 2 * _MAX_SKEW_S)

    def prepare(self) -> None:
        """The client secret must be one.

        Raises:
            ConfigError: it is not.
        """
        try:
            self._key()
        except ForbiddenError as error:
            raise ConfigError(f"GENESYS_CLIENT_SECRET: {error}") from None

    def check(self, hook: Webhook) -> None:
        """Check the handshake's signature: key, age, what it covers; each nonce counts once.

        Raises:
            ForbiddenError: it is missing, malformed or wrong, too old, of another key or
                organization, or was used before.
        """
        key = self._key()
        signed = read_signature(hook.headers)
        given = hook.headers.get("x-api-key", "")
        if not self.account.api_key or not all(
            hmac.compare_digest(one.encode("utf-8", "replace"), self.account.api_key.encode())
            for one in (given, signed.text_of("keyid"))
        ):
            raise ForbiddenError("an API key that is not ours")
        if signed.text_of("alg") != "hmac-sha256" or not set(COMPONENTS) <= set(signed.components):
            raise ForbiddenError("an HTTP signature that covers too little")
        now = self._clock()
        if not _is_current(signed, now):
            raise ForbiddenError("an HTTP signature that is too old, or from the future")
        nonce = signed.text_of("nonce")
        if len(nonce) < _MIN_NONCE_CHARS:
            raise ForbiddenError("an HTTP signature without a proper nonce")
        if not any(is_right(signed, key, values) for values in _values(hook)):
            raise ForbiddenError("a wrong HTTP signature; is server.public_url right?")
        organization = hook.headers.get("audiohook-organization-id", "")
        if self.account.id and organization != self.account.id:
            raise ForbiddenError("another Genesys organization")
        self._once.spend(nonce, now)

    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """``open``, which is answered; so is a connection probe, which is no call.

        Raises:
            WireError: anything else came, nothing within ``timeout_s``, or a connection probe.
        """
        async with start_within(timeout_s):
            return await opened(socket, max_bytes)

    def _key(self) -> bytes:
        try:
            key = base64.b64decode(self.account.secret, validate=True)
        except (binascii.Error, ValueError):
            raise ForbiddenError("Genesys' client secret is not base64") from None
        if not key:
            raise ForbiddenError("Genesys' client secret is not set")
        return key


def _is_current(signed: Signed, now: float) -> bool:
    """Whether it was made in the last seconds and has not expired."""
    created, expires = signed.seconds_of("created"), signed.seconds_of("expires")
    if created is None or expires is None:
        return False
    return -_MAX_SKEW_S <= now - created <= MAX_AGE_S and now <= expires + _MAX_SKEW_S


def _values(hook: Webhook) -> list[Callable[[str], str | None]]:
    """What finds the value of a component; the authority may be written with its port, or not."""
    parts = urlsplit(hook.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    host, port = parts.netloc.lower(), _PORTS.get(parts.scheme, "")
    bare = host.removesuffix(port)
    return [
        lambda name, own={"@request-target": target, "@authority": one}: (  # type: ignore[misc]
            own.get(name, hook.headers.get(name))
        )
        for one in dict.fromkeys((bare, bare + port, host))
    ]
