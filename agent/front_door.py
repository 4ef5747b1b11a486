"""The routes that providers call, each behind its proof of who is calling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastapi import FastAPI
from loguru import logger
from starlette.routing import Route, WebSocketRoute

from agent.doorman import Doorman
from agent.known_calls import recorded
from agent.provider_accounts import providers_of
from agent.provider_door import ProviderDoor
from agent.settings import Settings
from agent.switchboard import Switchboard
from telephony.provider import Provider
from telephony.providers import PROVIDERS

_METHODS = ["GET", "POST"]


def front_door(
    app: FastAPI,
    settings: Settings,
    switchboard: Switchboard,
    providers: Mapping[str, Provider],
) -> Doorman:
    """Add every provider's routes; a provider that is not enabled is there for this machine only.

    Raises:
        ConfigError: the settings are not safe.
    """
    doorman = Doorman(settings.server)
    server = settings.server
    enabled = [name for name in PROVIDERS if settings.providers.of(name).enabled]
    if enabled and not server.public_url and not server.trust_proxy:
        logger.warning(
            "server.public_url is not set: signatures of {} must fit the URL by which this server "
            "itself is asked",
            ", ".join(enabled),
        )
    seen = recorded(settings.records.folder)
    for name, provider in providers.items():
        door = ProviderDoor(provider, settings, switchboard, doorman, seen=seen)
        app.router.routes.append(WebSocketRoute(f"/{name}/media", door.media))
        if provider.socket_proves_itself:
            continue
        app.router.routes += [
            Route(f"/{name}/voice", door.voice, methods=_METHODS),
            Route(f"/{name}/whisper/{{token}}", door.whisper, methods=_METHODS),
            Route(f"/{name}/return/{{token}}", door.returned, methods=_METHODS),
            WebSocketRoute(f"/{name}/media/{{token}}", door.media),
        ]
    return doorman


def check_door(settings: Settings) -> None:
    """Make sure that the front door can be opened, before anything slow is done.

    Raises:
        ConfigError: a provider's secret is not set, or the settings are not safe.
    """
    providers_of(settings)
    Doorman(settings.server)


def entrances(settings: Settings, providers: Iterable[Provider]) -> list[str]:
    """What to enter at each provider that is enabled, in a line for a person."""
    base = settings.server.public_url.rstrip("/") or "https://YOUR-HOST"
    lines = []
    if base.startswith("http:"):
        lines.append(
            "server.public_url is not https: most providers refuse it, and calls are in the clear"
        )
    for provider in providers:
        name, shown = provider.name, provider.capabilities.name
        if settings.providers.of(name).enabled:
            lines.append(f"{shown}: {provider.entrance(base)}")
            if provider.account_is and not provider.account.id:
                lines.append(
                    f"{shown}: set providers.{name}.account ({provider.account_is}), or no call "
                    "can be handed over or placed"
                )
    return lines
