"""The thing that a question is about: what "it" in the next one stands for.

No parser and no model: words are told apart by lists of English function words and of words that
say what is asked of a thing ("price", "types", "take") rather than which thing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rag.follow_up.terms import is_function_word
from rag.pieces import stem

# Said of a thing: what about it is asked. Nouns, adjectives, then verbs.
_GENERIC = (
    "type kind sort form version example part way method step feature aspect element component "
    "layer level effect side impact influence implication consequence result outcome benefit "
    "advantage disadvantage pro con positive negative risk danger downside problem issue challenge "
    "reason cause purpose goal aim role function use importance significance meaning definition "
    "origin history story background invention development discovery founder creation symptom "
    "sign treatment cure difference similarity relationship comparison contrast rule law "
    "regulation "
    "limit requirement condition restriction policy process procedure cost price fee charge rate "
    "amount total discount money size length age duration time hour day date deadline period year "
    "place address location number phone email website name term word information info detail "
    "summary overview description clarification idea tip option choice alternative opinion "
    "experience source evidence argument fact thing stuff person people world life "
    "main major common popular best better good great bad worse worst biggest largest smallest "
    "big small first second third last next new old early late recent famous important "
    "interesting specific particular general typical average average overall basic different "
    "similar possible available effective harmful safe free cheap expensive normal common long "
    "short high low quick easy hard difficult full whole real true sure fine well okay cool wow "
    "compare describe explain clarify define discuss mention recommend suggest summarize "
    "learn understand think say said mean call called take takes took cost open close need want "
    "make made work works help affect happen happened cause causes become became start begin began "
    "end come came go goes find found give show look see seen say speak talk talking read hear "
    "heard try use used using create created develop developed invent invented discover "
    "discovered build built treat treated spread grow grown change changed increase decrease "
    "improve reduce avoid prevent protect pay charge offer provide include contain involve "
    "relate related compared differ consider considered recommended known know feel live die "
    "kill last lasts stay keep left leave bring send sent receive get gets getting buy sell "
    "accept require required allow allowed do done did choose support supported handle manage "
    "eat drink cook store reach ask answer please currently usually really actually "
    "probably also away today nowadays interest ready worth possible carry adapt respond travel "
    "fit ill owed never rather around along "
    "younger older incredible amazing beautiful nice speaking talking wonder future instrumental "
    "sounds looks seems "
    "due cover matter expire ability weak friend way lot bit kinds anyway instead together alone "
    "per via vs versus etc"
)
GENERIC = frozenset(stem(word) for word in _GENERIC.split())
# What only something else can have.
PARTS = frozenset(
    "type types kind kinds effect effects symptom symptoms cause causes advantage advantages "
    "disadvantage disadvantages pros cons benefit benefits risk risks impact influence "
    "implications "
    "role relationship sources version versions history origin treatment treatments significance "
    "layers price cost costs results requirements uses meaning purpose".split()
)
_BEFORE_TOPIC = frozenset({"of", "about", "between"})
_AUX = frozenset(
    "is are was were do does did can could will would should has have had what's who's".split()
)
_DO = frozenset("do does did can could will would should has have had may might".split())
# "How do i file a complaint": what follows these is done, not named.
_BEFORE_VERB = frozenset("i you we they please not".split())
_BEFORE_TO = frozenset("want need have how like plan going try able used".split())
_ADVERB = re.compile(
    r"(?!(?:year|month|week|dai|fami|sup|rep|assemb|ju|butterf|je|be|anoma|f|app|ita)ly$)\w{3,}ly$"
)
PERSONS = frozenset(
    "adult child children kid kids baby infant toddler teen teenager student visitor guest patient "
    "son daughter husband wife mother mom mum father dad brother sister friend partner grandma "
    "grandpa grandmother grandfather boy girl man woman doctor dr nurse dentist vet driver owner "
    "customer client member reader passenger person someone somebody anyone anybody everyone "
    "nobody".split()
)
TWO_WORDS = frozenset({("check", "in"), ("check", "out"), ("drop", "off"), ("pick", "up")})
_KINDS = frozenset("visit visits appointment appointments form forms exam exams service".split())
# Inside a name: "vitamin d test", "follow up visit".
_INSIDE = frozenset({"b", "c", "d", "e", "x", "up", "in", "off"})
_PLURALS = frozenset("people children men women feet teeth mice police".split())
# Generic alone, but the head of a name of two: "oil change", "summer term".
_HEADS = frozenset("change term stay train form course issue call card hour".split())
# And what a name may begin with after an article: "a day pass", "the price list".
_LEADS = frozenset(
    "day night week month year time life price phone name first last early late".split()
)
_BESIDE = frozenset({"without", "after", "before", "until"})
_BE = frozenset({"is", "are", "was", "were"})
_ARTICLES = frozenset({"a", "an", "the", "my", "your", "some", "any"})


@lru_cache(maxsize=1024)
def subject_of(question: str) -> str:
    """The words of ``question`` (clean, lower case) that name its subject; "" if none does.

    The words after "of", "about" or "between" if they name something; else those right after
    the auxiliary ("does melatonin help"); else the longest run of words that name things.
    """
    words = question.split()
    runs = runs_of(words)
    if not runs:
        done = (word for at, word in enumerate(words) if is_specific(word) and _is_verb(words, at))
        return next(done, "")
    runs = [run for run in runs if not _is_lacked(words, run[0])]
    runs = [run for run in runs if not _is_person(words[run[1] - 1])] or runs
    if not runs:
        return ""
    for start, end in runs:
        if start and _preceding(words, start) in _BEFORE_TOPIC:
            return " ".join(words[start:end])
    for start, end in runs:
        if start and _preceding(words, start) in _AUX:
            return " ".join(words[start:end])
    start, end = max(runs, key=lambda run: (run[1] - run[0], -run[0]))
    return " ".join(words[start:end])


def _is_lacked(words: list[str], start: int) -> bool:
    """ "Is it possible to come without an appointment", "after check out": not what is asked."""
    return start > 0 and _preceding(words, start) in _BESIDE


def _is_person(word: str) -> bool:
    return word in PERSONS or word.removesuffix("s") in PERSONS


def is_specific(word: str) -> bool:
    """Whether ``word`` names a thing of its own: no function word, nothing said of things."""
    bare = word.removesuffix("'s")
    if is_function_word(word) or bare.isdigit() or _ADVERB.match(bare):
        return False
    return stem(bare) not in GENERIC


def is_plural(name: str) -> bool:
    """Whether ``name`` stands for several: "the side effects", "cats and dogs"."""
    head = name.split(" of ")[0].split()[-1]
    return (
        " and " in name
        or head in _PLURALS
        or (len(head) > 3 and head.endswith("s") and not head.endswith(("ss", "us", "is", "'s")))
    )


def runs_of(words: list[str]) -> list[tuple[int, int]]:
    """Where things are named in ``words``: the start and end of each name."""
    return [run for run in _runs(words) if _is_name(words, *run)]


def _preceding(words: list[str], start: int) -> str:
    at = start - 1
    while at > 0 and words[at] in _ARTICLES:
        at -= 1
    return words[at]


def _runs(words: list[str]) -> list[tuple[int, int]]:
    """Where words that name things stand together: ``start`` and ``end`` of each run.

    A generic word right after a run may end the name ("energy drinks", "seafloor spreading"); one
    that begins a run does not belong to it ("popular bars").
    """
    runs: list[tuple[int, int]] = []
    at = 0
    while at < len(words):
        if not is_specific(words[at]):
            at += 1
            continue
        if _is_verb(words, at):
            at += 1
            continue
        end = at
        while end < len(words) and (is_specific(words[end]) or _is_inside(words, end)):
            end += 1
        if tuple(words[end - 1 : end + 1]) in TWO_WORDS:
            end += 1
        elif end + 1 < len(words) and words[end] in ("of", "and") and is_specific(words[end + 1]):
            end += 1
            while end < len(words) and is_specific(words[end]):
                end += 1
        elif end < len(words) and _ends_a_name(words, at, end):
            end += 1
        end = _with_lack(words, end)
        runs.append((at - _leads(words, at), end - _says_of_it(words, at, end)))
        at = end
    return runs


def _ends_a_name(words: list[str], start: int, end: int) -> bool:
    """Whether the generic word at ``end`` belongs to the run before it, and is no verb of it."""
    if words[end] in _HEADS and start and words[start - 1] in _ARTICLES:
        return not _ARTICLES & set(words[end + 1 : end + 2])
    if not words[end].endswith(("s", "ing")) and words[end] not in _HEADS:
        return False
    if is_function_word(words[end]) or (start and _preceding(words, start) in _DO):
        return False
    return end + 1 == len(words) or is_function_word(words[end + 1])


def _leads(words: list[str], start: int) -> int:
    """1 if the generic word before the run at ``start`` belongs to it: "a day pass"."""
    return int(start > 1 and words[start - 1] in _LEADS and words[start - 2] in _ARTICLES)


def _says_of_it(words: list[str], start: int, end: int) -> int:
    """1 if the run's last word is not its name: "is the soup spicy", "are dogs welcome"."""
    if end - start < 2 or end < len(words):
        return 0
    before = start - (start > 0 and words[start - 1] in _ARTICLES)
    return int(before == 1 and words[0] in _BE)


