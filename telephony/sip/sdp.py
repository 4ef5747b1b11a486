"""The audio stream of an SDP body: where it is, and the same body with it elsewhere (RFC 4566)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from frontdesk import WireError

_STREAM = re.compile(r"m=[^ ]+ \d{1,5}(?:/\d+)?(?: [^ ]+)+ ?")
_KEYS = re.compile(rb"\na=rtpmap:(\d{1,3}) telephone-event/8000", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Audio:
    """Where the sender of an SDP wants its audio: an address, and whether it is encrypted.

    ``keys`` is the payload type of pressed keys (RFC 4733), None where there is none. ``host`` is
    0.0.0.0 in the old way to hold a call.
    """

    host: str
    port: int
    secure: bool
    keys: int | None = None


def audio_of(body: bytes) -> Audio | None:
    """The audio stream that ``body`` describes; None where there is none.

    Raises:
        WireError: it is no SDP that we can take on: a name in place of an address, a bad port.
    """
    session = media = ""
    port, secure, inside, seen = 0, False, False, False
    for line in _lines(body):
        if line.startswith("m="):
            if not _STREAM.fullmatch(line):
                raise WireError("SDP with an odd stream")
            inside = line.startswith("m=audio ") and not seen
            if inside:
                port, secure = _media(line)
                seen = True
        elif line.startswith("c="):
            if inside:
                media = media or _address(line)
            elif not seen and not media:
                session = session or _address(line)
    if not seen:
        return None
    host = media or session
    if not host:
        raise WireError("SDP without an address")
    keys = _KEYS.search(body)
    return Audio(host, port, secure, int(keys.group(1)) if keys else None)


def moved(body: bytes, host: str, port: int) -> bytes:
    """``body`` with its audio at ``host``:``port``, and every other stream turned down."""
    family = "IP6" if ":" in host else "IP4"
    out, first = [], True
    section = "session"
    for line in _lines(body):
        if line.startswith("m="):
            fields = line.split(" ")
            section = "audio" if line.startswith("m=audio ") and first else "other"
            first = first and section != "audio"
            fields[1] = "0" if section == "other" or fields[1] == "0" else str(port)
            out.append(" ".join(fields))
        elif line.startswith("c="):
            out.append(f"c=IN {family} {host}")
        elif line.startswith("o="):
            out.append(" ".join([*line.split(" ")[:4], family, host]))
        elif not line.startswith(("a=rtcp:", "a=candidate:", "a=ice-", "a=rtcp-mux")):
            out.append(line)
    return ("\r\n".join(out) + "\r\n").encode("utf-8", "surrogateescape")


def _lines(body: bytes) -> list[str]:
    text = body.decode("utf-8", "surrogateescape")
    return [line for line in re.split(r"\r\n|\n", text) if line]


def _media(line: str) -> tuple[int, bool]:
    found = re.fullmatch(r"m=audio (\d{1,5})(?:/1)? (RTP/S?AVPF?)((?: \d{1,3}){1,32}) ?", line)
    if not found or int(found.group(1)) > 65535:
        raise WireError("SDP with an odd audio line")
    return int(found.group(1)), found.group(2).startswith("RTP/S")


def _address(line: str) -> str:
    found = re.fullmatch(r"c=IN IP[46] ([0-9A-Fa-f:.]{2,45})(?:/\d+)*\s*", line)
    if not found:
        raise WireError("SDP without a usable address")
    try:
        return str(ipaddress.ip_address(found.group(1)))
    except ValueError:
        raise WireError("SDP without a usable address") from None
