"""What of a business is spoken of: a small general lexicon of services and charges.

A question for one of these is not answered by a value that is said of another.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SERVICES = {
    "deposit": r"deposits?|down[- ]?payments?|up ?front|holding fee|prepay\w*|put down|retainer",
    "parking": r"park(?:ing|ed)?|car ?park|valet|garage|parking lot",
    "internet": r"wi-?fi|internet|broadband|wireless",
    "breakfast": r"breakfasts?",
    "pets": r"pets?|dogs?|cats?|pupp(?:y|ies)|animals?",
    "cancellation": r"cancel\w*|no[- ]shows?|call(?:ing)? off",
    "refund": r"refund\w*|money back|returns? policy",
    "delivery": r"deliver\w*|ship\w*|courier|(?:bring|send|get) (?:it|them|this|that) to",
    "shuttle": r"shuttles?|airport transfers?",
    "laundry": r"laundry|dry[- ]clean\w*|ironing",
    "pool": r"pools?|swim\w*",
    "gym": r"gym|fitness (?:cent(?:er|re)|room)|workout",
    "crib": r"cribs?|cots?|rollaway\w*|extra beds?|extra cots?",
    "smoking": r"smok\w+",
    "gift card": r"gift (?:cards?|certificates?|vouchers?)|vouchers?",
    "luggage": r"luggage|baggage|suitcases?|left bags",
    "tax": r"tax(?:es)?|vat",
    "tip": r"tips?|gratuit\w+|service charge",
    "membership": r"membership\w*",
    "towels": r"towels?",
    "lockers": r"lockers?",
    "key": r"keys?|key ?cards?",
    "spa": r"spa|massages?",
    "sauna": r"saunas?",
    "bar": r"bar|cocktails?",
    "meeting": r"meeting rooms?|conference\w*|event space",
}
_FORMS = tuple((name, re.compile(rf"\b(?:{rx})\b")) for name, rx in _SERVICES.items())
_ANY = re.compile(rf"\b(?:{'|'.join(_SERVICES.values())})\b")


@lru_cache(maxsize=16384)
def services(text: str) -> frozenset[str]:
    """The services that ``text`` (lower case) names."""
    if not _ANY.search(text):
        return frozenset()
    return frozenset(name for name, form in _FORMS if form.search(text))
