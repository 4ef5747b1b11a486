"""Settings: ``frontdesk.toml``, overridden by ``FRONTDESK_*`` variables; unknown keys are errors.

``FRONTDESK_SERVER__PORT=9000`` overrides ``[server] port``. ``frontdesk.example.toml`` lists
every key with its default.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agent.audiosocket_settings import AudioSocketSettings
from agent.browser_settings import BrowserSettings
from agent.console_settings import ConsoleSettings
from agent.handover_settings import HandoverSettings
from agent.keypad_settings import KeySettings
from agent.outbound_settings import OutboundSettings
from agent.provider_settings import ProvidersSettings
from agent.records_settings import RecordSettings
from agent.section import Section, Sentence
from agent.server_settings import ServerSettings
from agent.service_arguments import without_secrets
from agent.sip_settings import SipSettings
from frontdesk import ConfigError

SAMPLE_KB = Path(__file__).resolve().parent.parent / "kb" / "clinic"
_PREFIX = "FRONTDESK_"


Arguments = Annotated[dict[str, Any], AfterValidator(without_secrets)]
"""Arguments of a service, in which keys are named by their variable only."""


class RetrievalSettings(Section):
    """How the documents are indexed and searched. After a change of the first five: kb build."""

    embedder: str = Field(
        default="minilm", pattern="^(minilm|e5|remote)$", description="English; all languages; URL"
    )
    chunker: str = Field(
        default="recursive", pattern="^(fixed|recursive|semantic|sentence_window|metadata)$"
    )
    chunk_tokens: int = Field(
        default=200, ge=16, le=500, description="no more than the embedder reads"
    )
    expand: bool = Field(default=False, description="make questions from the passages")
    hybrid: bool = Field(default=False, description="words add passages behind the closest")
    candidates: int = Field(
        default=10, ge=1, le=50, description="closest passages looked at for an answer"
    )
    deadline_ms: float = Field(default=200.0, gt=0, description="for one search, optional parts in")
    reranker: str = Field(default="", description="folder of an ONNX cross-encoder")
    repair: bool = Field(
        default=True, description="a refused question is asked again as it may have been misheard"
    )
    places: bool = Field(
        default=False, description="each document is of a place of its own, named by its heading"
    )


class EndpointSettings(Section):
    """An OpenAI-compatible server for embeddings, used with ``retrieval.embedder = "remote"``."""

    base_url: str = Field(default="", description="https://…/v1")
    model: str = ""
    key_variable: str = Field(
        default="", description="the variable that holds the key, never the key; empty: no key"
    )
    query_prefix: str = ""
    passage_prefix: str = ""
    dimensions: int = Field(
        default=0, ge=0, description="numbers in a vector, for models that can cut them; 0: all"
    )
    max_tokens: int = Field(default=340, ge=16, description="words of a text that the model reads")
    timeout_s: float = Field(default=10.0, gt=0, description="for one request")


class QuestionSettings(Section):
    """An OpenAI-compatible server whose model makes questions, with ``retrieval.expand``.

    Without one they are made by rules.
    """

    base_url: str = Field(default="", description="https://…/v1")
    model: str = ""
    key_variable: str = Field(
        default="", description="the variable that holds the key, never the key; empty: no key"
    )
    timeout_s: float = Field(default=60.0, gt=0, description="for one passage")


class GenerationSettings(Section):
    """An OpenAI-compatible server whose model words the answers; without one, they are quoted.

    See docs/generation.md.
    """

    base_url: str = Field(default="", description="https://…/v1; empty: off")
    model: str = ""
    key_variable: str = Field(
        default="", description="the variable that holds the key, never the key; empty: no key"
    )
    timeout_s: float = Field(default=2.0, gt=0, description="of the server's silence")
    budget_ms: float = Field(
        default=2500.0, gt=0, description="for all of it; then the quoted answer is spoken"
    )
    fast_score: float = Field(
        default=0.7, ge=0, description="from it a factoid is quoted at once; above 1: never"
    )
    passages: int = Field(default=4, ge=1, le=10, description="shown to the model at most")
    temperature: float = Field(default=0.0, le=2, description="below 0: left to the server")
    max_tokens: int = Field(
        default=300, ge=0, description="of a reply; 0: left to the server, as some models want it"
    )
    rewrite: bool = Field(
        default=False, description="the model makes follow-ups stand alone that no rule knows"
    )
    rewrite_budget_ms: float = Field(
        default=800.0, gt=0, description="for that; then the question stays as it was heard"
    )


class TurnSettings(Section):
    """How long to wait before answering. Milliseconds of the caller's silence."""

    settle_ms: float = Field(default=180, ge=0, description="the turn is likely to be over")
    unsure_ms: float = Field(default=850, ge=0, description="it is less likely than that")
    dangling_ms: float = Field(default=1200, ge=0, description="it ends in “and”, “the”, “um” …")
    complete_probability: float = Field(
        default=0.25, ge=0, le=1, description="that it is over; higher: fewer callers cut, slower"
    )
    prompt_after_s: float = Field(default=12.0, gt=0, description="silence before “still there?”")
    noise_ms: float = Field(
        default=1000, gt=0, description="of sound without a word, then a reply it cut goes on"
    )
    wordless_s: float = Field(default=10.0, gt=0, description="of sound without a new word")
    longest_s: float = Field(default=60.0, gt=0, description="of one turn without a pause")


