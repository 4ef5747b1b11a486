"""Requests to an OpenAI-compatible server over httpx, synchronous: what all that ask one share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from frontdesk import ConfigError, FrontdeskError

# The one retry waits this long when the server names no time, and no longer than this if it does.
_WAIT_S = 1.0
_LONGEST_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is served.

    ``key_variable`` names the environment variable that holds the key ('' for none), ``timeout_s``
    is for one request.
    """

    base_url: str
    model: str
    key_variable: str = ""
    timeout_s: float = 10.0

    def address(self, path: str, kind: str) -> str:
        """Where ``path`` is; ``kind`` is its section of the settings: what the server gives.

        Raises:
            ConfigError: if the address or the model is missing.
        """
        if not self.base_url.startswith(("http://", "https://")) or not self.model:
            raise ConfigError(
                f"[{kind}] needs base_url (http…, up to /v1) and model; set both or neither"
            )
        return self.base_url.rstrip("/") + path

    def headers(self, kind: str) -> dict[str, str]:
        """The key, if there is one.

        Raises:
            ConfigError: if its variable is not set.
        """
        if not self.key_variable:
            return {}
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise ConfigError(f"the {kind} server's key is not set; export {self.key_variable}=…")
        return {"Authorization": f"Bearer {key}"}


class Remote:
    """One ``path`` of a server, for JSON; safe to share between threads.

    ``kind`` is what the server gives, as its section of the settings says, for the lines of its
    errors, and ``error`` what is raised where it fails.

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """

    def __init__(
        self,
        server: Server,
        path: str,
        *,
        kind: str,
        error: type[FrontdeskError],
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = server.address(path, kind)
        self._server, self._kind, self._error, self._sleep = server, kind, error, sleep
        self._client = httpx.Client(
            headers=server.headers(kind), timeout=server.timeout_s, transport=transport
        )

    def post(self, body: Mapping[str, Any]) -> httpx.Response:
        """The answer to a request, which is sent once more if the server is busy.

        Raises:
            FrontdeskError: of the kind that was given, if the server cannot be reached or refuses.
        """
        answer = self._sent(body)
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS or answer.is_server_error:
            self._sleep(min(retry_after(answer, _WAIT_S), _LONGEST_WAIT_S))
            answer = self._sent(body)
        if not answer.is_success:
            raise self.failure(self._refusal(answer))
        return answer

    def failure(self, why: str) -> FrontdeskError:
        """The error to raise; ``why`` goes on from the server's name."""
        return self._error(f"{self._kind} server {self.address} {why}")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _sent(self, body: Mapping[str, Any]) -> httpx.Response:
        try:
            return self._client.post(self.address, json=body)
        except httpx.TimeoutException as problem:
            raise self.failure(
                f"gave no answer within {self._server.timeout_s:g} s; raise timeout_s or see to "
                "the server"
            ) from problem
        except httpx.HTTPError as problem:
            raise self.failure(
                f"cannot be reached ({problem}); check base_url and that the server runs"
            ) from problem

    def _refusal(self, answer: httpx.Response) -> str:
        hints = {
            401: f"check the key in {self._server.key_variable or 'key_variable'}",
            403: f"check the key in {self._server.key_variable or 'key_variable'}",
            404: f"check base_url and the model {self._server.model!r}",
            429: "it is over its limit; try later",
        }
        otherwise = "see the server's log" if answer.is_server_error else "check model and texts"
        hint = hints.get(answer.status_code, otherwise)
        said = " ".join(answer.text.split())[:200]
        return f"answered {answer.status_code} ({said}); {hint}"


def retry_after(answer: httpx.Response, otherwise: float) -> float:
    """Seconds that the server asks to be left alone; ``otherwise`` for none, or a date."""
    try:
        return max(0.0, float(answer.headers.get("Retry-After", otherwise)))
    except ValueError:
        return otherwise
