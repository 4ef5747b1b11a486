"""The fields of a record's event without what is personal in them.

All text is looked through but that of fields which hold no words of a call (ids, hashes, reasons):
a field that is added later is redacted until it is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.privacy.kept import is_kept_number
from agent.privacy.kinds import Found, Kind
from agent.privacy.known import Known
from agent.privacy.redacting import redact, replaced
from agent.privacy.words import runs_of, words_of

_NO_WORDS = frozenset(
    "event call_id at id ids wire kb sha256 hits citations decision answered_by reason rule "
    "changes embedder floors language outcome problem model to caller called key prev hash audio "
    "voice recogniser stages_ms timings_ms models versions commit decoder path redacted "
    "caller_key".split()
)
"""Fields whose text no caller said. ``caller`` and ``called`` are masked where they are written,
unless ``records.keep_numbers`` keeps them."""
_PASSING = "hearing"
_HALF = 4
"""Digits of a number that is still being said."""

Keep = Callable[[], frozenset[str]]


class Redactor:
    """Redacts the events of one call; ``keep`` gives the values of the documents at the moment.

    What is found in one text of an event is hidden in its others too: what is looked up has lost
    its capitals and its @. A name is hidden in later events of the call as well.
    """

    def __init__(self, keep: Keep = frozenset) -> None:
        """``keep`` is asked at every event, so it must be quick."""
        self._keep = keep
        self._names = Known()

    def __call__(self, event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """``fields`` of an ``event`` redacted; with ``redacted``, the kinds found, if any were."""
        kinds: set[str] = set()
        keep = self._keep()
        here = Known()

        def learn(text: str) -> str:
            found = redact(text, keep).found
            here.learn(text, found)
            self._names.learn_names(text, found, keep)
            return text

        def redacted(text: str) -> str:
            known = here.hidden(text)
            named = self._names.hidden(known.text)
            found = redact(named.text, keep)
            kinds.update((*known.kinds, *named.kinds, *found.kinds))
            is_half_said = event == _PASSING
            return _without_halves(found.text, keep, kinds) if is_half_said else found.text

        _each_text(fields, learn)
        cleaned: dict[str, Any] = _each_text(fields, redacted)
        return {**cleaned, "redacted": sorted(kinds)} if kinds else cleaned


def redact_event(
    event: str, fields: Mapping[str, Any], keep: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The ``fields`` of one ``event`` redacted, on their own."""
    return Redactor(lambda: keep)(event, fields)


def _each_text(value: Any, change: Callable[[str], str], field: str = "") -> Any:
    """``value`` with every text in it changed, but for those of fields without words."""
    if field in _NO_WORDS:
        return value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each_text(one, change, key) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_each_text(one, change, field) for one in value)
    return value


def _without_halves(text: str, keep: frozenset[str], kinds: set[str]) -> str:
    """A number half said is as personal as a whole one, and not yet to be told from it."""
    finds = []
    for run in runs_of(words_of(text)):
        digits = "".join(part.said for part in run)
        if len(digits) >= _HALF and not is_kept_number(digits, keep):
            finds.append(Found(Kind.ACCOUNT, run[0].start, run[-1].end))
    kinds.update(Kind.ACCOUNT.value for _ in finds[:1])
    return replaced(text, finds, lambda one: one.kind.placeholder)
