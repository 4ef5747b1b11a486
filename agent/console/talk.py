"""Hold-to-talk within the console: the page of the browser line, for whoever is logged in."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import BaseRoute

from agent.browser import talk_routes
from agent.doorman import Doorman
from agent.settings import Settings
from agent.switchboard import Switchboard
from rag import Index


def console_talk(
    settings: Settings, switchboard: Switchboard, doorman: Doorman, index: Callable[[], Index]
) -> list[BaseRoute]:
    """Its routes. The guard before them has looked at the session and the Origin already."""
    return talk_routes(
        settings, switchboard, doorman, index, lambda asked, come: True, name="console"
    )
