"""Whether a pronoun stands for something named in its own sentence.

"My dog ate chocolate, should I bring it in" needs nothing from before. No parser: a name counts
if it agrees in number with the pronoun and a clause begins between the two.
"""

from __future__ import annotations

from itertools import pairwise

from rag.follow_up.subject import PERSONS, is_plural, runs_of

_PLURAL = frozenset("they them their theirs these those".split())
_OF_PEOPLE = frozenset("he him his she her hers".split())
_POSSESSIVE = frozenset("its their his her".split())
# One of these is "they" as well as "it".
_MANY_IN_ONE = frozenset("company team staff police bank insurance insurer family band".split())
_ANIMALS = frozenset("dog cat puppy kitten horse rabbit parrot".split())
# Named for when, not for what: "in the summer how often does it run".
_TIMES = frozenset(
    "morning afternoon evening night noon midnight weekend weekday week month year today tomorrow "
    "tonight monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall "
    "winter january february march april may june july august september october november december "
    "christmas easter thanksgiving moment minute".split()
)
_JOINS = frozenset("and or but so then".split())
_BEGINS_CLAUSE = frozenset(
    "if when before after because since while although that until unless once as who which "
    "said says told".split()
)
_WH = frozenset("how what when where which who why what's where's when's how's".split())
_AUX = frozenset("is are was were do does did can could will would should has have".split())
_PERSONAL = frozenset(
    "it that they them he she i you we these those there anyone someone anybody somebody".split()
)
_DETERMINERS = frozenset("the a an my our your his her all most some any every each".split())
_FIRST_CLAUSE = frozenset("if when once before after until while as because since".split())
_AT_FIRST = frozenset("in on at for with without during from by".split())
_LACKED = frozenset("don't no without haven't not didn't".split())
_OF_MINE = frozenset("i i'm i've we we've we're my".split())
# After "I have insurance" these still ask about what was asked about before.
_ASKS_HOW_MUCH = frozenset({"how much", "how long", "what time", "where is", "when is"})


def named_inside(words: list[str], at: int) -> bool:
    """Whether the pronoun at ``at`` stands for a thing named in ``words`` themselves."""
    names = [(start, end) for start, end in runs_of(words) if not start <= at < end]
    for start, end in names:
        # "A heat pump and how they work": joined clauses go on about the same, in any number.
        agrees = any(_agrees(word, words[at]) for word in words[start:end])
        if end <= at and (agrees or _joined(words, end, at)) and _links(words, start, end, at):
            return True
        if at < start and agrees and _comes_after(words, start, at):
            return True
    return False


def _agrees(head: str, pronoun: str) -> bool:
    """Whether ``head``, the last word of a name, can be called ``pronoun``."""
    bare = head.removesuffix("'s")
    one = bare[:-1] if bare.endswith("s") else bare
    if bare in _TIMES or one in _TIMES:
        return False
    if bare in PERSONS or one in PERSONS:
        return pronoun in _OF_PEOPLE | _PLURAL
    if pronoun in _OF_PEOPLE:
        return bare in _ANIMALS
    if pronoun in _PLURAL:
        return is_plural(bare) or bare in _MANY_IN_ONE
    return not is_plural(bare)


def _links(words: list[str], start: int, end: int, at: int) -> bool:
    """Whether the name from ``start`` to ``end`` may be what the pronoun at ``at`` stands for."""
    if words[at] in _POSSESSIVE and (_acts(words, start) or words[at + 1 : at + 2] == ["own"]):
        return True
    begins = _clause_between(words, end, at)
    if begins is None or _LACKED & set(words[max(0, start - 3) : start]):
        return False
    if words[0] in _AT_FIRST and begins > 0 and start <= 2 and words[begins] in _WH | _AUX:
        return words[0] == "for"
    about_me = words[0] in _OF_MINE and " ".join(words[begins : begins + 2]) in _ASKS_HOW_MUCH
    return not about_me


def _joined(words: list[str], end: int, at: int) -> bool:
    """ "… and how they are", "… or is it"."""
    if words[at] in _OF_PEOPLE:
        return False
    return any(
        words[n] in _JOINS and words[n + 1] in _AUX | _WH | _PERSONAL for n in range(end, at)
    )


def _acts(words: list[str], start: int) -> bool:
    """Whether the name at ``start`` is the one that does something: "do your plumbers bring"."""
    before = start - 1
    while before > 0 and words[before] in _DETERMINERS:
        before -= 1
    return before >= 0 and words[before] in _AUX


def _clause_between(words: list[str], end: int, at: int) -> int | None:
    """Where the last clause that begins from ``end`` up to ``at`` begins; None if none does."""
    asked = _asks_first(words)
    found = None
    aux_seen = not asked or any(word in _AUX for word in words[:end])
    for n in range(end, at):
        word, following = words[n], words[n + 1]
        joins = word in _JOINS and (at - n <= 3 or following in _AUX | _WH | _PERSONAL)
        if joins or word in _BEGINS_CLAUSE | _WH:
            found = n
        elif word in _AUX:
            if aux_seen and following in _PERSONAL and words[n - 1] not in _WH:
                found = n
            aux_seen = True
    return found


def _asks_first(words: list[str]) -> bool:
    """ "How many rooms does it have", not "when a child has a fever"."""
    if words[0] in ("and", "but", "so"):
        words = words[1:]
    if not words or words[0] not in _WH:
        return False
    return not (words[0] == "when" and words[1:2] and words[1] not in _AUX)


def _comes_after(words: list[str], start: int, at: int) -> bool:
    """ "When it is ready, where do I fetch the car": the name in the main clause at ``start``."""
    if words[0] not in _FIRST_CLAUSE or words[1] in _AUX or words[start - 1] not in _DETERMINERS:
        return False
    return any(one in _AUX and other in _PERSONAL for one, other in pairwise(words[at + 1 : start]))
