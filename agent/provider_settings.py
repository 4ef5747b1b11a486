"""``[providers]``: which providers may call, and the account with each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import Field

from agent.section import Section
from frontdesk import ConfigError
from telephony.provider import Account

if TYPE_CHECKING:
    from agent.settings import Settings
    from telephony.provider import Provider


class ProviderSettings(Section):
    """One provider. Secrets are named by their variable only."""

    enabled: bool = Field(default=False, description="its calls are taken")
    account: str = Field(default="", description="the account's id; webhooks of others are refused")
    number: str = Field(default="", description="ours, for calls that we place")
    api_url: str = Field(default="", description="of its REST interface; empty: the usual one")
    secret_variable: str = Field(
        default="", description="that holds what checks signatures; empty: the usual one"
    )
    key_variable: str = Field(
        default="", description="that holds the REST interface's key; empty: the usual one"
    )
    options: dict[str, str] = Field(default={}, description="the provider's own further settings")


class ProvidersSettings(Section):
    """The providers, by name. None is enabled until it is asked for."""

    twilio: ProviderSettings = ProviderSettings()
    telnyx: ProviderSettings = ProviderSettings()
    plivo: ProviderSettings = ProviderSettings()
    exotel: ProviderSettings = ProviderSettings()
    vonage: ProviderSettings = ProviderSettings()
    genesys: ProviderSettings = ProviderSettings()
    jambonz: ProviderSettings = ProviderSettings()
    asterisk: ProviderSettings = ProviderSettings()

    def of(self, name: str) -> ProviderSettings:
        """The settings of the provider ``name``."""
        found = getattr(self, name)
        assert isinstance(found, ProviderSettings)
        return found


def account_of(settings: Settings, kind: type[Provider]) -> Account:
    """The account with a provider, its secrets read from their variables.

    Raises:
        ConfigError: it is enabled, and a variable that it needs is not set; or an option is
            not one of its own.
    """
    chosen = settings.providers.of(kind.name)
    names = (
        (kind.secrets.secret and chosen.secret_variable) or kind.secrets.secret,
        (kind.secrets.api_key and chosen.key_variable) or kind.secrets.api_key,
    )
    secret, api_key = (os.environ.get(name, "").strip() if name else "" for name in names)
    without_key = kind.secrets.key_with_url and not chosen.api_url
    needed = (True, not without_key)
    found = tuple(zip(names, (secret, api_key), needed, strict=True))
    missing = [name for name, value, is_needed in found if is_needed and name and not value]
    if chosen.enabled and missing:
        raise ConfigError(f"providers.{kind.name} is enabled: set {' and '.join(missing)}")
    for name, value, _ in found:
        if not value.isascii():
            raise ConfigError(f"{name} holds letters that are in no key; was it copied whole?")
    unknown = sorted(set(chosen.options) - set(kind.options))
    if unknown:
        known = f"; there is {', '.join(kind.options)}" if kind.options else ""
        raise ConfigError(f"providers.{kind.name}.options has no {unknown[0]!r}{known}")
    return Account(
        id=chosen.account,
        secret=secret,
        api_key=api_key,
        api_url=chosen.api_url,
        number=chosen.number,
        options=chosen.options,
    )
