"""SIP messages as text: parsed strictly, changed by header, written anew (RFC 3261, section 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from frontdesk import WireError

MAX_BYTES = 16384
"""Of one message. Telephones and trunks send 1 to 3 kB."""
_MAX_HEADERS = 100
_MAX_LINE = 4096
_START = re.compile(r"(?:SIP/2\.0 [1-6]\d\d .*|[A-Z]{3,16} sips?:[^\s]{1,512} SIP/2\.0)")
_NAME = re.compile(r"[A-Za-z0-9.!%*_+`'~-]{1,64}")
_CALL_ID = re.compile(r"[!-~]{1,128}")
_SPLIT = re.compile(r'((?:[^,"<]|"(?:[^"\\]|\\.)*"|<[^<>]*>)+)')
_USER = re.compile(r"<?\s*(?:sips?:(?:([^@;>\s]{1,128})@)?|tel:([^;>\s]{1,128}))", re.IGNORECASE)
_COMPACT = {
    "v": "Via",
    "f": "From",
    "t": "To",
    "i": "Call-ID",
    "m": "Contact",
    "l": "Content-Length",
    "c": "Content-Type",
    "e": "Content-Encoding",
    "k": "Supported",
    "s": "Subject",
    "r": "Refer-To",
    "b": "Referred-By",
    "o": "Event",
    "u": "Allow-Events",
    "x": "Session-Expires",
    "a": "Accept-Contact",
    "d": "Request-Disposition",
    "j": "Reject-Contact",
    "y": "Identity",
}
_ONCE = ("call-id", "cseq", "from", "to", "max-forwards", "content-length", "content-type")


@dataclass(slots=True)
class Message:
    """A request or a response. ``headers`` keep their order; ``body`` is as it came."""

    start: str
    headers: list[tuple[str, str]] = field(repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def method(self) -> str:
        """Of a request; of a response, empty."""
        return "" if self.start.startswith("SIP/") else self.start.split(" ", 1)[0]

    @property
    def status(self) -> int:
        """Of a response; of a request, 0."""
        return int(self.start[8:11]) if self.start.startswith("SIP/") else 0

    @property
    def uri(self) -> str:
        """The Request-URI."""
        return self.start.split(" ")[1]

    @property
    def call_id(self) -> str:
        """The Call-ID."""
        return self.get("Call-ID")

    @property
    def cseq_method(self) -> str:
        """The method that the CSeq names: of a response, what it answers."""
        return self.get("CSeq").rpartition(" ")[2]

    @property
    def in_dialog(self) -> bool:
        """Whether the To header has a tag."""
        return tag(self.get("To")) != ""

    def get(self, name: str) -> str:
        """The first header ``name``, or empty."""
        low = name.lower()
        return next((v for n, v in self.headers if n.lower() == low), "")

    def every(self, name: str) -> list[str]:
        """Each value of each header ``name``; values behind commas are separate."""
        low = name.lower()
        return [
            part.strip()
            for n, value in self.headers
            if n.lower() == low
            for part in _SPLIT.findall(value)
            if part.strip()
        ]

    def put(self, name: str, values: list[str]) -> None:
        """Have the headers ``name`` be ``values``, where the first stood; none: drop them."""
        low = name.lower()
        at = next((i for i, (n, _) in enumerate(self.headers) if n.lower() == low), 0)
        rest = [(n, v) for n, v in self.headers if n.lower() != low]
        self.headers = [*rest[:at], *((name, v) for v in values), *rest[at:]]

    def encode(self) -> bytes:
        """As it goes on the wire; Content-Length is set."""
        self.put("Content-Length", [str(len(self.body))])
        lines = [self.start, *(f"{n}: {v}" for n, v in self.headers), "", ""]
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + self.body


def parse(data: bytes) -> Message:
    """The message in ``data``: a datagram, or what a stream's framing cut out.

    Raises:
        WireError: it is not one SIP message with the headers that each needs, or too large.
    """
    if len(data) > MAX_BYTES:
        raise WireError("oversized SIP message")
    head, found, body = data.partition(b"\r\n\r\n")
    if not found or b"\0" in head:
        raise WireError("no SIP message")
    text = head.decode("utf-8", "surrogateescape").lstrip("\r\n")
    lines = re.sub(r"\r\n[ \t]+", " ", text).split("\r\n")
    if len(lines) > _MAX_HEADERS or any(len(line) > _MAX_LINE for line in lines):
        raise WireError("SIP message with too many or too long headers")
    if not _START.fullmatch(lines[0]):
        raise WireError("no SIP start line")
    message = Message(lines[0], [_header(line) for line in lines[1:]])
    message.body = _body(message, body)
    _complete(message)
    return message


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    name = name.rstrip()
    if not colon or not _NAME.fullmatch(name) or "\r" in value or "\n" in value:
        raise WireError("malformed SIP header")
    return _COMPACT.get(name.lower(), name), value.strip()


def _body(message: Message, body: bytes) -> bytes:
    length = message.get("Content-Length")
    if not length:
        return body
    if not length.isascii() or not length.isdigit() or int(length) > len(body):
        raise WireError("SIP message cut short")
    return body[: int(length)]


def _complete(message: Message) -> None:
    names = [name.lower() for name, _ in message.headers]
    if any(names.count(name) > 1 for name in _ONCE):
        raise WireError("SIP header given twice")
    if not all(message.get(name) for name in ("Via", "From", "To", "CSeq", "Call-ID")):
        raise WireError("SIP message without a header it needs")
    if not _CALL_ID.fullmatch(message.call_id):
        raise WireError("odd Call-ID")
    if not re.fullmatch(r"\d{1,10} +[A-Z]{3,16}", message.get("CSeq")):
        raise WireError("odd CSeq")
    if message.method and message.cseq_method != message.method:
        raise WireError("CSeq of another method")


def tag(value: str) -> str:
    """The tag of a From or To header; empty where there is none."""
    found = re.search(r";\s*tag=([^;>\s,]{1,128})", value.rpartition(">")[2] or value)
    return found.group(1) if found else ""


def user(value: str) -> str:
    """The user part or the telephone number of an address; empty where there is none."""
    found = _USER.search(value)
    return (found.group(1) or found.group(2) or "") if found else ""


def via_param(value: str, name: str) -> str | None:
    """A parameter of a Via: None where it is missing, empty where it has no value."""
    found = re.search(rf";\s*{name}(?:\s*=\s*([^;\s]*))?\s*(?=;|$)", value, re.IGNORECASE)
    return (found.group(1) or "") if found else None


def via_sent_by(value: str) -> tuple[str, int | None]:
    """The host and port that a Via was sent by.

    Raises:
        WireError: it is malformed.
    """
    found = re.match(
        r"SIP\s*/\s*2\.0\s*/\s*\w+\s+(\[[0-9A-Fa-f:.]+\]|[^\s:;]+)(?::(\d{1,5}))?\s*(?:;|$)", value
    )
    if not found:
        raise WireError("malformed Via")
    return found.group(1), int(found.group(2)) if found.group(2) else None


def reply(request: Message, status: int, reason: str, *more: tuple[str, str]) -> Message:
    """The final response to ``request`` of someone who keeps no dialog (RFC 3261, 8.2.6)."""
    kept = [(n, v) for n, v in request.headers if n in ("Via", "From", "Call-ID", "CSeq")]
    to = request.get("To")
    if not tag(to):
        to += ";tag=fd" + "".join(c for c in request.call_id if c.isalnum())[:16]
    return Message(f"SIP/2.0 {status} {reason}", [*kept, ("To", to), *more])
