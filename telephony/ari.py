"""A transfer by Asterisk's REST interface (ARI): the caller stays with the agent until it is taken.

Someone is called through the dialplan's ``frontdesk-transfer``; when they pick up, the dialplan's
``frontdesk-join`` takes the caller's channel to them. Nothing here enters the caller's own
channel, so whatever goes wrong leaves it as it was.

Protocol: https://docs.asterisk.org/Asterisk_REST_Interface/ (channels, events).
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from loguru import logger
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from frontdesk import TransferError, WireError
from frontdesk.errors import TransferProblem
from telephony.next_steps import target
from telephony.rest import Rest

RING_S = 25
GRACE_S = 5
"""For Asterisk to say that the ringing has ended."""
_MAX_EVENT_BYTES = 1 << 16
_PROBLEMS: Mapping[int, TransferProblem] = {
    1: "unreachable",  # unallocated number
    3: "unreachable",  # no route to destination
    17: "busy",
    18: "no answer",  # no user responding
    19: "no answer",  # no answer from user (user alerted)
    20: "unreachable",  # subscriber absent
    21: "refused",  # call rejected
    27: "unreachable",  # destination out of order
}
"""ITU-T Q.850 causes; Asterisk's own hang-up causes are these."""


class Ari:
    """One Asterisk's REST interface, ``http://HOST:8088``."""

    def __init__(self, base_url: str, user: str, password: str, *, ring_s: float = RING_S) -> None:
        self._base = base_url.rstrip("/")
        self._ring_s = ring_s
        self._rest = Rest("Asterisk", self._base + "/ari", auth=(user, password))
        login = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        self._headers = {"Authorization": f"Basic {login}"}

    async def transfer(self, channel: str, to: str, caller: str = "") -> None:
        """Call ``to``; once somebody picks up, take ``channel`` (the caller's) to them.

        Raises:
            TransferError: nobody did, by the cause that Asterisk gives; or Asterisk cannot be
                reached, or refused.
        """
        dialled, app = target(to), f"frontdesk-{secrets.token_hex(8)}"
        body = {
            "endpoint": "Local/s@frontdesk-transfer",
            "app": app,
            "callerId": caller,
            "timeout": max(1, int(self._ring_s)),
            "channelId": app,
            "variables": {"__FRONTDESK_TO": dialled, "FRONTDESK_PEER": channel},
        }
        joined = False
        async with self._events(app) as events:
            try:  # from the request on: it may be obeyed though its answer is not awaited
                await self._rest.ask("POST", "/channels", gone=(), json=body)
                await _picked_up(events, app, self._ring_s + GRACE_S)
                where = {"context": "frontdesk-join", "extension": "s", "priority": 1}
                going_on = f"/channels/{app}/continue"
                joined = await self._rest.ask("POST", going_on, json=where) is not None
            finally:
                if not joined:
                    await self._drop(app)
        if not joined:
            raise TransferError("failed", "whoever picked up has hung up")

    async def dial(self, to: str, caller: str = "") -> str:
        """Call ``to``, with ``caller`` shown; whoever picks up is connected to the agent.

        Returns the id that the call will come in with.

        Raises:
            TransferError: ``to`` is no address, or Asterisk cannot be reached, or refused.
        """
        dialled, call_id = target(to), f"frontdesk-{secrets.token_hex(8)}"
        body = {
            "endpoint": "Local/s@frontdesk-transfer",
            "context": "frontdesk",
            "extension": "agent",
            "priority": 1,
            "callerId": caller,
            "timeout": max(1, int(self._ring_s)),
            "channelId": call_id,
            "variables": {"__FRONTDESK_TO": dialled, "__FRONTDESK_CALLED": dialled},
        }
        await self._rest.ask("POST", "/channels", gone=(), json=body)
        return call_id

    async def close(self) -> None:
        """Close the connection."""
        await self._rest.close()

    async def _drop(self, channel: str) -> None:
        try:
            await self._rest.ask("DELETE", f"/channels/{channel}")
        except WireError as error:
            logger.warning("a transfer's call could not be ended: {}", error)

    @asynccontextmanager
    async def _events(self, app: str) -> AsyncIterator[ClientConnection]:
        url = f"{self._base.replace('http', 'ws', 1)}/ari/events?app={app}"
        local = urlsplit(self._base).hostname in ("localhost", "127.0.0.1", "::1")
        try:
            socket = await connect(
                url,
                additional_headers=self._headers,
                max_size=_MAX_EVENT_BYTES,
                open_timeout=5,
                close_timeout=1,
                proxy=None if local else True,
            )
        except (OSError, TimeoutError, WebSocketException) as error:
            kind = type(error).__name__
            raise TransferError("unreachable", f"Asterisk cannot be reached ({kind})") from None
        try:
            yield socket
        finally:
            await socket.close()


async def _picked_up(events: ClientConnection, channel: str, timeout_s: float) -> None:
    """Wait until ``channel`` was answered.

    Raises:
        TransferError: it was not.
    """
    try:
        async with asyncio.timeout(timeout_s):
            async for text in events:
                if _answered(text, channel):
                    return
    except TimeoutError:
        raise TransferError("no answer", "nobody picked up") from None
    except ConnectionClosed:
        pass
    raise TransferError("failed", "Asterisk closed its events")


def _answered(text: str | bytes, channel: str) -> bool:
    try:
        event: Any = json.loads(text)
        about, kind = event["channel"]["id"], event["type"]
    except (ValueError, LookupError, TypeError):
        return False  # of no channel
    if about != channel:
        return False
    if kind == "ChannelDestroyed":
        cause = event.get("cause")
        problem = _PROBLEMS.get(cause, "failed") if isinstance(cause, int) else "failed"
        raise TransferError(problem, f"Asterisk could not connect the transfer ({problem})")
    return bool(kind == "StasisStart")
