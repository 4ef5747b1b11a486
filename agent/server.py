"""``frontdesk serve``: the provider's webhook, its media socket, and health."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import parse_qsl

import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from loguru import logger
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams

from agent.call import Call
from agent.engines import Engines
from agent.garbage import set_aside
from agent.records import CallRecord
from agent.settings import Settings
from frontdesk import ConfigError, WireError
from telephony.media_socket import MediaSocketTransport
from telephony.twilio import (
    PARAM_CALLED,
    PARAM_CALLER,
    CallStart,
    GuardedTwilioSerializer,
    mark_message,
    read_start,
    twiml,
    twiml_refusal,
)

# It warns of every frame sent to a caller who has just gone; how a call ends is logged here, once.
logger.disable("pipecat.transports.websocket.fastapi")

VOICE_PATH = "/twilio/voice"
MEDIA_PATH = "/twilio/media"
RATE_HZ = 8000
_MAX_FORM_BYTES = 65536
_BUSY = "All our lines are busy. Please call again in a few minutes."


class Switchboard:
    """The calls in progress. One object a server; one call never touches another."""

    def __init__(self, settings: Settings, engines: Engines) -> None:
        self._settings = settings
        self._engines = engines
        self.calls: set[Call] = set()
        self._arriving = 0

    @property
    def full(self) -> bool:
        """Whether one more call would be over the limit."""
        return len(self.calls) >= self._settings.server.max_calls

    @property
    def crowded(self) -> bool:
        """Whether sockets that have said nothing yet would fill the lines twice over."""
        return len(self.calls) + self._arriving >= 2 * self._settings.server.max_calls

    async def take(self, websocket: WebSocket) -> None:
        """Hold one call on an accepted media socket, from its start message to its end."""
        server = self._settings.server
        self._arriving += 1
        try:
            start = await read_start(
                websocket, timeout_s=server.start_timeout_s, max_bytes=server.max_message_bytes
            )
        except WireError as error:
            logger.warning("media socket refused: {}", error)
            await _close(websocket)
            return
        finally:
            self._arriving -= 1
        if self.full:  # taken while this one was dialling
            logger.warning("call {} refused: {} in progress", start.call_id, len(self.calls))
            await _close(websocket)
            return
        try:
            record = CallRecord(self._settings.records.folder, start.call_id)
        except ConfigError as error:
            logger.error("call {} refused: {}", start.call_id, error)
            await _close(websocket)
            return
        await self._hold(websocket, start, record)

    async def stop(self) -> None:
        """End every call, so that its record says why."""
        for call in list(self.calls):
            await call.end("server stopped")

    async def _hold(self, websocket: WebSocket, start: CallStart, record: CallRecord) -> None:
        async def gone(*_: object) -> None:
            if await call.end("caller hung up") and not serializer.stopped:
                logger.warning("call {}: socket closed without a stop message", start.call_id)

        async def wire_error(error: WireError) -> None:
            logger.warning("call {} ended: {}", start.call_id, error)
            await call.end("wire error")

        async def played(name: str) -> None:
            await call.marked(name)

        serializer = GuardedTwilioSerializer(
            start,
            max_bytes=self._settings.server.max_message_bytes,
            on_stop=gone,
            on_mark=played,
            on_error=wire_error,
        )
        transport = MediaSocketTransport(
            websocket,
            FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                audio_out_10ms_chunks=4,  # half the messages of 20 ms
                audio_out_end_silence_secs=1,  # the last word is played before the hang-up
                audio_out_write_timeout_secs=2.0,
                serializer=serializer,
            ),
        )
        transport.event_handler("on_client_disconnected")(gone)
        marks = partial(mark_message, start.stream_id)
        call = Call(self._settings, self._engines, transport, record, rate_hz=RATE_HZ, marks=marks)
        self.calls.add(call)
        logger.info("call {} started, {} in progress", start.call_id, len(self.calls))
        try:
            await call.run()
        finally:
            self.calls.discard(call)
            if not self.calls:
                await self._engines.give_memory_back()
            logger.info("call {} ended, {} in progress", start.call_id, len(self.calls))


def build_app(settings: Settings, engines: Engines) -> FastAPI:
    """The HTTP and WebSocket application."""
    switchboard = Switchboard(settings, engines)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        set_aside()
        with engines.knowledge.watched(is_idle=lambda: not switchboard.calls):
            yield
        await engines.close()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.switchboard = switchboard

    @app.post(VOICE_PATH)
    async def voice(request: Request) -> Response:
        """Answer a call: connect it to the media socket, or say that the lines are busy."""
        form = await _form(request)
        if form is None:
            logger.warning("webhook refused: not a form of at most {} bytes", _MAX_FORM_BYTES)
            return Response(status_code=413)
        if switchboard.full:
            logger.warning("call refused: {} in progress", len(switchboard.calls))
            return Response(twiml_refusal(_BUSY), media_type="application/xml")
        url = _media_url(settings.server.public_url or str(request.base_url))
        numbers = {PARAM_CALLER: form.get("From", ""), PARAM_CALLED: form.get("To", "")}
        return Response(twiml(url, numbers), media_type="application/xml")

    @app.websocket(MEDIA_PATH)
    async def media(websocket: WebSocket) -> None:
        await websocket.accept()
        if switchboard.full or switchboard.crowded:
            await _close(websocket)
            return
        await switchboard.take(websocket)

    @app.get("/healthz")
    async def healthz() -> dict[str, object]:
        return {"status": "ok", "calls": len(switchboard.calls), **engines.versions()}

    return app


async def _form(request: Request) -> dict[str, str] | None:
    """The fields of a webhook's form; None for another kind of body, or one too large."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_FORM_BYTES:
            return None
    try:
        return dict(parse_qsl(body.decode("utf-8"), max_num_fields=100))
    except ValueError:
        return None


def _media_url(base: str) -> str:
    return base.rstrip("/").replace("http", "ws", 1) + MEDIA_PATH


async def _close(websocket: WebSocket) -> None:
    """Close politely; the far end may be gone already."""
    try:
        await websocket.close()
    except (RuntimeError, WebSocketDisconnect) as error:
        logger.debug("socket was closed before us: {}", error)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, taken before the models load so that a busy port fails at once.

    Raises:
        ConfigError: if the address cannot be taken.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise ConfigError(
            f"cannot listen on {host}:{port} ({error.strerror}); set server.port or stop the "
            "other program"
        ) from error
    return sock


class _Server(uvicorn.Server):
    """Ends the calls before uvicorn closes their sockets under them."""

    def __init__(self, config: uvicorn.Config, switchboard: Switchboard) -> None:
        super().__init__(config)
        self._switchboard = switchboard

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._switchboard.stop()
        await super().shutdown(sockets)


def make_server(app: FastAPI, settings: Settings) -> uvicorn.Server:
    """uvicorn with this server's limits."""
    return _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            # Above our own limit, so that our check names the fault before uvicorn just closes.
            ws_max_size=4 * settings.server.max_message_bytes,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=5,
        ),
        app.state.switchboard,
    )


def serve_on(server: uvicorn.Server, sock: socket.socket) -> None:
    """Serve until stopped, on uvloop where it is installed."""
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[sock]))
