"""HTTP message signatures with HMAC-SHA256, as Genesys signs a WebSocket's handshake.

Format: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-message-signatures-11, its fields
by RFC 8941; what Genesys puts in:
https://developer.genesys.cloud/devapps/audiohook/security#http-signature. Strict: one signature,
strings without escapes, no component parameters.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from frontdesk import ForbiddenError

_KEY = r"[a-z*][a-z0-9_.*-]{0,31}"
_PARAMETER = re.compile(rf' *; *({_KEY})=("[^"\\]*"|[0-9]{{1,15}})')
_INPUT = re.compile(
    rf' *({_KEY})=\( *([^()]*?) *\)((?: *; *{_KEY}=(?:"[^"\\]*"|[0-9]{{1,15}}))*) *'
)
_SIGNATURE = re.compile(rf" *({_KEY})=:([A-Za-z0-9+/]+={{0,2}}): *")
_COMPONENT = re.compile(r'"([a-z0-9@_-]+)"')
_MAX_CHARS = 2048


@dataclass(frozen=True, slots=True)
class Signed:
    """What ``Signature-Input`` and ``Signature`` say; ``text`` has what the MAC covers last."""

    components: tuple[str, ...]
    parameters: Mapping[str, str | int]
    text: str
    mac: bytes

    def text_of(self, name: str) -> str:
        """The parameter ``name``; empty where there is none, or a number."""
        value = self.parameters.get(name)
        return value if isinstance(value, str) else ""

    def seconds_of(self, name: str) -> int | None:
        """The parameter ``name``, seconds since the epoch; None where there is none."""
        value = self.parameters.get(name)
        return value if isinstance(value, int) else None


def read_signature(headers: Mapping[str, str]) -> Signed:
    """The signature in ``headers`` (names in lower case), not yet verified.

    Raises:
        ForbiddenError: there is none, there are several, or it is malformed.
    """
    given, mac = headers.get("signature-input", ""), headers.get("signature", "")
    if not given or not mac:
        raise ForbiddenError("no HTTP signature")
    match = _INPUT.fullmatch(given) if len(given) <= _MAX_CHARS else None
    signature = _SIGNATURE.fullmatch(mac) if len(mac) <= _MAX_CHARS else None
    if match is None or signature is None or match[1] != signature[1]:
        raise ForbiddenError("a malformed HTTP signature")
    components = match[2].split()
    if any(_COMPONENT.fullmatch(one) is None for one in components):
        raise ForbiddenError("a malformed HTTP signature")
    found = _PARAMETER.findall(match[3])
    if len({name for name, _ in found}) != len(found) or len(set(components)) != len(components):
        raise ForbiddenError("an HTTP signature that says something twice")
    # Written anew: what a lenient reader might take for another text is not what is verified.
    text = f"({' '.join(components)})" + "".join(f";{name}={raw}" for name, raw in found)
    try:
        code = base64.b64decode(signature[2], validate=True)
    except (binascii.Error, ValueError):
        raise ForbiddenError("a malformed HTTP signature") from None
    return Signed(
        tuple(one[1:-1] for one in components),
        {name: raw[1:-1] if raw.startswith('"') else int(raw) for name, raw in found},
        text,
        code,
    )


def is_right(signed: Signed, key: bytes, value_of: Callable[[str], str | None]) -> bool:
    """Whether ``key`` made the signature of what ``value_of`` finds for each component."""
    lines = []
    for name in signed.components:
        value = value_of(name)
        if value is None:
            return False
        lines.append(f'"{name}": {value.strip()}')
    return hmac.compare_digest(_mac(lines, signed.text, key), signed.mac)


def write_signature(
    values: Sequence[tuple[str, str]], parameters: Mapping[str, str | int], key: bytes
) -> dict[str, str]:
    """The two headers that sign ``values`` (component, value): what a far end sends."""
    names = " ".join(f'"{name}"' for name, _ in values)
    text = f"({names})" + "".join(
        f';{name}="{value}"' if isinstance(value, str) else f";{name}={value}"
        for name, value in parameters.items()
    )
    mac = _mac([f'"{name}": {value}' for name, value in values], text, key)
    return {
        "signature-input": f"sig1={text}",
        "signature": f"sig1=:{base64.b64encode(mac).decode('ascii')}:",
    }


def _mac(lines: list[str], text: str, key: bytes) -> bytes:
    signed = "\n".join([*lines, f'"@signature-params": {text}'])
    return hmac.new(key, signed.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
