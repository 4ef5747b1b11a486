"""How a follow-up opens, and the words in it that name no new subject."""

from __future__ import annotations

import re

# "i'm what about sunday" (what the recogniser makes of
# "um, and what about"), "and the lab", "for children", "and where is that".
# Before "about" at the start of a turn the recogniser hears "what" as "one" (2 of 33 recorded
# follow-ups, and 3 of 20 cuts of one of them) and "how" as "held" or "fell" (1 of 8 each).
FOLLOW_UP_WITHIN = re.compile(r"^(?:\S+ ){0,3}?(?:what|how|1|one|held|fell) about\b ?")
_NO_QUESTION = (
    r"(?!.*\b(?:how|what|when|where|which|who|why|is|are|do|does|did|can|could|will|would|should|i|"
    r"you|we|it|that|there)\b)(?=\S+(?: \S+){0,3}$)"
)
FRAGMENT = re.compile(rf"^(?:and |(?=(?:for|on|in|at|with|until) )){_NO_QUESTION}")
DAY_AFTER = re.compile(
    r"\b(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)?day) (?:after|before)$"
)
PERSON = re.compile(
    r"\b(?:(?:a|an|the) )?(?:(?:new|returning|existing) )?(?:adult|child|kid|senior|infant|"
    r"toddler|teen|teenager|student|visitor|guest|patient)s?\b|\b(?:a )?(?:children|baby|babies)\b"
)
# A chain of follow-ups adds words with each: the question that it began with stands first.
CONTEXT_WORDS = 20
# Words of a follow-up that name no new subject: "what about on sunday then".
EMPTY_WORDS = frozenset(
    "a an the on in at for of and or then that this these those it next day days too also "
    "instead please now is are do you your i my we".split()
)
_NOT_OF_A_THING = EMPTY_WORDS | frozenset(
    "how what when where which who long much many often does did can could will would should "
    "have has get take takes need to before after with without if cost costs there any about "
    "was were be been me us he she they".split()
)


def replace_thing(before: str, new: str) -> tuple[str, str]:
    """A thing of the same kind replaced: "a blood sugar test" for "a cholesterol test".

    The kind is the last word of ``new``, and the thing in ``before`` is that word with the words
    of substance right before it. Returns the new question and what is left to append.
    """
    old, thing = before.split(), new.split()
    while thing and thing[0] in EMPTY_WORDS:
        thing = thing[1:]
    if len(thing) < 2 or thing[-1] not in old or not set(thing) - set(old):
        return before, new
    end = old.index(thing[-1])
    start = end
    while start > 0 and end - start < 3 and old[start - 1] not in _NOT_OF_A_THING:
        start -= 1
    return " ".join([*old[:start], *thing, *old[end + 1 :]]), ""
