"""Any Pipecat recogniser or voice by its import path: found, its arguments checked, made."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from pipecat.services.ai_service import AIService

from frontdesk import ConfigError

_Service = TypeVar("_Service", bound=AIService)

# Services over HTTP take one of these from their caller; it belongs to an event loop.
SESSION = "aiohttp_session"


def service_class(path: str, kind: type[_Service]) -> type[_Service]:
    """The class at ``path``, "package.module:Class", which must be a ``kind``.

    Raises:
        ConfigError: if it cannot be imported or is something else; the line says how to mend it.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name.isidentifier():
        raise ConfigError(f"{path!r} is no import path; write package.module:Class")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # Pipecat raises a bare Exception where a service's package lacks
        extra = module_name.removeprefix("pipecat.services.").split(".")[0]
        raise ConfigError(
            f"cannot import {module_name}: {error}; install what this service needs, such as "
            f"pip install 'pipecat-ai[{extra}]'"
        ) from error
    found = getattr(module, name, None)
    if not inspect.isclass(found) or not issubclass(found, kind):
        offered = [
            other
            for other, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, kind)
            and value.__module__ == module.__name__
        ]
        what = f"it has {', '.join(offered)}" if offered else "it has none"
        raise ConfigError(f"{path!r} is no Pipecat {kind.__name__}; in {module_name} {what}")
    return found


def needs_session(service: type[AIService]) -> bool:
    """Whether ``service`` wants an ``aiohttp.ClientSession`` of its caller."""
    return SESSION in inspect.signature(service).parameters


def make(service: type[_Service], arguments: Mapping[str, Any], **given: Any) -> _Service:
    """A ``service`` made with ``arguments``, and ``given`` which the settings may not set.

    A table "settings" becomes the service's own ``Settings``, which hold its voice, model and
    language.

    Raises:
        ConfigError: if the service does not take an argument, lacks one or refuses its value.
    """
    known = _arguments_of(service)
    _reject_unknown(arguments, known, f"{service.__name__} takes no argument")
    values = dict(arguments)
    table = values.get("settings")
    if isinstance(table, Mapping):
        kind: Any = getattr(service, "Settings", None)
        if kind is None:
            raise ConfigError(f"{service.__name__} has no settings; give plain arguments")
        fields = set(inspect.signature(kind).parameters)
        _reject_unknown(table, fields, f"the settings of {service.__name__} have no")
        values["settings"] = kind(**table)
    try:
        return service(**values, **{name: value for name, value in given.items() if name in known})
    except Exception as error:
        raise ConfigError(f"{service.__name__} cannot be made: {error}") from error


def _arguments_of(service: type[AIService]) -> set[str]:
    """Every argument that ``service`` or a class it is built on takes by name."""
    names: set[str] = set()
    for base in service.__mro__:
        if base is object or "__init__" not in vars(base):
            continue
        parameters = inspect.signature(base.__init__).parameters.values()  # type: ignore[misc]
        names |= {one.name for one in parameters if one.kind is not one.VAR_KEYWORD}
    return names - {"self"}


def _reject_unknown(given: Mapping[str, Any], known: set[str], line: str) -> None:
    """Pipecat drops an argument that it does not know; a business should not have to guess."""
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"{line} {name!r}{hint}")
