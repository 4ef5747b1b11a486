"""The test caller: a real-time telephone call to an agent, over Twilio Media Streams.

This is the skin: it dials, owns the socket and the clock. What is said and how it is timed is in
``telephony.caller_protocol`` and ``telephony.caller_script``.
"""

from __future__ import annotations

import asyncio
import time
import uuid
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from frontdesk import ConfigError, WireError
from telephony.bad_line import BadLine
from telephony.caller_protocol import CallerProtocol
from telephony.caller_script import Pace
from telephony.caller_types import AUDIBLE, CallerTurn, CallResult, Spread, TurnResult
from telephony.recording import load_audio, write_recording
from telephony.twilio_start import PARAM_CALLED, PARAM_CALLER

__all__ = [
    "AUDIBLE",
    "BadLine",
    "CallResult",
    "CallerTurn",
    "Spread",
    "TurnResult",
    "load_audio",
    "place_call",
    "write_recording",
]

WEBHOOK_PATH = "/twilio/voice"
_ACCOUNT_ID = "AC" + "0" * 32
_MAX_MESSAGE_BYTES = 1 << 20
_MAX_TWIML_CHARS = 65536
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


async def place_call(
    url: str,
    turns: Sequence[CallerTurn],
    *,
    caller: str = "+15555550100",
    called: str = "+15555550199",
    answer_timeout_s: float = 6.0,
    wait_greeting: bool = True,
    pause_ms: float = 400.0,
    settle_ms: float = 600.0,
    linger_ms: float = 0.0,
    max_s: float | None = None,
    line: BadLine | None = None,
) -> CallResult:
    """Call the agent at ``url``, say ``turns``, and time what comes back.

    ``url`` is the agent's server (``http://host:port``: its webhook is asked as Twilio would ask
    it, and the TwiML says where to connect) or a media socket (``ws://…``). A reply is over after
    ``settle_ms`` without audible audio; ``pause_ms`` later the caller goes on. A turn whose reply
    has not begun ``answer_timeout_s`` after its end is unanswered. After the last reply the
    caller stays ``linger_ms`` more, for an agent that hangs up itself. ``max_s`` bounds the call;
    by default it leaves half a minute for each reply. ``line`` is what the caller's audio goes
    through on its way to the agent; what comes back is as the agent sent it. The recording then
    has the caller as the agent hears it.

    Whatever goes wrong on the wire ends the call with ``ended_by == "error"`` and one line.

    Raises:
        ConfigError: if ``url`` is neither kind.
    """
    if max_s is None:
        spoken_s = sum(len(turn.audio) for turn in turns) / 8000
        max_s = spoken_s + (len(turns) + 1) * (30 + answer_timeout_s)
    call_id = f"CA{uuid.uuid4().hex}"
    parameters = {PARAM_CALLER: caller, PARAM_CALLED: called}
    pace = Pace(answer_timeout_s, wait_greeting, pause_ms, settle_ms, linger_ms, max_s)
    scheme = urlsplit(url).scheme
    if scheme not in ("http", "https", "ws", "wss") or not urlsplit(url).hostname:
        raise ConfigError(f"{url!r} is neither http://HOST:PORT nor ws://HOST:PORT/PATH")

    error: str | None = None
    if scheme in ("http", "https"):
        try:
            url, parameters = await _ask_webhook(url, call_id, caller, called, answer_timeout_s)
        except (httpx.HTTPError, WireError) as problem:
            error = _one_line("the agent's webhook failed", problem)
    call = CallerProtocol(
        turns, pace, call_id=call_id, account_id=_ACCOUNT_ID, parameters=parameters, line=line
    )
    if error:
        call.fail(error)
        return call.result()
    try:
        async with asyncio.timeout(max_s + 10):
            await _connect(url, call, answer_timeout_s)
    except TimeoutError:
        call.fail("the agent stopped reading or never accepted the call")
    except (OSError, WebSocketException) as problem:
        call.fail(_one_line("cannot connect to the agent", problem))
    return call.result()


def _one_line(what: str, problem: Exception) -> str:
    detail = " ".join(str(problem).split()) or type(problem).__name__
    return f"{what}: {detail}"


async def _connect(url: str, call: CallerProtocol, open_timeout_s: float) -> None:
    # No compression: deflating 50 messages a second costs either side more than the whole call.
    async with (
        connect(
            url,
            compression=None,
            max_size=_MAX_MESSAGE_BYTES,
            open_timeout=open_timeout_s,
            close_timeout=1,
            proxy=None if urlsplit(url).hostname in _LOCAL_HOSTS else True,
        ) as socket,
        asyncio.TaskGroup() as group,
    ):
        listener = group.create_task(_listen(socket, call))
        await _talk(socket, call)
        if not call.over:  # a send failed: the listener reads what is left, then the close
            await listener
        listener.cancel()


async def _talk(socket: ClientConnection, call: CallerProtocol) -> None:
    """Send on the call's schedule until it is over or the socket is closed."""
    try:
        for message in call.begin(time.monotonic()):
            await socket.send(message)
        while not call.over:
            await asyncio.sleep(max(0.0, call.next_due - time.monotonic()))
            for message in call.tick(time.monotonic()):
                await socket.send(message)
    except ConnectionClosed:
        return


async def _listen(socket: ClientConnection, call: CallerProtocol) -> None:
    """Hand over what arrives until the agent closes."""
    try:
        async for message in socket:
            for answer in call.receive(message, time.monotonic()):
                await socket.send(answer)
    except ConnectionClosed:
        pass  # the close code below says how
    except WireError as error:
        call.fail(str(error), time.monotonic())
        return
    call.closed(time.monotonic(), socket.close_code)


async def _ask_webhook(
    url: str, call_id: str, caller: str, called: str, timeout_s: float
) -> tuple[str, dict[str, str]]:
    """Post the webhook's form; the media URL and parameters of the TwiML that comes back.

    Raises:
        httpx.HTTPError: if the server cannot be reached or answers with an error.
        WireError: if the answer is not TwiML with a stream (the agent refused the call).
    """
    parts = urlsplit(url)
    if parts.path in ("", "/"):
        url = parts._replace(path=WEBHOOK_PATH).geturl()
    form = {
        "CallSid": call_id,
        "AccountSid": _ACCOUNT_ID,
        "From": caller,
        "To": called,
        "Caller": caller,
        "Called": called,
        "CallStatus": "ringing",
        "Direction": "inbound",
        "ApiVersion": "2010-04-01",
    }
    # Loading the certificate store blocks the loop for some 20 ms: other calls would stutter.
    verify = parts.scheme == "https"
    trust_env = parts.hostname not in _LOCAL_HOSTS
    async with httpx.AsyncClient(verify=verify, trust_env=trust_env, timeout=timeout_s) as client:
        response = await client.post(url, data=form)
    response.raise_for_status()
    return _parse_twiml(response.text)


def _parse_twiml(text: str) -> tuple[str, dict[str, str]]:
    if len(text) > _MAX_TWIML_CHARS or "<!" in text:  # no document type: no entity expansion
        raise WireError("its answer is not TwiML")
    try:
        stream = ElementTree.fromstring(text).find("./Connect/Stream")
    except ElementTree.ParseError:
        raise WireError("its answer is not TwiML") from None
    stream_url = stream.get("url", "") if stream is not None else ""
    if stream is None or urlsplit(stream_url).scheme not in ("ws", "wss"):
        raise WireError("its answer offers no media stream; the call was refused")
    parameters = {p.get("name", ""): p.get("value", "") for p in stream.findall("Parameter")}
    return stream_url, parameters
