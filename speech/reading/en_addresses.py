"""Phone numbers and addresses of the net, as English words."""

from __future__ import annotations

import re

from speech import numbers as n
from speech.abbreviations import TOP_LEVEL_DOMAINS
from speech.reading.rules import Rule, rule

_I = re.IGNORECASE
_TOP = "com|org|net|edu|gov|io|health|info|biz|app|dev|example|co|in|us|uk|ca|ly|tv|me|abc|sm"


def _email(match: re.Match[str]) -> str:
    return f"{_dotted(match['local'])} at {_dotted(match['host'])}{_path(match['path'])}"


def _web(match: re.Match[str]) -> str:
    return _dotted(match["host"]) + _path(match["path"])


def _path(path: str | None) -> str:
    return "".join(f" slash {_dotted(part)}" for part in (path or "").split("/") if part)


def _dotted(text: str) -> str:
    """``front-desk.example.com`` -> front dash desk dot example dot com."""
    marks = {".": " dot ", "-": " dash ", "_": " underscore ", "+": " plus "}
    parts = re.split(r"([.\-_+])", text)
    words = [marks.get(p) or TOP_LEVEL_DOMAINS.get(p.lower(), p) for p in parts]
    return " ".join(re.sub(r"\d", lambda d: f" {n.digits(d[0])} ", "".join(words)).split())


def _phone(match: re.Match[str]) -> str:
    groups = [group for group in match.group("country", "area", "area2", "office", "line") if group]
    words = n.phone(groups)
    if match["ext"]:
        words += f", extension {n.digits(match['ext'])}"
    return words


def _abroad(match: re.Match[str]) -> str:
    """``+44 20 7946 0958`` -> plus four four, two zero, seven nine four six, …"""
    groups = re.findall(r"\d+", match[0])
    return "plus " + ", ".join(n.digits(group) for group in groups)


def _grouped(match: re.Match[str]) -> str:
    return ", ".join(n.digits(group) for group in re.findall(r"\d+", match[0]))


def _vanity(match: re.Match[str]) -> str:
    """``1-800-FLOWERS`` -> one, eight hundred, FLOWERS."""
    lead = "one, " if match["country"] else ""
    word = re.sub(r"\d", lambda d: n.digits(d[0]), match["word"].replace("-", " "))
    return f"{lead}{n.phone([match['area']])}, {word}"


def _bare(match: re.Match[str]) -> str:
    """Ten digits without a mark, in the groups in which they are dialled."""
    number = match[0]
    return ", ".join(n.digits(part) for part in (number[:3], number[3:6], number[6:]))


RULES: tuple[Rule, ...] = (
    rule(
        r"(?P<local>[\w+-][\w.+-]*)@(?P<host>[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,})(?P<path>(?:/[\w-]+)*)",
        _email,
        needs="@",
    ),
    rule(
        rf"\b(?:https?://)?(?:www\.)?(?P<host>(?:[a-z0-9-]+\.)+(?:{_TOP}))"
        r"(?:(?P<path>/[\w/.-]*\w)|/)?(?![\w@])",
        _web,
        _I,
        needs=r"\.\w",
    ),
    rule(
        r"(?<![\w-])(?:\+?(?P<country>1)[-. ]?)?"
        r"(?:\((?P<area>\d{3})\)[- ]?|(?P<area2>\d{3})[-. ])?"
        r"(?P<office>\d{3})[-.](?P<line>\d{4})\b(?:,? ?(?:ext\.?|x|extension) ?(?P<ext>\d+))?",
        _phone,
        _I,
    ),
    rule(r"\+\d{1,3}(?:[ -]?\(?\d{2,5}\)?){2,5}\b", _abroad),
    rule(
        r"(?<![\w-])(?:(?P<country>1)-)?(?P<area>8\d\d)-(?P<word>(?=[\d-]*[A-Z])[A-Z0-9-]{3,}\w)\b",
        _vanity,
    ),
    rule(r"(?<![\w.,$-])(?:\d{5} \d{5}|0\d{2,4}[- ]\d{6,8})(?![\w-])", _grouped),
    rule(r"(?<![\w.,$-])[2-9]\d{9}(?![\w,-]|\.\d)", _bare),
    rule(r"\b\d{3}-\d\d-\d{4}\b", _grouped),
    rule(r"(?<![\w$.,-])(?:911|988)(?![\w,-]|\.\d)", lambda m: n.digits(m[0])),
    rule(
        r"\b(x(?=\d)|(?:extension|ext\.?|PIN|code|option|zip(?: code)?) ?(?=\d))(\d+)\b",
        lambda m: f"{'extension' if m[1][0] in 'eExX' else m[1].strip()} {n.digits(m[2])}",
        _I,
    ),
)