def _is_verb(words: list[str], at: int) -> bool:
    """Whether the place of the word at ``at`` is that of a verb."""
    if not at:
        return False
    if words[at - 1] == "to":
        return at > 1 and words[at - 2] in _BEFORE_TO
    if words[at].endswith("ing") and at + 1 < len(words) and words[at + 1] in _ARTICLES:
        return True
    return words[at - 1] in _BEFORE_VERB


def _with_lack(words: list[str], end: int) -> int:
    """Where a name that ends at ``end`` ends with its "without an appointment"."""
    if end >= len(words) or words[end] != "without":
        return end
    after = end + 1 + (end + 1 < len(words) and words[end + 1] in _ARTICLES)
    last = after
    while last < len(words) and not is_function_word(words[last]):
        last += 1
    return last if last > after else end


def _is_inside(words: list[str], at: int) -> bool:
    """Whether the short word at ``at`` joins two words of one name."""
    if words[at] not in _INSIDE or at + 1 >= len(words) or not is_specific(words[at + 1]):
        return False
    return len(words[at]) == 1 or words[at + 1] in _KINDS


def _is_name(words: list[str], start: int, end: int) -> bool:
    """Not a lone "reorganized" or the "indoor" of "indoor versions": said of what was before."""
    if start and words[start - 1] == "per":
        return False
    if start > 1 and words[start - 1] in _BE and words[start - 2] in ("it", "they", "that"):
        return False
    if end - start > 1:
        return True
    if words[start].endswith("ed") and len(words[start]) > 4:
        return False
    after = words[end] if end < len(words) else ""
    if after == "cost" and start and words[start - 1] in _ARTICLES | _DO:  # a verb here
        return True
    return not (after in PARTS and (not start or words[start - 1] not in _BEFORE_TOPIC))
