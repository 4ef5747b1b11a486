"""The recogniser of all calls by its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from frontdesk import ConfigError
from speech.moonshine import Moonshine
from speech.recogniser import Recogniser

ENGINES = ("moonshine", "whisper", "sherpa")


def recogniser_for(
    engine: str = "moonshine",
    model: str = "",
    languages: Sequence[str] = ("en",),
    words: Iterable[str] = (),
) -> Recogniser:
    """The recogniser of ``engine`` with ``model`` ('' for its usual one) for ``languages``.

    ``words`` are those of the documents, which Moonshine leans towards.

    Raises:
        ConfigError: if there is no such engine or model, or it does not hear a language.
        ModelFileError: if its extra or a model file is missing or altered.
    """
    if engine == "moonshine":
        if tuple(languages) != ("en",):
            raise ConfigError('moonshine hears English only; set recogniser.engine = "whisper"')
        if model:
            raise ConfigError("moonshine has one model; leave recogniser.model empty")
        return Moonshine(words)
    # Imported here: the extra of a recogniser that is not used need not be there.
    if engine == "whisper":
        from speech.whisper import Whisper

        return Whisper(model or "whisper-base", languages=languages)
    if engine == "sherpa":
        from speech.sherpa import Zipformer

        if not model or len(languages) != 1:
            raise ConfigError("sherpa needs recogniser.model, a folder, and its one language")
        return Zipformer(model, language=languages[0])
    names = ", ".join(ENGINES)
    raise ConfigError(f"no recogniser {engine!r}: {names}, or package.module:Class")
