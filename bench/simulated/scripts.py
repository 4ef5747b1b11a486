"""Scripts that a business writes itself: a TOML file of calls, read with errors that name the key.

See ``kb/clinic-callers.toml`` for one and docs/simulated-callers.md for every key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bench.noises import KINDS
from bench.simulated.made import gold_of
from bench.simulated.plan import EXPECTS, Conversation, Expect, Gold, Noise, Turn
from bench.simulated.voices import Cast
from frontdesk import ConfigError
from rag.questions import Question
from telephony.bad_line import BadLine
from telephony.caller_types import KEYS

_DEFAULT_CUT_MS = 600.0
_DOES = ("says", "asks", "press", "silent_s", "audio")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Turn(_Section):
    says: str = ""
    asks: str = ""
    press: str = ""
    silent_s: float = Field(default=0.0, ge=0, le=60)
    audio: str = ""
    but: str = ""
    pause_ms: float = Field(default=300.0, ge=0, le=5000)
    cuts_in: bool = False
    cuts_in_ms: float | None = Field(default=None, ge=0, le=60_000)
    expect: str = ""
    facts: list[str | list[str]] = []

    @model_validator(mode="after")
    def _does_one_thing(self) -> _Turn:
        done = [name for name in _DOES if getattr(self, name)]
        if len(done) != 1:
            found = " and ".join(done) or "none"
            raise ValueError(f"a turn has one of {', '.join(_DOES)}; this one has {found}")
        if bad := set(self.press) - KEYS:
            raise ValueError(f"press has {min(bad)!r}; keys are 0 to 9, * and #")
        if self.expect and self.expect not in EXPECTS:
            raise ValueError(f"expect = {self.expect!r}; it is one of {', '.join(EXPECTS)}")
        if self.expect not in ("", "answer", "anything") and self.facts:
            raise ValueError(f"facts are of an answer, and this expects {self.expect!r}")
        return self


class _Noise(_Section):
    kind: str
    snr_db: float = Field(default=10.0, ge=-20, le=60)

    @model_validator(mode="after")
    def _is_known(self) -> _Noise:
        if self.kind not in KINDS:
            raise ValueError(f"no noise {self.kind!r}; there are {', '.join(KINDS)}")
        return self


class _Line(_Section):
    loss: float = Field(default=0.0, ge=0, le=100)
    jitter: float = Field(default=0.0, ge=0, le=2000)
    gap: float = Field(default=0.0, ge=0, le=1000)
    noise: float | None = Field(default=None, ge=-96, le=0)
    gain: float = Field(default=0.0, ge=-60, le=60)

    def bad_line(self, seed: int) -> BadLine:
        return BadLine(self.loss, self.jitter, self.gap, self.noise, self.gain, seed=seed)


class _Call(_Section):
    name: str = ""
    voice: str = "piper"
    noise: _Noise | None = None
    line: _Line = _Line()
    ends: Literal["hangs up", "goodbye", "abruptly"] = "hangs up"
    hangs_up_s: float | None = Field(default=None, gt=0, le=600)
    turn: Annotated[list[_Turn], Field(min_length=1)]


class _Script(_Section):
    call: Annotated[list[_Call], Field(min_length=1)]


def read_script(path: Path, cast: Cast, rows: Sequence[Question]) -> list[Conversation]:
    """The calls of the script at ``path``; ``rows`` are those that ``asks`` may name.

    Raises:
        ConfigError: if the file cannot be read; the line says what of which call and turn.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"no script {path}; kb/clinic-callers.toml is an example") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    try:
        script = _Script.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}, {_where(error)}") from None
    by_id = {row.id: row for row in rows}
    reader = _Reader(path, cast, by_id)
    return [reader.call(number, call) for number, call in enumerate(script.call, 1)]


class _Reader:
    """Makes conversations of what was read."""

    def __init__(self, path: Path, cast: Cast, by_id: Mapping[str, Question]) -> None:
        self._path, self._cast, self._by_id = path, cast, by_id

    def call(self, number: int, call: _Call) -> Conversation:
        where = f"{self._path}, call {number}"
        if call.voice not in self._cast.voices:
            raise ConfigError(
                f"{where}, voice: no voice {call.voice!r}; there are {', '.join(self._cast.voices)}"
            )
        if call.ends == "abruptly" and call.hangs_up_s is None:
            raise ConfigError(f'{where}, hangs_up_s: ends = "abruptly" needs it: when, in seconds')
        turns = [self._turn(f"{where}, turn {n}", t, call) for n, t in enumerate(call.turn, 1)]
        return Conversation(
            name=call.name or f"call {number}",
            number=number,
            voice=call.voice,
            turns=tuple(turns),
            noise=Noise(call.noise.kind, call.noise.snr_db) if call.noise else None,
            line=call.line.bad_line(number),
            ends=call.ends,
            hangs_up_s=call.hangs_up_s,
            seed=number,
            again=f"--script {self._path} --only {number}",
        )

    def _turn(self, where: str, turn: _Turn, call: _Call) -> Turn:
        if turn.asks and turn.asks not in self._by_id:
            raise ConfigError(f"{where}, asks: questions.jsonl has no row {turn.asks!r}")
        question = self._by_id.get(turn.asks)
        words = question.text if question else turn.says
        for said in filter(None, (words, turn.but)):
            try:
                self._cast.clip(call.voice, said)
            except ConfigError as error:
                raise ConfigError(f"{where}: {error}") from None
        audio = self._path.parent / turn.audio if turn.audio else None
        if audio is not None and not audio.is_file():
            raise ConfigError(f"{where}, audio: no file {audio}")
        cuts_ms = turn.cuts_in_ms
        if cuts_ms is None and turn.cuts_in:
            cuts_ms = _DEFAULT_CUT_MS
        return Turn(
            gold=_gold(where, turn, question),
            words=words,
            but=turn.but,
            pause_ms=turn.pause_ms,
            keys=turn.press,
            silent_s=turn.silent_s,
            audio=str(audio or ""),
            cuts_in_ms=cuts_ms,
        )


def _gold(where: str, turn: _Turn, question: Question | None) -> Gold:
    if question and not turn.expect and not turn.facts:
        return gold_of(question)
    facts = tuple(tuple([fact] if isinstance(fact, str) else fact) for fact in turn.facts)
    if facts:
        return Gold(Expect(turn.expect or "answer"), facts)
    if turn.silent_s and not turn.expect:
        return Gold(Expect.PROMPT)
    if not turn.expect:
        raise ConfigError(
            f"{where}, expect: what is right to do? one of {', '.join(EXPECTS)}; "
            "an answer needs facts too"
        )
    if turn.expect == "answer":
        raise ConfigError(f'{where}, facts: what must an answer say? facts = ["9 a.m."]')
    return Gold(Expect(turn.expect))


def _where(error: ValidationError) -> str:
    """ "call 2, turn 1, press: …" of pydantic's first error."""
    first = error.errors()[0]
    parts: list[str] = []
    for part in first["loc"]:
        if isinstance(part, int):
            parts[-1] = f"{parts[-1]} {part + 1}"
        elif part not in ("str", "list[str]"):
            parts.append(str(part))
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "no such key; docs/simulated-callers.md lists them"
    if first["type"] == "missing":
        message = "it is missing"
    return f"{', '.join(parts)}: {message}"
