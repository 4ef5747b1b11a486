"""One streamed chat completion of an OpenAI-compatible server, over httpx, asynchronous."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from agent.generation.events import Events
from agent.generation.outcome import GenerationError, Outcome
from agent.remote import Server, retry_after

_KIND = "generation"
# What servers answer to a response_format that they do not know: 404 is OpenRouter's word for no
# provider that has it, 501 some proxies'.
_NO_SUCH_FORM = frozenset({400, 404, 422, 501})
# A server that keeps the line open after its last event is not waited for.
_READ_OUT_S = 0.05


@dataclass(frozen=True, slots=True)
class Streamed:
    """A whole reply, with the milliseconds from the request to its first text and to its end."""

    text: str
    first_token_ms: float | None
    full_ms: float


class Chat:
    """Chat completions for the calls of one event loop.

    ``now`` is a clock in seconds.

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """

    def __init__(
        self,
        server: Server,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._address = server.address("/chat/completions", _KIND)
        self._server, self._now = server, now
        self._knows_forms = True
        self._client = httpx.AsyncClient(
            headers=server.headers(_KIND), timeout=server.timeout_s, transport=transport
        )

    async def ask(self, body: dict[str, Any], form: dict[str, Any]) -> Streamed:
        """The reply to ``body``, in the ``form`` given if the server knows such forms.

        One that answers that it does not is asked once more without, and never again with one.

        Raises:
            GenerationError: if it cannot be reached, refuses, drops the line or sends no stream.
        """
        body = {"model": self._server.model, "stream": True, **body}
        if not self._knows_forms:
            return await self._streamed(body)
        try:
            return await self._streamed({**body, "response_format": form})
        except _NoSuchForm:
            reply = await self._streamed(body)
            self._knows_forms = False
            return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _streamed(self, body: dict[str, Any]) -> Streamed:
        start, events = self._now(), Events()
        first: float | None = None
        try:
            async with self._client.stream("POST", self._address, json=body) as answer:
                if not answer.is_success:
                    raise await self._refusal(answer)
                events.is_stream = "json" not in answer.headers.get("Content-Type", "")
                stream = answer.aiter_bytes()
                async for data in stream:
                    events.feed(data)
                    if first is None and events.text:
                        first = self._now()
                    if events.is_over:
                        break
                events.close()
                end = self._now()
                await _read_out(stream)
        except httpx.TimeoutException as problem:
            detail = f"silent for {self._server.timeout_s:g} s"
            raise GenerationError(Outcome.TIMEOUT, detail) from problem
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as problem:
            raise GenerationError(Outcome.UNREACHABLE, f"{self._address}: {problem}") from problem
        except httpx.HTTPError as problem:
            detail = f"{problem!r} after {len(events.text)} characters"
            raise GenerationError(Outcome.DROPPED, detail) from problem
        first_ms = None if first is None else (first - start) * 1000
        return Streamed(events.text, first_ms, (end - start) * 1000)

    async def _refusal(self, answer: httpx.Response) -> GenerationError:
        said = " ".join((await answer.aread()).decode("utf-8", "replace").split())[:200]
        detail = f"{answer.status_code} ({said})"
        status = answer.status_code
        if status in _NO_SUCH_FORM:
            return _NoSuchForm(Outcome.REFUSED, detail)
        if status == httpx.codes.TOO_MANY_REQUESTS or answer.is_server_error:
            return GenerationError(Outcome.BUSY, detail, wait_s=retry_after(answer, 0.0))
        return GenerationError(Outcome.REFUSED, detail)


async def _read_out(stream: AsyncIterator[bytes]) -> None:
    """Read past the end of a reply: only then is its connection used again for the next."""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(_READ_OUT_S):
            async for _ in stream:
                pass


class _NoSuchForm(GenerationError):
    """Perhaps for the form of reply that was asked for."""
