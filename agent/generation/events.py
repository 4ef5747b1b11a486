"""A streamed chat completion, byte by byte: no I/O.

Source of the format: the event stream of the HTML standard, section 9.2, of which servers of
this protocol use ``data:`` lines with one JSON object each, a last ``data: [DONE]``, and comments
that keep the line open.
"""

from __future__ import annotations

import json
from typing import Any

from agent.generation.outcome import GenerationError, Outcome

_MOST_BYTES = 1_000_000
_MOST_CHARACTERS = 8_000


class Events:
    """Collects the text of one reply; ``is_over`` once the server has said that it is whole.

    ``is_stream`` is false for one JSON object, from a server that cannot stream: it is read when
    it is there in full.

    Raises:
        GenerationError: from ``feed``, if the stream is no such stream, tells of an error or does
            not end.
    """

    def __init__(self) -> None:
        self.text = ""
        self.is_over = False
        self.is_stream = True
        self._bytes = 0
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        self._bytes += len(data)
        if self._bytes > _MOST_BYTES:
            raise GenerationError(Outcome.TOO_LONG, f"over {_MOST_BYTES} bytes")
        if not self.is_stream:
            self._rest += data
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.strip())

    def close(self) -> None:
        """The server has closed its side.

        Raises:
            GenerationError: if it had not said that the reply is whole.
        """
        if not self.is_stream:
            self._choice(_object(self._rest), "message")
            self.is_over = True
        elif self._rest.strip():
            self._line(self._rest.strip())
        if not self.is_over:
            raise GenerationError(Outcome.DROPPED, f"closed after {len(self.text)} characters")

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:") or self.is_over:
            return
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self.is_over = True
        elif data:
            self._choice(_object(data), "delta")

    def _choice(self, event: dict[str, Any], part: str) -> None:
        if event.get("error"):
            raise GenerationError(Outcome.REFUSED, f"error in the stream: {event['error']!r:.200}")
        choices = event.get("choices")
        if not choices:  # a count of tokens
            return
        try:
            said, why = choices[0].get(part) or {}, choices[0].get("finish_reason")
            content, declined = said.get("content") or "", said.get("refusal")
            self.text += content
        except (AttributeError, KeyError, TypeError) as problem:
            raise GenerationError(Outcome.MALFORMED, f"no such event: {problem!r}") from problem
        if declined or why == "content_filter":
            raise GenerationError(Outcome.REFUSED, f"the model declined: {declined or why!r:.200}")
        if why == "length":
            raise GenerationError(Outcome.TOO_LONG, "the server's limit of tokens")
        if len(self.text) > _MOST_CHARACTERS:
            raise GenerationError(Outcome.TOO_LONG, f"over {_MOST_CHARACTERS} characters")
        # A choice ends once; what a server sends after it is no part of the reply.
        self.is_over = self.is_over or bool(why)


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise GenerationError(
            Outcome.MALFORMED, f"no JSON in the stream: {data[:80]!r}"
        ) from problem
    if not isinstance(found, dict):
        raise GenerationError(Outcome.MALFORMED, f"no JSON object in the stream: {data[:80]!r}")
    return found
