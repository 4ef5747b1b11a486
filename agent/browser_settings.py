"""``[browser]``: the page on which people talk to the agent without a telephone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.section import Section
from agent.server_settings import ServerSettings
from frontdesk import ConfigError
from telephony.limits import is_loopback


class BrowserSettings(Section):
    """The page at ``/talk``."""

    page: Literal["auto", "on", "off"] = Field(
        default="auto", description="auto: only where nobody else's machine can reach it"
    )
    title: str = Field(default="Talk to the front desk", min_length=1, max_length=80)
    passages: bool = Field(
        default=True, description="an answer shows the passages that it comes from"
    )


def has_page(browser: BrowserSettings, server: ServerSettings) -> bool:
    """Whether the page is served.

    Raises:
        ConfigError: it is to be, and no browser could call from it.
    """
    here = is_loopback(server.host)
    if browser.page == "auto":
        return here and not server.public_url and not server.trust_proxy
    if browser.page == "on" and not (here or server.public_url or server.allowed_origins):
        raise ConfigError(
            f'browser.page = "on" on {server.host} needs to know its own address: set '
            "server.public_url to https://YOUR-HOST, or server.allowed_origins"
        )
    return browser.page == "on"
