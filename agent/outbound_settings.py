"""``[outbound]``: whether the agent may place calls, to whom, when, and in which words."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from agent.opening_hours import OpeningHours
from agent.outbound_rules import pattern_of
from agent.section import Section, Sentence


def _pattern(text: str) -> str:
    pattern_of(text)
    return text


class OutboundSettings(Section):
    """Call-backs. See docs/outbound.md."""

    enabled: bool = Field(default=False, description="calls may be placed")
    allow: tuple[Annotated[str, AfterValidator(_pattern)], ...] = Field(
        default=(), description="“+15555550142”, or “+1555555*”; empty: nobody is called"
    )
    wire: str = Field(default="twilio", description="the provider that places them")
    hours: tuple[str, ...] = Field(
        default=("mon-fri 09:00-18:00",), description="in which calls may be placed; empty: any"
    )
    time_zone: str = Field(default="UTC", description="of the hours: America/New_York")
    max_per_hour: int = Field(default=20, ge=1, description="calls placed in all")
    max_attempts: int = Field(default=3, ge=1, description="of one number in 24 hours")
    ring_s: float = Field(default=60.0, gt=0, description="then it was not answered")
    greeting: Sentence = Field(
        default="Hello, this is the automated assistant of the clinic, calling you back.",
        description="once a person has answered, and said who they are",
    )
    purpose: Sentence = Field(
        default="How can I help you?", description="behind it, unless --say gives another"
    )
    message: Sentence = Field(
        default="Please call us again when it suits you. Goodbye.",
        description="behind greeting and --say, after a voicemail's beep",
    )

    @model_validator(mode="after")
    def _hours_can_be_read(self) -> Self:
        self.opening_hours()
        return self

    def opening_hours(self) -> OpeningHours:
        """When calls may be placed."""
        return OpeningHours.of(self.hours, self.time_zone)
