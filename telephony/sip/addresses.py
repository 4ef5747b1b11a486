"""The addresses that the gate shows to either side, and those in SIP URIs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from frontdesk import WireError
from telephony.sip.flow import Flow, Kind


@dataclass(frozen=True, slots=True)
class Addresses:
    """``inner`` is the gate's socket for the library, ``library`` the library's (host:port).

    ``public`` gives the host and port that the peer of a flow, or of a kind of transport and an
    address, should see.
    """

    inner: str
    library: str
    public: Callable[[Flow], tuple[str, int]]


def place(uri: str) -> tuple[str, int | None]:
    """Host and port of a SIP URI.

    Raises:
        WireError: it is none.
    """
    found = re.search(r"^sips?:(?:[^@]*@)?(\[[^\]]+\]|[^:;?>]+)(?::(\d{1,5}))?", uri, re.IGNORECASE)
    if not found:
        raise WireError("odd SIP address")
    return found.group(1).strip("[]").lower(), int(found.group(2)) if found.group(2) else None


def shown(contact: str, library: str, here: str, kind: Kind) -> str:
    """The library's Contact, with ``here`` and the peer's transport in it."""
    seen = here if kind == "udp" else f"{here};transport={kind}"
    return re.sub(rf"{re.escape(library)}(?:;transport=\w+)?", seen, contact)


def bracketed(host: str) -> str:
    """``host`` as it stands in a URI."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
