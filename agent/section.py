"""What every section of the settings is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
