"""A mind changed in one breath: "what time do you close saturday, no wait, I mean sunday"."""

from __future__ import annotations

import re

# Only what nobody says in the middle of a question. "no" and "sorry" alone are not: "do you take
# no insurance", "sorry to ask".
_SURE = (
    r"(?:i mean|i meant|i meant to (?:say|ask)|no wait|wait no|no no|actually no|no actually|"
    r"no sorry|sorry no|scratch that|forget that|strike that|never ?mind(?: that)?|"
    r"that's not what i (?:mean|meant))"
)
_MARK = re.compile(
    rf"(?:^| )(?:(?:oh|no|nope|sorry|wait|actually) )*{_SURE}"
    rf"(?: (?:no|wait|sorry|actually|rather|let me ask|it's|{_SURE}))*(?= |$)"
)
# "Do you know what I mean by that", "what does that mean".
_MEANING = re.compile(r"\b(?:what|whatever|if you know what|know what|see what)$")


def changed(cleaned: str) -> tuple[str, str] | None:
    """What was said before the mind was changed, and after; None where it was not.

    ``cleaned`` is lower-case words (:func:`rag.rewrite.clean`). The last change counts.
    """
    for mark in reversed(list(_MARK.finditer(cleaned))):
        old, new = cleaned[: mark.start()].strip(), cleaned[mark.end() :].strip()
        if old and new and not _MEANING.search(old):
            return old, new
    return None
