"""What a request asks for, read with its limits."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from starlette.requests import ClientDisconnect, Request

MAX_PAGE = 200
"""Rows of one page."""
_MAX_OFFSET = 10_000_000
_MAX_TEXT = 200
_MAX_BODY = 8192
_BODY_S = 10.0
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class BadRequest(Exception):
    """What is asked cannot be read; the text says why in our own words. ``status`` is HTTP's."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def number(request: Request, name: str, default: int, low: int, high: int = _MAX_OFFSET) -> int:
    """A whole number from ``low`` to ``high``.

    Raises:
        BadRequest: it is none.
    """
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise BadRequest(f"{name} takes a whole number from {low} to {high}")
    return int(text)


def words(request: Request, name: str) -> str:
    """Text to look for.

    Raises:
        BadRequest: it is too long, or holds what no database takes.
    """
    text = request.query_params.get(name, "").strip()
    if len(text) > _MAX_TEXT:
        raise BadRequest(f"{name} takes at most {_MAX_TEXT} characters")
    if not _can_be_kept(text):
        raise BadRequest(f"{name} takes text only")
    return text


def one_of(request: Request, name: str, allowed: frozenset[str]) -> str:
    """One of the words in ``allowed``, or ''.

    Raises:
        BadRequest: it is another.
    """
    text = request.query_params.get(name, "")
    if text and text not in allowed:
        raise BadRequest(f"{name} takes one of: {', '.join(sorted(allowed))}")
    return text


def since(request: Request, zone: tzinfo) -> datetime | None:
    """The start of what is asked for; a date is its first moment in ``zone``.

    Raises:
        BadRequest: it is neither date nor time.
    """
    return _moment(request, "since", zone, timedelta(0))


def until(request: Request, zone: tzinfo) -> datetime | None:
    """The end of what is asked for; a date is its last moment in ``zone``.

    Raises:
        BadRequest: it is neither date nor time.
    """
    return _moment(request, "until", zone, timedelta(days=1))


def day(request: Request, name: str) -> date | None:
    """A day, as 2026-12-01.

    Raises:
        BadRequest: it is none.
    """
    text = request.query_params.get(name, "")
    if not text:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{name} takes a date, as 2026-12-01") from None


def _moment(request: Request, name: str, zone: tzinfo, more: timedelta) -> datetime | None:
    text = request.query_params.get(name, "")
    if not text:
        return None
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text) + more
            return datetime.combine(day, time(), zone).astimezone(UTC)
        moment = datetime.fromisoformat(text[:40].replace(" ", "+"))  # an unescaped +00:00
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRequest(f"{name} takes a date, as 2026-12-01, or an ISO time") from None


def call_id(request: Request) -> str:
    """The id in the path.

    Raises:
        BadRequest: it cannot be one; 404, as for one that is not there.
    """
    given: str = request.path_params["id"]
    if not _ID.fullmatch(given):
        raise BadRequest("there is no such call", 404)
    return given


async def body(request: Request) -> dict[str, Any]:
    """The JSON object that is posted.

    Raises:
        BadRequest: it is none, or too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BadRequest("send JSON", 415)
    read = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for chunk in request.stream():
                read += chunk
                if len(read) > _MAX_BODY:
                    raise BadRequest(f"send at most {_MAX_BODY} bytes", 413)
    except (TimeoutError, ClientDisconnect):
        raise BadRequest("that took too long to arrive", 408) from None
    try:
        content = json.loads(read)
    except (ValueError, RecursionError):
        raise BadRequest("that is not JSON") from None
    if not isinstance(content, dict):
        raise BadRequest("send a JSON object")
    return content


def text_of(content: dict[str, Any], name: str, most: int) -> str:
    """A field of text, stripped; '' where there is none.

    Raises:
        BadRequest: it is no text, or over ``most`` characters.
    """
    value = content.get(name, "")
    if not isinstance(value, str) or len(value) > most or not _can_be_kept(value):
        raise BadRequest(f"{name} takes text of at most {most} characters")
    return value.strip()


def _can_be_kept(text: str) -> bool:
    """Whether every database takes it: no NUL, and no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
