"""The kind of value that a question asks for, and which kinds of values answer it.

Expected answer types, after Li and Roth, Learning Question Classifiers (COLING 2002).
"""

from __future__ import annotations

import re
from functools import lru_cache

_OPENS = r"^(?:\w+[,.]? ){0,2}?"
_BE = r"(?:is|are|was|does|do|did|will|would|can|for|to|it|a|an|the|you|'?s)"
_ASKED: tuple[tuple[str, str], ...] = (
    ("phone", r"\b(?:phone|telephone) numbers?\b|\bnumber (?:do|can|should|could"
      r"|would) i (?:call|ring|dial)"
              r"|\bnumber to (?:call|ring|dial)|\bwho (?:do|can|should|could) i (?:call|ring)\b"),
    ("fax", r"\bfax numbers?\b|\bnumber (?:do|can|should|could|would) i fax\b"
            r"|\bnumber to fax\b"),
    ("address", r"\bwhat(?:'s| is)? (?:the |your )?(?:exact )?address\b"
                r"|\b(?:street|postal|mailing) address\b"),
    ("email", r"\be-?mail address\b"),
    ("percentage", r"\bwhat (?:percent(?:age)?|share)\b|\bhow many percent\b"),
    ("duration", r"\bhow (?:long\b(?! ago| (?:is|are) (?:the|your) (?:pool|track|lane|bed|table))"
                 r"|much (?:notice|time|longer)|many (?:minutes|hours|days|weeks|months|years"
                 r"|nights))\b"
                 r"|\bhow (?:soon|quick(?:ly)?|fast)\b|\bhow far (?:ahead|in advance)\b"),
    ("money", rf"\bhow (?:much|expensive)\b(?! (?:earlier|later|before|notice|time|longer"
      rf"|luggage|space|room|of)\b)(?= {_BE}\b|'s\b)"
              r"|\bwhat(?:'s| is| are| does| do| did| would| will| s)?\b[^,.?]*\b(?:costs?"
              r"|prices?|fees?|charge|charged|rate|fare|pay)\b"
              r"|\bthe (?:price|cost|fee|charge|fare|rate) (?:of|for)\b"),
    ("frequency", r"\bhow often\b"),
    ("distance", r"\bhow (?:far(?! (?:along|into|back|ahead|in advance|gone))|tall|wide|deep"
      r"|high)\b"),
    ("measure", r"\bhow (?:heavy|big|large|hot|warm)\b|\bhow much (?:does|do|can"
      r"|may) [^,.?]*\bweigh"),
    ("age", r"\bhow old\b|\bwhat age\b|\bage limit\b|\b(?:minimum|maximum) age\b|\bhow young\b"),
    ("time", r"\bwhat time\b|\b(?:what|your) (?:\w+ )?hours\b|\bwhat are the (?:\w+ )?hours\b"
      r"|\bhow (?:late|early)\b"
             r"|\bwhen (?:do|does|are|is|will) (?:\w+ ){1,4}(?:open|close|start|begin|finish"
             r"|end)s?\b|\buntil when\b"),
    ("count", r"\bhow many (?!percent|times|minutes|hours|days|weeks|months|years|nights)"),
    ("when", rf"{_OPENS}when\b|\bwhich days?\b|\bwhat days?\b"),
    ("place", rf"{_OPENS}where\b"),
    ("person", rf"{_OPENS}who(?:'s)?\b(?! (?:do|can|should) i call)|\b(?:which|what) (?:doctor"
      rf"|dentist|nurse|teacher|vet|coach|instructor|trainer|stylist|barber)\b"),
)  # fmt: skip
_KINDS = tuple((name, re.compile(rx)) for name, rx in _ASKED)
# Any of these answers; and words that answer without a value.
_ANSWERS: dict[str, tuple[frozenset[str], str]] = {
    "phone": (frozenset({"phone"}), r"\bsame number\b|\bon the back\b|\breception\b"),
    "fax": (frozenset(), r"\bfax(?:es|ed)?\b"),
    "address": (
        frozenset({"address"}),
        r"\b(?:street|avenue|road|lane|drive|boulevard|square|plaza|court|corner|building|floor"
        r"|suite|opposite|next to|across from|p\.? ?o\.? box)\b|@|\bwww\.",
    ),
    "email": (frozenset({"email"}), r"@"),
    "percentage": (
        frozenset({"percentage", "money"}),
        r"\b(?:half|third|quarter|full|whole|all)\b",
    ),
    "duration": (
        frozenset({"duration", "time", "date", "frequency", "distance", "age", "count", "measure"}),
        r"\b(?:immediately|straight away|right away|overnight|days?|nights?|weeks?|months?"
        r"|hours?|minutes?"
        r"|years?|morning|evening|noon|season|mon|tues|wednes|thurs|fri|satur|sun|until|till"
        r"|while|forever"
        r"|indefinite|unlimited|no limit|today|tomorrow|ever|life|soon|quick|short|long|spring"
        r"|summer|autumn"
        r"|winter|fall|january|february|march|april|may|june|july|august|september|october"
        r"|november|december)",
    ),
    "money": (
        frozenset({"money", "percentage"}),
        r"\b(?:free|complimentary|includ\w*|charge\w*|cost\w*|fees?|price\w*|rates?|pay\w*|half"
        r"|discount"
        r"|quote\w*|extra|cheap\w*|same|nothing|deposit|refund\w*|tax|percent|cover\w*|bill\w*"
        r"|tips?)\b",
    ),
    "frequency": (
        frozenset({"frequency", "duration", "time", "date"}),
        r"\b(?:every|each|per|an?|always|regular\w*|all|days?|(?:mon|tues|wednes|thurs|fri|satur"
        r"|sun)days?)\b",
    ),
    "distance": (
        frozenset({"distance", "duration", "measure", "address"}),
        r"\b(?:within|walk\w*|near\w*|next|close|minutes?|away|opposite|block|door|mile|inside"
        r"|across|unlimited|mileage|\d+)\b",
    ),
    "age": (
        frozenset({"age", "count", "duration", "time"}),
        r"\b(?:age[ds]?|adults?|birthday|born|year|child\w*|school|grade|old\w*|young\w*|teen\w*"
        r"|any|under|over|\d+|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
        r"|twelve))\b",
    ),
    "time": (
        frozenset({"time", "duration", "date"}),
        r"\b(?:noon|midnight|clos\w*|open\w*|hours?|sunset|sunrise|dusk|dawn|dark|morning"
        r"|evening|afternoon"
        r"|night|any ?time|early|late|before|after|day|lunch|breakfast|dinner|\d+)\b",
    ),
    "count": (
        frozenset({"count", "measure", "age", "money", "percentage", "duration", "frequency"}),
        r"\b(?:one|both|single|an?|no|unlimited|as many|two|pair|dozen|couple|three|four|five"
        r"|six|seven|eight|nine|ten|eleven|twelve|all|any|each|every|half|once|twice)\b|\d",
    ),
}  # fmt: skip
_ANSWER_WORDS = {name: re.compile(words) for name, (_, words) in _ANSWERS.items()}
_HOURS_ONLY = re.compile(r"\b(?:open(?:s|ed)?|closed?|closes|hours)\b")
_PERSON = re.compile(
    r"\b(?:dr|doctor|mr|mrs|ms|nurse|dentist|teacher|team|staff|manager|owner|he|she|they|"
    r"members?|anyone|everyone|guests?|people|patients?|by|assistant|therapist)\b"
)


@lru_cache(maxsize=256)
def kind_asked(question: str) -> str:
    """The kind that ``question`` (lower case) asks for, or ''. The last question counts."""
    found = ""
    at = -1
    for name, form in _KINDS:
        for one in form.finditer(question):
            if one.start() > at:
                found, at = name, one.start()
    return found


def answers(kind: str, kinds: frozenset[str], text: str) -> bool:
    """Whether a sentence with values of ``kinds`` and of words ``text`` may answer ``kind``."""
    if kind == "person":
        return not (kinds == {"time"} and _HOURS_ONLY.search(text) and not _PERSON.search(text))
    if kind not in _ANSWERS:
        return True
    return bool(kinds & _ANSWERS[kind][0]) or bool(_ANSWER_WORDS[kind].search(text))


def value_kinds(kind: str) -> frozenset[str]:
    """The kinds of values that answer ``kind`` best; empty if any may."""
    return _ANSWERS[kind][0] if kind in _ANSWERS else frozenset()
