"""``[providers]``: which providers may call, and the account with each."""

from __future__ import annotations

from pydantic import Field

from agent.section import Section


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
