"""Whom to dial, written into the URL that a provider asks for it.

Plivo and jambonz take no steps for a call by REST, only where to ask for them.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from frontdesk import WireError

_ASKED = "dial="


@dataclass(frozen=True, slots=True)
class DialAsked:
    """A dial; ``whisper`` and ``then`` as in :meth:`telephony.provider.Provider.transfer`."""

    to: str
    whisper: str
    then: str


def dial_url(asked: DialAsked) -> str:
    """``asked.then`` with the rest in its query.

    In letters that no URL escapes, so that nobody can sign them in another form.
    """
    packed = base64.urlsafe_b64encode(json.dumps([asked.to, asked.whisper]).encode())
    return f"{asked.then}?{_ASKED}{packed.decode('ascii').rstrip('=')}"


def dial_asked(url: str) -> DialAsked | None:
    """What :func:`dial_url` wrote into ``url``; None: it is another URL.

    Raises:
        WireError: it cannot be read.
    """
    parts = urlsplit(url)
    if not parts.query.startswith(_ASKED):
        return None
    packed = parts.query.removeprefix(_ASKED)
    try:
        padded = packed + "=" * (-len(packed) % 4)
        to, whisper = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise WireError("a transfer to nowhere") from None
    if not (isinstance(to, str) and to and isinstance(whisper, str)):
        raise WireError("a transfer to nowhere")
    return DialAsked(to, whisper, parts._replace(query="").geturl())
