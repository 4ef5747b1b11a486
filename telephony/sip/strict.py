"""What is let through to the library: headers that it needs, each in the form that it can take.

An INVITE without a Contact, with one that has a comma in it, or without a tag in its From makes
``baresip-python`` 0.5.2a3 free memory twice, which ends the process. Nothing that is not known to
be well formed reaches it.
"""

from __future__ import annotations

import ipaddress
import re

from frontdesk import WireError
from telephony.sip.message import Message, tag

_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?)"
_PARAM = r"(?:;[A-Za-z0-9._~%!*+-]{1,64}(?:=[A-Za-z0-9._~%!*+\[\]:/&$-]{1,256})?)"
_SIP = (
    r"sips?:(?:[A-Za-z0-9._~%!*+'()&=$;-]{1,128}(?::[A-Za-z0-9._~%!*+&=$-]{0,64})?@)?"
    rf"{_HOST}(?::[1-9]\d{{0,4}})?{_PARAM}{{0,16}}"
)
_TEL = rf"tel:[0-9A-Za-z+*#().-]{{1,64}}{_PARAM}{{0,16}}"
_NAME = r"(?:\"(?:[^\"\\\x00-\x1f]|\\[ -~]){0,200}\"|[A-Za-z0-9 ._~%!*+'-]{0,100})"
_AFTER = r"(?:\s*;\s*[A-Za-z0-9._~%!*+-]{1,64}(?:\s*=\s*(?:[A-Za-z0-9._~%!*+\[\]:-]{1,256}|" + (
    r"\"[^\"\\\x00-\x1f]{0,256}\"))?){0,16}"
)
_ADDRESS = re.compile(rf"(?:{_NAME}\s*<(?:{_SIP}|{_TEL})>|(?:{_SIP}|{_TEL})){_AFTER}\s*")
_ROUTE = re.compile(rf"{_NAME}\s*<{_SIP}>{_AFTER}\s*")
_CONTACT = re.compile(rf"{_NAME}\s*<({_SIP})>{_AFTER}\s*|({_SIP}){_AFTER}\s*")
_USER = re.compile(r"[A-Za-z0-9._~%!*+'()&=$,#-]{0,128}")
_PLAIN = re.compile(r"[ -~]{0,1024}")
_MAX_ROUTES = 16
_NEEDS_CONTACT = ("INVITE", "SUBSCRIBE", "UPDATE", "REFER")
_PASSED = frozenset(
    "via from to call-id cseq contact max-forwards record-route route content-type content-length "
    "allow supported require event subscription-state refer-to referred-by expires min-expires "
    "www-authenticate proxy-authenticate retry-after reason rseq rack "
    "x-frontdesk-caller x-frontdesk-called x-frontdesk-trunk x-frontdesk-host".split()
)


def plain(user: str) -> str:
    """A user part or number as it may be told on; empty where it has other characters."""
    return user if _USER.fullmatch(user) else ""


def check(message: Message) -> None:
    """Make ``message`` one that the library can take; what it does not need is left out.

    Raises:
        WireError: it cannot be made one.
    """
    message.headers = [(n, v) for n, v in message.headers if n.lower() in _PASSED]
    for name in ("From", "To"):
        if not _ADDRESS.fullmatch(message.get(name)):
            raise WireError(f"odd {name}")
    if not tag(message.get("From")):
        raise WireError("From without a tag")
    routes = message.every("Record-Route")
    if len(routes) > _MAX_ROUTES or not all(_ROUTE.fullmatch(each) for each in routes):
        raise WireError("odd Record-Route")
    _check_contact(message)
    addresses = {"from", "to", "contact", "record-route", "via"}
    for name, value in message.headers:
        if name.lower() not in addresses and not _PLAIN.fullmatch(value):
            raise WireError("odd characters in a SIP header")


def _has_place(uri: str) -> bool:
    """Whether a bracketed address in ``uri`` is one, and its port is."""
    bracketed = re.search(r"\[([^\]]*)\]", uri)
    try:
        if bracketed:
            ipaddress.IPv6Address(bracketed.group(1))
    except ValueError:
        return False
    port = re.search(r":(\d+)(?:;|$)", uri.rpartition("@")[2])
    return port is None or int(port.group(1)) <= 65535


def _check_contact(message: Message) -> None:
    contacts = message.every("Contact")
    if message.cseq_method == "REGISTER":
        if not all(_CONTACT.fullmatch(each) for each in contacts):
            raise WireError("odd Contact")
        return
    found = _CONTACT.fullmatch(contacts[0]) if len(contacts) == 1 else None
    if found is not None and _has_place(found.group(1) or found.group(2)):
        message.put("Contact", [f"<{found.group(1) or found.group(2)}>"])
        return
    needed = message.method in _NEEDS_CONTACT or (
        message.cseq_method == "INVITE" and 101 <= message.status < 300
    )
    if contacts or needed:
        raise WireError("odd Contact")