class VadSettings(Section):
    """Voice activity detection."""

    confidence: float = Field(default=0.5, gt=0, lt=1)
    start_ms: float = Field(default=128, ge=32)
    barge_in_ms: float = Field(default=32, ge=32, description="in its place while the agent speaks")
    stop_ms: float = Field(default=96, ge=32)


class RecogniserSettings(Section):
    """What hears the caller. See docs/engines.md."""

    engine: str = Field(
        default="moonshine",
        description="moonshine, whisper, sherpa, or package.module:Class of a Pipecat STTService",
    )
    model: str = Field(
        default="", description="whisper: whisper-base, whisper-tiny-en or a folder; sherpa: folder"
    )
    languages: tuple[str, ...] = Field(
        default=("en",), min_length=1, description="that callers speak; whisper tells which"
    )
    budget_ms: float = Field(
        default=1000, gt=0, description="waited for a service's last words after the turn"
    )
    arguments: Arguments = Field(default={}, description="of a service; '$NAME': that variable")
    second_opinion: bool = Field(
        default=True, description="Whisper hears again what leads to an unsure answer; English"
    )
    second_budget_ms: float = Field(
        default=700, gt=0, description="for that; then the first counts"
    )


class VoiceSettings(Section):
    """What speaks, what it says by itself, and how much rendered speech is kept."""

    engine: str = Field(
        default="piper",
        description="piper, espeak, or package.module:Class of a Pipecat TTSService",
    )
    languages: tuple[str, ...] = Field(
        default=("en",), min_length=1, description="the usual one first; of piper: en"
    )
    arguments: Arguments = Field(default={}, description="of a service; '$NAME': that variable")
    greeting: Sentence = "Thanks for calling the clinic. How can I help you?"
    cache_mb: int = Field(default=64, ge=1)
    disk_mb: int = Field(
        default=200, ge=1, description="rendered speech kept beside the index; 2 hours are 60"
    )
    prerender: int = Field(
        default=2000, ge=0, description="sentences of the documents rendered before they are asked"
    )


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    kb: Path = SAMPLE_KB
    log_level: str = Field(default="INFO", pattern="(?i)^(debug|info|warning|error)$")
    retrieval: RetrievalSettings = RetrievalSettings()
    embeddings: EndpointSettings = EndpointSettings()
    questions: QuestionSettings = QuestionSettings()
    generation: GenerationSettings = GenerationSettings()
    server: ServerSettings = ServerSettings()
    providers: ProvidersSettings = ProvidersSettings()
    sip: SipSettings = SipSettings()
    turns: TurnSettings = TurnSettings()
    vad: VadSettings = VadSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    voice: VoiceSettings = VoiceSettings()
    records: RecordSettings = RecordSettings()
    browser: BrowserSettings = BrowserSettings()
    console: ConsoleSettings = ConsoleSettings()
    audiosocket: AudioSocketSettings = AudioSocketSettings()
    handover: HandoverSettings = HandoverSettings()
    keys: KeySettings = KeySettings()
    outbound: OutboundSettings = OutboundSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then variables, then the file."""
        file = TomlConfigSettingsSource(settings_cls, toml_file=_file())
        return init_settings, env_settings, file


def _file() -> Path:
    return Path(os.environ.get(f"{_PREFIX}CONFIG", "frontdesk.toml"))


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; an override that is None counts as not given.

    Raises:
        ConfigError: on an unknown key or a bad value; the line names the key.
    """
    if f"{_PREFIX}CONFIG" in os.environ and not _file().is_file():
        raise ConfigError(f"{_PREFIX}CONFIG names {_file()}, which is not a file")
    _reject_unknown_variables()
    try:
        return Settings(**{k: v for k, v in overrides.items() if v is not None})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        hint = first["msg"].removeprefix("Value error, ").replace("a valid tuple", 'a list: ["…"]')
        hint = "see frontdesk.example.toml" if first["type"] == "extra_forbidden" else hint
        word = "unknown setting" if first["type"] == "extra_forbidden" else "bad setting"
        raise ConfigError(f"{word} {key!r}: {hint}") from None
    except ValueError as error:  # malformed TOML, or JSON in a variable
        raise ConfigError(f"cannot read settings ({_file()} or {_PREFIX}*): {error}") from None


def _reject_unknown_variables() -> None:
    """pydantic-settings ignores a mistyped variable; a business should not have to guess why."""
    known = set(Settings.model_fields) | {"config"}
    for name in os.environ:
        if not name.startswith(_PREFIX):
            continue
        first, *rest = name.removeprefix(_PREFIX).lower().split("__")
        if first not in known or not _has_key(Settings, [first, *rest]):
            raise ConfigError(f"unknown setting {name}: see frontdesk.example.toml")


def _has_key(kind: Any, keys: Sequence[str]) -> bool:
    """Whether ``keys`` lead from section to section to a key; a whole section may be given."""
    if keys in ([], ["config"]):
        return True
    if not isinstance(kind, type) or not issubclass(kind, BaseModel):
        return False
    field = kind.model_fields.get(keys[0])
    return field is not None and _has_key(field.annotation, keys[1:])
