"""A sentence as the statements it makes, in plain lower-case words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 400
_SHORT_FORMS = (
    (re.compile(r"\b(can|do|does|did|is|are|was|were|has|have|should|must)n't\b"), r"\1 not"),
    (re.compile(r"\bcannot\b|\bcan't\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b(it|there|that|he|she|what|here)'s\b"), r"\1 is"),
    (re.compile(r"\b(we|you|they)'re\b"), r"\1 are"),
    (re.compile(r"\b(we|you|they)'ve\b"), r"\1 have"),
    (re.compile(r"\b(it|there|we|you|they|that)'ll\b"), r"\1 will"),
)
_LEAD = re.compile(
    r"^(?:yes|no|yeah|yep|nope|sure|unfortunately|currently|sorry|absolutely|certainly|definitely"
    r"|of course|please|note that|in addition|also|however|but|and)\b(?:[,.:;!-]+ *| +)"
)
# "On Saturday the lab is open", "Without insurance, a visit costs": what comes first goes last.
_FRONT = re.compile(
    r"(?P<front>(?:on|in|at|for|after|before|during|without|with|from|by|if|when) [^,]{1,48})"
    r"(?:, [^,]{1,30})?, (?P<main>(?!and |or ).+)"
    r"|(?P<day>on [\w' ]{2,24}?(?:day|days|weekends|eve)(?: after \w+)?(?: and [\w' ]{2,12}days?)?)"
    r" (?P<rest>(?:the|our|we|you|a|all) .+)"
)
_VERBS = "costs?|takes?|lasts?|is|are|opens?|closes?|includes?|needs?|must|has|have"
_AND = re.compile(rf",? and (?=(?:{_VERBS}) )")
_VERB = re.compile(rf"\b(?:{_VERBS})\b")
# Another subject with a verb of its own.
_NEXT = re.compile(
    r"(?:, (?:and|but)|;) (?=(?:the|an?|each|every|they|we|you|there|our|its) "
    rf"(?:[\w'-]+ ){{0,4}}?(?:{_VERBS}|can) )"
)


def statements(sentence: str) -> Iterator[tuple[str, str]]:
    """The statements of a sentence, each with what stood before it: a day, a condition, or ''.

    "A form takes 5 days and costs $15" is two. A question states nothing, and of what is over 400
    characters long no caller asks in a few words.
    """
    if sentence.rstrip().endswith("?") or len(sentence) > _LONGEST:
        return
    text = " ".join(sentence.rstrip(".!? ").lower().replace("’", "'").split())
    for pattern, full in _SHORT_FORMS:
        text = pattern.sub(full, text)
    while (shorter := _LEAD.sub("", text, count=1)) != text:
        text = shorter
    after = ""
    if front := _FRONT.fullmatch(text):
        text, after = front["main"] or front["rest"], front["front"] or front["day"]
    for part in _NEXT.split(text):
        first, *others = _AND.split(part)
        yield first, after
        if verb := _VERB.search(first):
            yield from ((f"{first[: verb.start()]}{other}", after) for other in others)
