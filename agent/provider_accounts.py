"""The providers with the accounts that the settings name."""

from __future__ import annotations

import os

from agent.settings import Settings
from frontdesk import ConfigError
from telephony.provider import Account, Provider
from telephony.providers import PROVIDERS


def providers_of(settings: Settings) -> dict[str, Provider]:
    """Every provider with its account; without one where it is not enabled.

    Raises:
        ConfigError: one is enabled, and a variable that it needs is not set.
    """
    found = {}
    for name, kind in PROVIDERS.items():
        if settings.providers.of(name).enabled:
            found[name] = kind(account_of(settings, kind))
            found[name].prepare()
        else:
            found[name] = kind(Account())
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
