"""What of a call its caller may see on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rag import Index

# Of each kind of event, the fields that go onto the page; what is not here does not.
_FIELDS: dict[str, dict[str, str]] = {
    "hearing": {"heard": "text"},
    "said": {"say": "say"},
    "interrupted": {"rest": "rest"},
    "resumed": {"heard": "heard"},
    "ignored": {},
    "reply_started": {},
    "reply_ended": {},
    "hang_up": {},
}


class Shown:
    """Makes the page's message of an event; None for one that is not shown.

    ``index`` gives the index of the moment, whose passages stand beside the answers; without it
    only their ids do.
    """

    def __init__(self, index: Callable[[], Index] | None) -> None:
        self._index = index

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any] | None:
        """The message for ``event``."""
        kind = event["event"]
        if kind == "verdict":
            return {
                "type": "answer",
                "heard": event["heard"],
                "say": event["say"],
                "decision": event["decision"],
                "citations": self._cited(event["citations"]),
            }
        fields = _FIELDS.get(kind)
        if fields is None:
            return None
        message = {"type": kind} | {ours: event.get(theirs, "") for theirs, ours in fields.items()}
        if kind == "interrupted":
            heard = (event.get("heard_whole"), event.get("heard_words"))
            message["heard"] = " ".join(part for part in heard if part)
        return message

    def _cited(self, ids: list[str]) -> list[dict[str, str]]:
        if self._index is None:
            return [{"id": one} for one in ids]
        wanted = set(ids)
        passages = {p.id: p for p in self._index().kb.passages if p.id in wanted}
        return [
            {"id": one, "heading": passages[one].heading, "text": passages[one].text}
            if one in passages
            else {"id": one}
            for one in ids
        ]
