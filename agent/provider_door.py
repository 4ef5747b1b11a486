"""One provider's way in: its webhook, its media socket, and the requests of a transfer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import get_args

from loguru import logger
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.arrivals import Arrival, arrival, handshake_hook, webhook
from agent.doorman import Doorman, Refused, forbidden
from agent.known_calls import KnownCalls
from agent.settings import Settings
from agent.switchboard import Switchboard
from frontdesk import ConfigError, ForbiddenError, WireError
from frontdesk.errors import TransferProblem
from telephony.provider import Answer, Incoming, Provider, Webhook
from telephony.socket_line import SocketLine
from telephony.start import PARAM_RETURNED, CallStart
from telephony.tokens import Purpose

_BUSY = "All our lines are busy. Please call again in a few minutes."
_WHISPER_S = 300.0
_RETURN_S = 4 * 3600.0
"""The longest that a provider leaves two people connected."""
_MAX_READING = 64
"""Bodies that are not here yet. Over it the oldest is given up: a provider's comes at once."""

Handler = Callable[[Request, Arrival], Awaitable[Answer]]


class ProviderDoor:
    """The requests of one provider. Each proves itself before anything is done for it.

    ``seen`` are ids of calls that were announced before this server was started.
    """

    def __init__(
        self,
        provider: Provider,
        settings: Settings,
        switchboard: Switchboard,
        doorman: Doorman,
        *,
        seen: Iterable[str] = (),
    ) -> None:
        self.provider = provider
        self._name = provider.name
        self._enabled = settings.providers.of(provider.name).enabled
        self._server = settings.server
        self._switchboard = switchboard
        self._doorman = doorman
        self._calls = KnownCalls(seen)
        self._arriving = 0
        self._reading: OrderedDict[asyncio.Timeout, None] = OrderedDict()

    async def voice(self, request: Request) -> Response:
        """A call is announced: connect it to the media socket, or say that the lines are busy."""
        return await self._answered(request, "webhook", self._voice)

    async def whisper(self, request: Request) -> Response:
        """Somebody took a transferred call, and hears what it is about."""
        return await self._answered(request, "whisper request", self._whisper)

    async def returned(self, request: Request) -> Response:
        """A transfer is over: hang up, or go on with the call."""
        return await self._answered(request, "return request", self._returned)

    async def media(self, socket: WebSocket) -> None:
        """The audio of a call: checked before the socket is accepted."""
        come = arrival(socket, self._server)
        try:
            due = self._let_in(socket, come)
        except Refused as refused:
            self._doorman.turn_away("media socket", come, refused)
            await socket.close()  # before it is accepted, that is a 403
            return
        await socket.accept(subprotocol=self._subprotocol(socket))
        try:
            await self._hold(socket, come, due)
        except (WireError, Refused) as error:
            self._doorman.warn(f"media socket refused: {error}")
        except ConfigError as error:
            logger.error("call refused: {}", error)
        await _close(socket)

    async def _answered(self, request: Request, what: str, handler: Handler) -> Response:
        come = arrival(request, self._server)
        try:
            answer = await handler(request, come)
        except Refused as refused:
            self._doorman.turn_away(what, come, refused)
            # What is left of the body is not worth reading.
            return Response(status_code=refused.status, headers={"connection": "close"})
        return Response(answer.body, status_code=answer.status, media_type=answer.media_type)

    async def _voice(self, request: Request, come: Arrival) -> Answer:
        hook = await self._proven(request, come)
        try:
            call = self.provider.incoming(hook)
            self._calls.announce(call.call_id)
        except ForbiddenError as error:
            raise forbidden(error) from None
        except WireError as error:
            raise Refused(400, str(error)) from None
        local = self._doorman.is_local(come, request.headers)
        try:
            self._room(call)
            if not local and not self._is_ours(call):
                self._doorman.count_call(come)
                self._doorman.count_caller(call.caller)
        except Refused as full:
            self._doorman.turn_away("call", come, full)
            return self.provider.refuse(_BUSY)
        return self.provider.connect(self._media_url(come, call.call_id, local), call)

    async def _whisper(self, request: Request, come: Arrival) -> Answer:
        await self._proven(request, come)
        return self.provider.whisper(self._calls.summary(self._spend(request, "whisper")))

    async def _returned(self, request: Request, come: Arrival) -> Answer:
        hook = await self._proven(request, come)
        self._token(request, "return", self._doorman.tokens.read)
        try:
            meanwhile = self.provider.meanwhile(hook)
        except WireError as error:
            raise Refused(400, str(error)) from None
        if meanwhile is not None:
            return meanwhile
        call_id = self._spend(request, "return")
        if self.provider.transferred(hook):
            return self.provider.hung_up()
        try:
            self._room()
        except Refused as full:
            self._doorman.turn_away("returned call", come, full)
            return self.provider.refuse(_BUSY)
        call = self._calls.bring_back(call_id, self.provider.transfer_problem(hook))
        local = self._doorman.is_local(come, request.headers)
        return self.provider.connect(self._media_url(come, call_id, local), call)

    async def _proven(self, request: Request, come: Arrival) -> Webhook:
        """The webhook, once it is sure that the provider sent it.

        Raises:
            Refused: it is not, or cannot be read.
        """
        vouched = self._doorman.look_at(come, request.headers)
        if not vouched and not self._enabled:
            raise Refused(404, f"providers.{self._name} is not enabled")
        try:
            async with self._reading_in_time():
                hook = await webhook(request, come)
            if not vouched:
                self.provider.check(hook)
        except TimeoutError:
            raise Refused(408, "a body that does not arrive") from None
        except ClientDisconnect:
            raise Refused(400, "its sender left before its end") from None
        except ForbiddenError as error:
            raise forbidden(error) from None
        except WireError as error:
            raise Refused(413, str(error)) from None
        return hook

    @asynccontextmanager
    async def _reading_in_time(self) -> AsyncIterator[None]:
        """Raises ``TimeoutError`` for a body that is late, or the latest of very many."""
        async with asyncio.timeout(self._server.request_timeout_s) as due:
            self._reading[due] = None
            if len(self._reading) > _MAX_READING:
                oldest, _ = self._reading.popitem(last=False)
                oldest.reschedule(asyncio.get_running_loop().time())
            try:
                yield
            finally:
                self._reading.pop(due, None)

    def _let_in(self, socket: WebSocket, come: Arrival) -> str | None:
        """The call id that the socket must bring; None: it may bring any.

        Raises:
            Refused: it proves nothing, or there is no room.
        """
        vouched = self._doorman.look_at(come, socket.headers)
        if not vouched and not self._enabled:
            raise Refused(404, f"providers.{self._name} is not enabled")
        calls, most = len(self._switchboard.calls), self._server.max_calls
        if calls >= most:
            raise Refused(503, f"{calls} in progress")
        if calls + self._arriving >= 2 * most:
            raise Refused(503, "too many sockets that have said nothing yet")
        if "token" in socket.path_params:
            return self._spend(socket, "media")
        if vouched:
            return None
        try:
            if not self.provider.socket_proves_itself:
                raise ForbiddenError("no token")
            self.provider.check(handshake_hook(socket, come))
        except ForbiddenError as error:
            raise forbidden(error) from None
        self._doorman.count_call(come)
        return None

    async def _hold(self, socket: WebSocket, come: Arrival, due: str | None) -> None:
        """One call on an accepted socket.

        Raises:
            WireError: it began wrong, or is not the call that it was let in for.
            Refused: its caller calls too often.
            ConfigError: its record cannot be written.
        """
        start = await self._start(socket)
        if due is not None and start.call_id != due:
            raise WireError("the start message names another call than the token")
        local = self._doorman.is_local(come, socket.headers)
        if due is None and not local:
            self._doorman.count_caller(start.caller)
        proven = self.provider.socket_proves_itself
        told = _known(start.parameters.get(PARAM_RETURNED, "")) if proven else ""
        async with self._calls.one(start.call_id, told) as problem:

            def urls(start: CallStart, summary: str) -> tuple[str, str]:
                return self._transfer_urls(come, start, summary, local)

            try:
                await self._switchboard.hold(
                    start,
                    lambda listener: SocketLine(
                        self.provider,
                        socket,
                        start,
                        listener,
                        max_bytes=self._server.max_message_bytes,
                        returns=urls,
                    ),
                    returned=problem,
                )
            except WireError as error:
                raise WireError(f"call {start.call_id}: {error}") from None
            except ConfigError as error:
                raise ConfigError(f"call {start.call_id}: {error}") from None

    async def _start(self, socket: WebSocket) -> CallStart:
        self._arriving += 1
        try:
            return await self.provider.read_start(
                socket,
                timeout_s=self._server.start_timeout_s,
                max_bytes=self._server.max_message_bytes,
            )
        finally:
            self._arriving -= 1

    def _is_ours(self, call: Incoming) -> bool:
        """Whether we placed it: those all come from one number, ours."""
        outbound = self._switchboard.outbound
        return outbound.is_expected(call.call_id, call.caller, call.called)

    def _room(self, call: Incoming | None = None) -> None:
        """Whether there is a line for ``call``, or for one that is back."""
        board = self._switchboard
        if call is None:
            has_line = not board.full
        else:
            has_line = board.has_line_for(call.call_id, call.caller, call.called)
        if not has_line:
            raise Refused(503, f"{len(board.calls)} in progress")

    def _spend(self, asked: Request | WebSocket, purpose: Purpose) -> str:
        return self._token(asked, purpose, self._doorman.tokens.spend)

    def _token(self, asked: Request | WebSocket, purpose: Purpose, take: Callable[..., str]) -> str:
        try:
            return take(asked.path_params["token"], self._name, purpose=purpose)
        except ForbiddenError as error:
            raise forbidden(error) from None

    def _media_url(self, come: Arrival, call_id: str, local: bool) -> str:
        base = come.own_base if local else come.base
        token = self._doorman.tokens.mint(self._name, call_id)
        return f"{base.replace('http', 'ws', 1)}/{self._name}/media/{token}"

    def _transfer_urls(
        self, come: Arrival, start: CallStart, summary: str, local: bool
    ) -> tuple[str, str]:
        base = (come.own_base if local else come.base).replace("ws", "http", 1)
        mint = self._doorman.tokens.mint
        then = mint(self._name, start.call_id, _RETURN_S, purpose="return")
        whisper = ""
        self._calls.leave(start, summary)
        if summary:
            token = mint(self._name, start.call_id, _WHISPER_S, purpose="whisper")
            whisper = f"{base}/{self._name}/whisper/{token}"
        return whisper, f"{base}/{self._name}/return/{then}"

    def _subprotocol(self, socket: WebSocket) -> str | None:
        offered = socket.scope.get("subprotocols", [])
        return next((one for one in self.provider.subprotocols if one in offered), None)


def _known(problem: str) -> str:
    """A transfer's problem as the far end tells it; none of its own words."""
    return problem if problem in ("", *get_args(TransferProblem)) else "failed"


async def _close(socket: WebSocket) -> None:
    """Close politely; the far end may be gone already."""
    try:
        await socket.close()
    except (RuntimeError, WebSocketDisconnect) as error:
        logger.debug("socket was closed before us: {}", error)
