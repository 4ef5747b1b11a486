"""The console's port and token, taken before anything slow is done."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from loguru import logger

from agent.console_settings import ConsoleSettings, console_token
from frontdesk import ConfigError
from telephony import local_key
from telephony.limits import is_loopback


@dataclass(frozen=True, slots=True)
class ConsolePort:
    """A listening socket, and what one logs in with."""

    sock: socket.socket
    token: str
    settings: ConsoleSettings

    @property
    def number(self) -> int:
        """The port that was taken."""
        return int(self.sock.getsockname()[1])

    def lines(self) -> list[str]:
        """What to tell the person who starts the server.

        A token that was made for this start goes behind ``#``, which browsers send to nobody.
        """
        console = self.settings
        host = f"[{console.host}]" if ":" in console.host else console.host
        base = console.public_url or f"http://{host}:{self.number}"
        secret = "" if console.token_variable else f"#{self.token}"
        lines = [f"console: {base}/login{secret}"]
        if not is_loopback(console.host) and not console.public_url.startswith("https:"):
            lines.append(
                f"the console on {console.host} is not encrypted: put a proxy with TLS before it "
                "and set console.public_url to https://YOUR-HOST"
            )
        return lines

    @contextlib.contextmanager
    def token_left(self) -> Iterator[None]:
        """Leave a token that nobody chose where only this user can read it, while inside."""
        with contextlib.ExitStack() as stack:
            if not self.settings.token_variable:
                try:
                    stack.enter_context(local_key.published(self.token, self.number))
                except ConfigError as error:
                    logger.warning("the console's token is in the login link only: {}", error)
            yield


def take_port(console: ConsoleSettings) -> ConsolePort | None:
    """Listen; None where the console is off. A port that was not set gives way to any free one.

    Raises:
        ConfigError: the token is not safe, or the address cannot be taken.
    """
    if not console.enabled:
        return None
    token = console_token(console)
    try:
        return ConsolePort(_listen(console.host, console.port), token, console)
    except OSError as error:
        if "port" not in console.model_fields_set:
            with contextlib.suppress(OSError):
                return ConsolePort(_listen(console.host, 0), token, console)
        raise ConfigError(
            f"the console cannot listen on {console.host}:{console.port} ({error.strerror}); set "
            "console.port, or console.enabled = false"
        ) from error


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, or asyncio leaves Nagle on: 40 ms more for every reply.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(64)
    except OSError:
        sock.close()
        raise
    return sock
