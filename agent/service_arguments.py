"""Arguments that a business gives a Pipecat service: secrets come from variables only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from frontdesk import ConfigError

_SECRET = frozenset(
    {"key", "apikey", "token", "secret", "password", "credential", "credentials", "authorization"}
)
# A file that holds a secret is named like one.
_PLACES = frozenset({"path", "file"})
_VARIABLE = "$"


def without_secrets(arguments: dict[str, Any]) -> dict[str, Any]:
    """``arguments`` unchanged.

    Raises:
        ValueError: if one that names a key, a token or the like holds it, not its variable.
    """
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            without_secrets(dict(value))
        elif isinstance(value, (list, tuple)) and not _is_secret(name):
            for one in value:
                without_secrets({name: one})
        elif _is_secret(name) and not (isinstance(value, str) and value.startswith(_VARIABLE)):
            variable = re.sub(r"\W+", "_", name).upper()
            raise ValueError(f'{name} is a secret; write {name} = "$VARIABLE", such as ${variable}')
    return arguments


def resolved(arguments: Mapping[str, Any], section: str) -> dict[str, Any]:
    """``arguments`` with each "$NAME" replaced by that environment variable.

    Raises:
        ConfigError: if the variable is not set; the line names it and ``section``.
    """
    return {name: _value(value, f"{section}.{name}") for name, value in arguments.items()}


def _value(value: Any, where: str) -> Any:
    if isinstance(value, Mapping):
        return resolved(value, where)
    if isinstance(value, (list, tuple)):
        return [_value(one, where) for one in value]
    if not isinstance(value, str) or not value.startswith(_VARIABLE):
        return value
    variable = value.removeprefix(_VARIABLE)
    found = os.environ.get(variable, "").strip()
    if not found:
        raise ConfigError(f"{where} is not set; export {variable}=…")
    return found


def _is_secret(name: str) -> bool:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)  # accessToken is two
    words = re.split(r"[\W_]+", split.lower())
    return words[-1] not in _PLACES and not _SECRET.isdisjoint(words)
