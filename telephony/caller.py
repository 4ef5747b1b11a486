"""The test caller: a real-time telephone call to an agent, over any wire it answers on.

This dials. What is said and how it is timed is in ``telephony.caller_protocol`` and
``telephony.caller_script``, the wire's messages are in ``telephony.far_ends``, and who holds the
socket and the clock is found by the URL's scheme.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import WebSocketException

from frontdesk import ConfigError, WireError
from telephony.bad_line import BadLine
from telephony.caller_protocol import CallerProtocol
from telephony.caller_script import Pace
from telephony.caller_socket import over_websocket
from telephony.caller_tcp import over_tcp
from telephony.caller_types import AUDIBLE, CallerTurn, CallResult, Spread, TurnResult
from telephony.caller_webhook import ask_webhook
from telephony.far_end import Dialled
from telephony.far_ends import FAR_ENDS
from telephony.local_key import headers_for
from telephony.recording import load_audio, write_recording
from telephony.sip.caller import over_sip
from telephony.start import PARAM_CALLED, PARAM_CALLER

__all__ = [
    "AUDIBLE",
    "BadLine",
    "CallResult",
    "CallerTurn",
    "Spread",
    "TurnResult",
    "load_audio",
    "place_call",
    "wire_of",
    "write_recording",
]

Skin = Callable[[Dialled, CallerProtocol, float], Awaitable[None]]
"""Holds a call at an address until it is over; the seconds are for the connection."""

SKINS: dict[str, Skin] = {
    "sip": over_sip,
    "sips": over_sip,
    "tcp": over_tcp,
    "ws": over_websocket,
    "wss": over_websocket,
}
_WEBHOOKS = ("http", "https")
_OWN_SCHEMES = {"sip": "sip", "sips": "sip", "tcp": "audiosocket"}
"""Schemes that are one wire's alone."""


def wire_of(url: str) -> str | None:
    """The wire that the scheme of ``url`` stands for; None where it may be several."""
    return _OWN_SCHEMES.get(url.partition(":")[0].lower())


async def place_call(
    url: str,
    turns: Sequence[CallerTurn],
    *,
    wire: str = "twilio",
    caller: str = "+15555550100",
    called: str = "+15555550199",
    headers: Mapping[str, str] | None = None,
    answer_timeout_s: float = 6.0,
    wait_greeting: bool = True,
    pause_ms: float = 400.0,
    settle_ms: float = 600.0,
    linger_ms: float = 0.0,
    max_s: float | None = None,
    line: BadLine | None = None,
) -> CallResult:
    """Call the agent at ``url``, say ``turns``, and time what comes back.

    ``url`` is the agent's server (``http://host:port``: its webhook is asked as the provider of
    ``wire`` would ask it, and the answer says where to connect) or a media socket (``ws://…``).
    ``headers`` go along with the webhook and the socket; without any, a server of ours on this
    machine is shown the local key. A reply is over after ``settle_ms``
    without audible audio; ``pause_ms`` later the caller goes on. A turn whose reply has not begun
    ``answer_timeout_s`` after its end is unanswered. After the last reply the caller stays
    ``linger_ms`` more, for an agent that hangs up itself. ``max_s`` bounds the call; by default it
    leaves half a minute for each reply. ``line`` is what the caller's audio goes through on its
    way to the agent; what comes back is as the agent sent it. The recording then has the caller
    as the agent hears it.

    Whatever goes wrong on the wire ends the call with ``ended_by == "error"`` and one line.

    Raises:
        ConfigError: if ``url`` or ``wire`` is of no known kind, or they are not of one kind.
    """
    scheme = _check(url, wire)
    if max_s is None:
        spoken_s = sum(len(turn.audio) for turn in turns) / 8000
        max_s = spoken_s + (len(turns) + 1) * (30 + answer_timeout_s)
    kind = FAR_ENDS[wire]
    far_end = kind(f"{kind.id_prefix}{uuid.uuid4().hex}", caller=caller, called=called)
    pace = Pace(answer_timeout_s, wait_greeting, pause_ms, settle_ms, linger_ms, max_s)
    where, error = far_end.socket(url), None
    if scheme in _WEBHOOKS:
        try:
            where = await ask_webhook(url, far_end, _headers(url, headers), answer_timeout_s)
        except (httpx.HTTPError, WireError) as problem:
            error = _one_line("the agent's webhook failed", problem)
    else:
        numbers = {PARAM_CALLER: caller, PARAM_CALLED: called}
        where = replace(where, parameters={**numbers, **where.parameters})
    where = replace(where, headers={**where.headers, **_headers(where.url, headers)})
    call = CallerProtocol(turns, pace, far_end=far_end, parameters=where.parameters, line=line)
    if error:
        call.fail(error)
        return call.result()
    try:
        async with asyncio.timeout(max_s + 10):
            await SKINS[urlsplit(where.url).scheme](where, call, answer_timeout_s)
    except TimeoutError:
        call.fail("the agent stopped reading or never accepted the call")
    except (OSError, WebSocketException, WireError) as problem:
        call.fail(_one_line("cannot connect to the agent", problem))
    return call.result()


def _check(url: str, wire: str) -> str:
    """The scheme of ``url``, which the wire can be called by."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname and (parts.port or parts.scheme != "tcp"))
    except ValueError:  # a port that is none, brackets that are not closed
        raise ConfigError(_no_address(url)) from None
    if parts.scheme in ("sip", "sips"):
        has_host = bool(parts.path)
    if parts.scheme not in (*_WEBHOOKS, *SKINS) or not has_host:
        raise ConfigError(_no_address(url))
    if wire not in FAR_ENDS:
        raise ConfigError(f"no wire {wire!r}; there are {', '.join(sorted(FAR_ENDS))}")
    own = wire_of(url)
    if (own or wire) != wire or (own is None and wire in _OWN_SCHEMES.values()):
        schemes = [f"{name}:…" for name, of in _OWN_SCHEMES.items() if of == wire] or [
            "http://…",
            "ws://…",
        ]
        raise ConfigError(f"{wire} is called at {' or '.join(schemes)}, not at {url!r}")
    return parts.scheme


def _no_address(url: str) -> str:
    return (
        f"{url!r} is no address of an agent: http://HOST:PORT, ws://HOST:PORT/PATH, "
        "sip:NAME@HOST:PORT or tcp://HOST:PORT"
    )


def _headers(url: str, given: Mapping[str, str] | None) -> Mapping[str, str]:
    """What goes along to ``url``; the local key never leaves this machine."""
    return headers_for(url) if given is None else given


def _one_line(what: str, problem: Exception) -> str:
    detail = " ".join(str(problem).split()) or type(problem).__name__
    return f"{what}: {detail}"
