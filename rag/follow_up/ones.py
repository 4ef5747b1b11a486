"""One of a kind: "the flu one", "the other one", "do you have a smaller one"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.follow_up.state import State
from rag.follow_up.subject import runs_of
from rag.follow_up.terms import is_function_word

_TURNS_BACK = 4
# "How much are the summer ones", "do you have a smaller one".
_KIND_ONE = re.compile(
    r"\b(?:the|an?|any|your) (?!(?:other|same|only|first|last|next|right|wrong|correct|number|"
    r"big|table|room|section|option|line|day|chapter|phase|level|step) )"
    r"[^\W\d]{3,}(?: [^\W\d]{3,})? (?P<one>1|ones)"
    r"(?= (?:for|in|on|with|at|cost|take|too|instead|today|tomorrow)\b|$)"
)
_LONGEST = 400  # characters of a text that are looked at
_ARTICLES = frozenset({"a", "an", "the"})


def kind_of_one(cleaned: str, state: State) -> str:
    """``cleaned`` with the kind of thing asked about before for its "one"; "" if it has none."""
    one = _KIND_ONE.search(cleaned)
    if not one or not state.subject or runs_of(cleaned[: one.start()].split()):
        # "Is the red car dearer than the blue one": the thing is named before.
        return ""
    head = state.subject.split()[-1]
    return f"{cleaned[: one.start('one')]}{head}{cleaned[one.end('one') :]}"


def of_its_kind(text: str, kind: str, state: State) -> str:
    """ "The flu one": the service with ``kind`` in the place of what stands before its head."""
    for old in (state.subject, state.service):
        if old and old in text:
            head = old.split()[-1]
            return put_for(text, old, f"{kind} {head}")
    head = state.service.split()[-1] if state.service else ""
    return f"{text} {kind} {head}".strip()


def the_other(state: State) -> str:
    """The other of two: of "a or b" in a question or an answer, else what was asked about before
    this one; "" if there is none."""
    for turn in reversed(state.turns[-_TURNS_BACK:]):
        for text in (*(said.text for said in turn.said), turn.question):
            for one, other in _alternatives(text[:_LONGEST].lower()):
                if state.subject in (one, other):
                    return other if state.subject == one else one
    for turn in reversed(state.turns):
        if turn.subject and turn.subject != state.subject:
            return turn.subject
    return ""


def _alternatives(text: str) -> Iterator[tuple[str, str]]:
    """What stands around each "or" of ``text``: a name of one or two words on either side."""
    heard = [word.strip(".,;:?!") for word in text.split()]
    for at, word in enumerate(heard):
        if word != "or":
            continue
        left, right = heard[max(0, at - 2) : at], heard[at + 1 :]
        if left and is_function_word(left[0]):
            del left[0]
        if right and right[0] in _ARTICLES:
            del right[0]
        right = right[:1] + [one for one in right[1:2] if not is_function_word(one)]
        yield " ".join(left), " ".join(right)


def put_for(text: str, old: str, new: str) -> str:
    """``old`` as whole words in ``text`` replaced once; ``text`` unchanged if it isn't there."""
    if not old:
        return text
    return re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", lambda _: new, text, count=1)
