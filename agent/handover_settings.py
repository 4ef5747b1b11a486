"""``[handover]``: when a caller is handed to a person, to whom, and in which words."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from agent.handover_rules import NOBODY, Rules
from agent.opening_hours import OpeningHours
from agent.section import Section, Sentence

_DIALABLE = re.compile(
    r"(?:\+?[0-9A-Za-z*#][0-9A-Za-z*#_.-]{0,63}|(?:sips?|tel):[\x21-\x7e]{1,200})?"
)


def _dialable(to: str) -> str:
    """What some wire can dial; another may take less."""
    if not _DIALABLE.fullmatch(to):
        raise ValueError("write +15555550123, a SIP address or an extension, without spaces")
    return to


_Target = Annotated[str, AfterValidator(_dialable)]


class HandoverSettings(Section):
    """To a person. See docs/to-a-person.md."""

    to: _Target = Field(
        default="", description="number, SIP address or extension; empty: nobody to hand over to"
    )
    after_refusals: int = Field(
        default=1, ge=0, description="questions in a row without an answer; 0: never"
    )
    on_request: bool = Field(default=True, description="“let me talk to a person”")
    timeout_s: float = Field(default=40.0, gt=0, description="of dialling and ringing")
    hold_s: float = Field(default=8.0, gt=0, description="then, and again, “please hold”")
    hours: tuple[str, ...] = Field(default=(), description="when somebody is there; empty: always")
    time_zone: str = Field(default="UTC", description="of the hours: America/New_York")
    holidays: tuple[str, ...] = Field(default=(), description="2026-12-25, or 12-25 every year")
    voicemail_to: _Target = Field(default="", description="outside the hours, in place of ``to``")
    closed: Sentence = "Nobody is at the front desk right now."
    unsure: Sentence = Field(default=NOBODY, description="a refusal with nobody to hand over to")
    emergency: Sentence = Field(
        default="", description="said first to who seems in danger; empty: what the documents say"
    )
    emergency_to: _Target = Field(default="", description="then, at any hour")

    @model_validator(mode="after")
    def _hours_can_be_read(self) -> Self:
        self.opening_hours()
        return self

    @model_validator(mode="after")
    def _each_is_of_use(self) -> Self:
        if self.voicemail_to and not self.to:
            raise ValueError("voicemail_to is for when nobody is at handover.to; set that too")
        if self.voicemail_to and not (self.hours or self.holidays):
            raise ValueError("voicemail_to is for outside the hours; set handover.hours too")
        return self

    def opening_hours(self) -> OpeningHours:
        """When somebody is there."""
        return OpeningHours.of(self.hours, self.time_zone, self.holidays)

    def rules(self) -> Rules:
        """What :mod:`agent.handover` decides by."""
        return Rules(
            to=self.to,
            voicemail_to=self.voicemail_to,
            after_refusals=self.after_refusals,
            on_request=self.on_request,
            closed=self.closed,
            unsure=self.unsure,
            emergency=self.emergency,
            emergency_to=self.emergency_to,
        )
