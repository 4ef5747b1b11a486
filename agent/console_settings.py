"""``[console]``: the pages on which the business sees its calls."""

from __future__ import annotations

import os
import secrets
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from agent.section import Section
from frontdesk import ConfigError
from telephony.limits import is_loopback

_MIN_CHARS = 32
_PREFIX = "fdk_"  # log lines are searched for it


def _origin(text: str) -> str:
    parts = urlsplit(text)
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if text and (parts.scheme not in ("http", "https") or not parts.hostname or more):
        raise ValueError("takes https://HOST, with a port perhaps and no path")
    return text.rstrip("/")


class ConsoleSettings(Section):
    """Where the console listens and who may see it. See docs/console.md."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: int = Field(
        default=8090,
        ge=0,
        le=65535,
        description="0 takes any free port, as does one that is not set here and is taken",
    )
    public_url: Annotated[str, AfterValidator(_origin)] = Field(
        default="", description="https://… as browsers see it, where a proxy adds TLS"
    )
    token_variable: str = Field(
        default="", description="the variable of the login token; empty: a new one at each start"
    )
    session_hours: float = Field(default=12.0, gt=0, le=720, description="then log in again")
    logins_per_address: float = Field(
        default=10, gt=0, description="that fail, in a minute; then none is looked at"
    )


def console_token(console: ConsoleSettings) -> str:
    """What one logs in with: that of the variable, or a new one for this start.

    Raises:
        ConfigError: the variable is not set or too short, or others than this machine could reach
            a console whose token nobody chose.
    """
    if not console.token_variable:
        if console.enabled and (console.public_url or not is_loopback(console.host)):
            raise ConfigError(
                "a console that other machines reach needs a token of its own: set "
                "console.token_variable to the name of a variable that holds one, or console.host "
                "to 127.0.0.1 and no console.public_url"
            )
        return _PREFIX + secrets.token_urlsafe(32)
    token = os.environ.get(console.token_variable, "")
    if len(token) < _MIN_CHARS:
        raise ConfigError(
            f"set {console.token_variable} (console.token_variable) to {_MIN_CHARS} characters or "
            "more"
        )
    return token
