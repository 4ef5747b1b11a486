"""``[keys]``: what the keys of a caller's telephone do."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from agent.keypad import KeyPolicy
from agent.section import Section

_KEYS = "0123456789*#"


def _menu(keys: dict[str, str]) -> dict[str, str]:
    for key, question in keys.items():
        if len(key) != 1 or key not in _KEYS:
            raise ValueError(f"{key!r} is no key of a telephone: one of {' '.join(_KEYS)}")
        if not question.strip():
            raise ValueError(f"key {key!r} asks nothing; write the question as it would be said")
    return keys


_Key = Annotated[str, Field(pattern=r"^[0-9*#]?$")]


class KeySettings(Section):
    """The keypad. See docs/to-a-person.md."""

    menu: Annotated[dict[str, str], AfterValidator(_menu)] = Field(
        default={}, description="{ 1 = 'what are your opening hours' }: asked as if it were said"
    )
    person: _Key = Field(default="0", description="to a person; empty: none")
    repeat: _Key = Field(default="*", description="says it again; empty: none")
    numbers: bool = Field(
        default=True, description="several keys are a number for the person; ends with # or pause_s"
    )
    alone_s: float = Field(
        default=1.2, gt=0, description="a key of the menu waits so long for a second"
    )
    pause_s: float = Field(default=3.0, gt=0, description="ends a number")

    @model_validator(mode="after")
    def _each_key_does_one_thing(self) -> Self:
        taken = {KeyPolicy().end: "ends a number"}
        uses = [("person", self.person), ("repeat", self.repeat)]
        for name, key in [*uses, *((f"menu.{key}", key) for key in self.menu)]:
            if key in taken:
                raise ValueError(f"{name}: key {key} {taken[key]}; change one of the two")
            if key:
                taken[key] = f"is keys.{name}"
        return self

    def policy(self) -> KeyPolicy:
        """What :mod:`agent.keypad` decides by."""
        return KeyPolicy(
            menu=self.menu,
            person=self.person,
            repeat=self.repeat,
            numbers=self.numbers,
            alone_ms=self.alone_s * 1000,
            pause_ms=self.pause_s * 1000,
        )
