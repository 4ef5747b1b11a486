"""What every section of the settings is, and what several of them hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from frontdesk import SpeechError, Spoken


class Section(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _speakable(words: str) -> str:
    try:
        return Spoken(words).text
    except SpeechError as error:
        raise ValueError(str(error)) from None


Sentence = Annotated[str, AfterValidator(_speakable)]
"""Words that the agent may say."""
