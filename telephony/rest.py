"""Asking a provider's REST interface: bounded, on kept connections, errors in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

from frontdesk import TransferError, WireError
from telephony.messages import parse_message
from telephony.start import MAX_MESSAGE_BYTES

TIMEOUT_S = 5.0
Credentials = tuple[str, str] | str | Callable[[], str]
"""HTTP Basic's name and password; or a bearer's token, or what makes one for each request."""
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class Rest:
    """One provider's REST interface. Redirects are not followed: credentials stay where they go.

    An answer must come whole within ``timeout_s``, and is of ``MAX_MESSAGE_BYTES`` at most.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        auth: Credentials = "",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._name = name
        self._base = base_url.rstrip("/")
        self._auth = auth
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None

    async def ask(
        self, method: str, path: str, *, gone: tuple[int, ...] = (404,), **body: Any
    ) -> str | None:
        """Send one request; ``body`` is httpx's ``data`` or ``json``.

        Returns the answer's text; None where its status is one of ``gone``: the call is over.
        Nothing is sent twice: a request that timed out may have been obeyed.

        Raises:
            TransferError: ``timeout``, ``unreachable``, or ``refused`` with the status.
        """
        try:
            # httpx's own limit is on each read: an answer in drops would never end.
            async with asyncio.timeout(self._timeout_s):
                status, text = await self._exchange(method, path, body)
        except (TimeoutError, httpx.TimeoutException):
            raise TransferError(
                "timeout", f"{self._name} did not answer within {self._timeout_s:g} s"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            kind = type(error).__name__
            raise TransferError("unreachable", f"{self._name} cannot be reached ({kind})") from None
        if status in gone:
            return None
        if status >= 300:
            raise TransferError("refused", f"{self._name} refused ({status})")
        return text

    async def move(
        self, method: str, path: str, *, gone: tuple[int, ...] = (404,), **body: Any
    ) -> None:
        """Ask for something of a call that goes on, as :meth:`ask`.

        Raises:
            TransferError: as :meth:`ask`; ``failed`` where the call is over.
        """
        if await self.ask(method, path, gone=gone, **body) is None:
            raise TransferError("failed", "the call is over")

    async def place(self, path: str, **body: Any) -> dict[str, Any]:
        """Ask by POST for a new call, as :meth:`ask`; the JSON that describes it.

        Raises:
            WireError: as :meth:`ask`, or the answer is no JSON object.
        """
        text = await self.ask("POST", path, gone=(), **body)
        assert text is not None
        return parse_message(text, MAX_MESSAGE_BYTES)

    def open(self) -> httpx.AsyncClient:
        """What asks. The first time loads the certificates, which holds everyone up for 20 ms."""
        if self._client is None:
            parts = urlsplit(self._base)
            self._client = httpx.AsyncClient(
                auth=self._auth if isinstance(self._auth, tuple) else None,
                timeout=self._timeout_s,
                verify=parts.scheme == "https",
                trust_env=parts.hostname not in _LOCAL_HOSTS,
            )
        return self._client

    async def close(self) -> None:
        """Close the connections; they open again when it is asked."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _exchange(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """The status and the text of an answer.

        Raises:
            TransferError: it is too long.
        """
        text = bytearray()
        headers = {"Accept-Encoding": "identity"}  # what is packed has no bound
        token = self._auth() if callable(self._auth) else self._auth
        if isinstance(token, str) and token:
            headers["Authorization"] = f"Bearer {token}"
        url = self._base + path
        async with self.open().stream(method, url, headers=headers, **body) as response:
            async for chunk in response.aiter_raw():
                text += chunk
                if len(text) > MAX_MESSAGE_BYTES:
                    raise TransferError("failed", f"{self._name} answered with too much")
            return response.status_code, text.decode("utf-8", "replace")


def require(account_part: str, what: str) -> str:
    """``account_part``, which ``what`` names in an error.

    Raises:
        WireError: it is empty.
    """
    if not account_part:
        raise WireError(f"{what} is not set")
    return account_part
