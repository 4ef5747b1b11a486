"""Who speaks: the business's "we" is the caller's "you", and its guests are the caller."""

from __future__ import annotations

import re

_SWAP = {
    "you": "i", "your": "my", "yours": "mine", "yourself": "myself", "we": "you", "our": "your",
    "us": "you", "ours": "yours",
}  # fmt: skip
# Who the caller is to the business.
_CALLER = "guest|patient|customer|visitor|client|member|diner|passenger"
_CALLERS = re.compile(
    rf"(?:all |our )?(?:{_CALLER})s|(?:an?|the|each|every) (?:{_CALLER})|everyone|anyone"
)
_PLACES = (
    "hotel|motel|hostel|lodge|inn|guest ?house|bed and breakfast|b&b|property|restaurant|cafe|bar"
    "|pub|diner|eatery|bakery|clinic|practice|surgery|hospital|pharmacy|salon|spa|gym|studio|shop"
    "|store|garage|workshop|museum|gallery|theatre|theater|cinema|park|pool|library|office|school"
    "|nursery|centre|center|company|firm|agency|business|establishment|venue|place|location|site"
    "|facility|premises|house"
)
_OURS = rf"(?:the|our|this) (?:{_PLACES})"
# "It" under no heading is taken for the business, and so is "they".
_OURSELVES = re.compile(rf"it|they|we|{_OURS}")
_AT_OURS = re.compile(
    rf" (?:(?:at|in|by|of|from|to|with|for|on|inside) (?:it|us|them|{_OURS})|here|there)$"
)
_PRONOUNS = frozenset("it its they this that these those he she here which who".split())


def swapped(text: str) -> str:
    """``text`` as the caller would say it: "your room" is "my room"."""
    return " ".join(_SWAP.get(word, word) for word in text.split())


def who(subject: str, heading: str = "") -> str:
    """The subject of a statement as the caller would name it.

    The business is "you", its guests are "i"; a pronoun gives way to the ``heading``.
    """
    subject = without_place(subject.strip(" ,"))
    if subject in _PRONOUNS and heading and not heading.endswith("?"):
        return swapped(heading)
    if _OURSELVES.fullmatch(subject):
        return "you"
    if _CALLERS.fullmatch(subject):
        return "i"
    return swapped(subject)


def without_place(text: str) -> str:
    """``text`` without "at our hotel" or "here" at its end, which a caller leaves out."""
    return _AT_OURS.sub("", text)


def do(name: str, *, is_one: bool | None = None) -> str:
    """The "do" or "does" of a subject; ``is_one`` where the verb told that it is one thing."""
    if name in ("i", "you", "we"):
        return "do"
    return "does" if (not is_plural(name) if is_one is None else is_one) else "do"


def is_plural(name: str) -> bool:
    """Whether a thing is more than one, by its first noun's last letter."""
    head = re.split(r" (?:of|for|in|with|to|under|over|on|at|from|without|aged) ", name)[0]
    return head.endswith("s") and not head.endswith("ss")


def be(name: str, verb: str) -> str:
    """The "am", "is" or "are" of a subject that went with ``verb``."""
    return {"i": "am", "you": "are"}.get(name, verb)
