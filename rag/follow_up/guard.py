"""The guard on a language model's rewrite: it may say nothing that was not said."""

from __future__ import annotations

from rag.follow_up.state import State
from rag.follow_up.terms import content_words, terms
from rag.rewrite import words


def foreign_words(rewrite: str, heard: str, state: State) -> tuple[str, ...]:
    """The content words and numbers of ``rewrite`` that nobody said; empty if it may be used.

    Said means: in ``heard``, in a question of the call, or in a sentence spoken to the caller.
    """
    said = [heard, state.question]
    for turn in state.turns:
        said += [turn.question, *(sentence.text for sentence in turn.said)]
    known = terms(said)
    numbers = {word for text in said for word in words(text) if word[0].isdigit()}
    foreign = [word for word in content_words(rewrite) if word not in known]
    foreign += [word for word in words(rewrite) if word[0].isdigit() and word not in numbers]
    return tuple(dict.fromkeys(foreign))


def only_from_dialogue(rewrite: str, heard: str, state: State) -> bool:
    """Whether a model's ``rewrite`` of ``heard`` may take its place: not empty, nothing new."""
    return bool(content_words(rewrite)) and not foreign_words(rewrite, heard, state)
