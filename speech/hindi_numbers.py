"""Numbers as Hindi words, and Hindi words as numbers.

Every number below a hundred has a word of its own, and most have more than one spelling.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal

BELOW_HUNDRED = tuple(
    "शून्य एक दो तीन चार पाँच छह सात आठ नौ "
    "दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस "
    "बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस "
    "तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस "
    "चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास "
    "पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ "
    "साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर "
    "सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी "
    "अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी "
    "नब्बे इक्यानबे बानबे तिरानबे चौरानबे पंचानबे छियानबे सत्तानबे अट्ठानबे निन्यानबे".split()
)
_OTHER_SPELLINGS = {
    0: "जीरो ज़ीरो सिफर", 5: "पांच", 6: "छः छ छे छै", 11: "ग्यारा",
    15: "पन्द्रह", 17: "सतरह", 18: "अट्ठारह", 19: "उन्निस", 22: "बाइस",
    23: "तेइस", 24: "चौबिस", 27: "सत्ताइस", 28: "अठाईस अट्ठाइस अठ्ठाईस",
    29: "उनत्तीस उन्तीस", 31: "इकत्तीस", 38: "अड़तिस", 39: "उन्तालीस उनचालीस",
    42: "ब्यालीस बियालीस", 43: "तिरालीस तेंतालीस",
    44: "चवालीस चौंवालीस चौआलीस", 46: "छयालीस", 49: "उन्चास", 51: "इक्यावान",
    53: "तिरपन तिरेपन", 58: "अठावन अठ्ठावन", 59: "उनसट उन्सठ", 63: "तिरसठ",
    64: "चौसठ", 67: "सरसठ", 69: "उन्हत्तर उनहतर", 71: "इकहतर", 72: "बहतर",
    75: "पिचहत्तर पचत्तर", 76: "छियत्तर", 77: "सतत्तर", 78: "अठत्तर अठहतर",
    79: "उन्यासी उन्नासी", 80: "असी", 81: "इकासी", 85: "पिचासी", 87: "सतासी",
    88: "अठासी", 91: "इक्यानवे", 92: "बानवे", 93: "तिरानवे", 94: "चौरानवे",
    95: "पंचानवे पचानवे पिचानवे", 96: "छियानवे", 97: "सत्तानवे सतानवे",
    98: "अट्ठानवे अठानवे", 99: "निन्यानवे निन्नानवे",
}  # fmt: skip
_SCALES = (
    (10**17, "शंख"), (10**15, "पद्म"), (10**13, "नील"), (10**11, "खरब"), (10**9, "अरब"),
    (10**7, "करोड़"), (10**5, "लाख"), (10**3, "हज़ार"), (100, "सौ"),
)  # fmt: skip
_IRREGULAR = {1: "पहल", 2: "दूसर", 3: "तीसर", 4: "चौथ", 6: "छठ"}


def plain(word: str) -> str:
    """A word without the signs that spellings differ in: nukta, and the nasal sign's two forms."""
    decomposed = unicodedata.normalize("NFD", word)
    return decomposed.replace("़", "").replace("ँ", "ं").replace("न्द", "ंद")


_VALUES = {plain(word): n for n, word in enumerate(BELOW_HUNDRED)} | {
    plain(word): n for n, words in _OTHER_SPELLINGS.items() for word in words.split()
}
_SCALE_VALUES = {plain(name): scale for scale, name in _SCALES}
_QUARTERS = {plain(w): Decimal(q) for w, q in {"सवा": "0.25", "साढ़े": "0.5", "पौने": "-0.25"}.items()}
_HALVES = {plain(w): Decimal(v) for w, v in {"डेढ़": "1.5", "ढाई": "2.5", "अढ़ाई": "2.5"}.items()}
_DOUBLED = {plain("डबल"): 2, plain("ट्रिपल"): 3}


def cardinal(number: str) -> str:
    """``1250`` -> एक हज़ार दो सौ पचास; ``98.6`` -> अट्ठानबे दशमलव छह."""
    whole, _, fraction = number.replace(",", "").partition(".")
    words = _whole(int(whole or "0"))
    return f"{words} दशमलव {digits(fraction)}" if fraction else words


def _whole(number: int) -> str:
    if number < 100:
        return BELOW_HUNDRED[number]
    for scale, name in _SCALES:
        if number >= scale:
            rest = number % scale
            head = f"{_whole(number // scale)} {name}"
            return f"{head} {_whole(rest)}" if rest else head
    raise AssertionError(number)


def digits(number: str) -> str:
    """``0142`` -> शून्य एक चार दो, one word a digit; anything else in it is dropped."""
    return " ".join(BELOW_HUNDRED[int(d)] for d in number if d in "0123456789")


def year(number: str) -> str:
    """``1947`` -> उन्नीस सौ सैंतालीस; ``2026`` -> दो हज़ार छब्बीस."""
    value = int(number)
    if not 1100 <= value <= 1999:
        return cardinal(number)
    rest = f" {BELOW_HUNDRED[value % 100]}" if value % 100 else ""
    return f"{BELOW_HUNDRED[value // 100]} सौ{rest}"


def ordinal(number: str, ending: str) -> str:
    """``2``, ``री`` -> दूसरी; ``25``, ``वीं`` -> पच्चीसवीं; the ending is as it is written."""
    stem = _IRREGULAR.get(int(number))
    if stem and ending[-1] in "ाीे":
        return stem + ending[-1]
    return cardinal(number) + (ending if ending.startswith("व") else "वां")


def and_a_half(whole: int) -> str:
    """``1`` -> डेढ़, ``2`` -> ढाई, ``7`` -> साढ़े सात, ``0`` -> आधा."""
    return {0: "आधा", 1: "डेढ़", 2: "ढाई"}.get(whole) or f"साढ़े {BELOW_HUNDRED[whole]}"


def clock(hour: int, minute: int) -> str:
    """``7``, ``30`` -> साढ़े सात बजे; quarters by their own words, other minutes counted."""
    if minute == 0:
        return f"{BELOW_HUNDRED[hour]} बजे"
    if minute == 30:
        return f"{and_a_half(hour)} बजे"
    if minute == 45:
        return f"पौने {BELOW_HUNDRED[hour % 12 + 1]} बजे"
    if minute == 15:
        return f"सवा {BELOW_HUNDRED[hour]} बजे"
    return f"{BELOW_HUNDRED[hour]} बजकर {BELOW_HUNDRED[minute]} मिनट"


def digit_at(words: Sequence[str], at: int) -> tuple[str, int]:
    """A number below a hundred at word ``at`` as digits ("डबल नौ" is 99), and words taken."""
    word = words[at] if at < len(words) else ""
    if word in _DOUBLED and at + 1 < len(words) and _VALUES.get(words[at + 1], 10) < 10:
        return str(_VALUES[words[at + 1]]) * _DOUBLED[word], 2
    if word in _VALUES:
        return str(_VALUES[word]), 1
    return (word, 1) if word.isdecimal() else ("", 0)


def number_at(words: Sequence[str], at: int) -> tuple[Decimal, int]:
    """A number in words (each ``plain``) that begins at ``at``, and words taken; 0 for none.

    "साढ़े सात सौ" is 750, "ढाई लाख" 250000, "पौने चार" 3.75, "एक सौ एक दशमलव छह" 101.6.
    """
    total, here, lowest = Decimal(0), at, Decimal(10) ** 18
    while here < len(words):
        group, used = _group(words, here)
        if not used and here == at and words[here] in _SCALE_VALUES:
            group = Decimal(1)  # "सौ रुपये"
        elif not used:
            break
        scale = _SCALE_VALUES.get(words[here + used]) if here + used < len(words) else None
        hundreds = scale == 100 and lowest > 100
        if hundreds:
            group, used = group * 100, used + 1
            rest, more = _group(words, here + used)
            if more and rest < 100 and rest == int(rest):
                group, used = group + rest, used + more
            follows = here + used < len(words)
            scale = _SCALE_VALUES.get(words[here + used]) if follows else None
        if scale and 100 < scale < lowest:
            total, lowest, here = total + group * scale, Decimal(scale), here + used + 1
            continue
        if group >= lowest:
            break
        total, here = total + group, here + used
        break
    if here > at:
        fraction, used = _fraction(words, here)
        if used:
            return Decimal(f"{int(total)}.{fraction}"), here + used - at
    return total, here - at


def _fraction(words: Sequence[str], at: int) -> tuple[str, int]:
    """The digits after a spoken point, and words taken, the point's too."""
    if at >= len(words) or words[at] != _POINT:
        return "", 0
    said, used = "", 1
    while True:
        digit, more = digit_at(words, at + used)
        if not more or len(digit) > 1:
            return said, used if said else 0
        said, used = said + digit, used + more


_POINT = plain("दशमलव")


def _group(words: Sequence[str], at: int) -> tuple[Decimal, int]:
    """A number below a hundred with its quarter word."""
    word = words[at] if at < len(words) else ""
    if word in _HALVES:
        return _HALVES[word], 1
    if word in _QUARTERS and at + 1 < len(words):
        if words[at + 1] in _VALUES:
            return _VALUES[words[at + 1]] + _QUARTERS[word], 2
        if words[at + 1] in _SCALE_VALUES:  # सवा सौ
            return 1 + _QUARTERS[word], 1
    if word in _VALUES:
        return Decimal(_VALUES[word]), 1
    if word.replace(".", "", 1).isdecimal():
        return Decimal(word), 1
    return Decimal(0), 0


_ORDINAL_ENDINGS = tuple(plain(e) for e in ("वां", "वीं", "वें", "वा", "वी", "वे"))


def ordinal_at(words: Sequence[str], at: int) -> tuple[int, str, int]:
    """An ordinal ("एक सौ उन्नीसवीं"), its ending, and words taken."""
    for end in range(at, min(at + 8, len(words))):
        word = words[end]
        for ending in _ORDINAL_ENDINGS:
            stem = word.removesuffix(ending)
            if stem != word and (stem in _VALUES or stem in _SCALE_VALUES):
                number, used = number_at([*words[at:end], stem], 0)
                whole = used == end - at + 1 and number == int(number)
                return (int(number), ending, used) if whole else (0, "", 0)
        if word not in _VALUES and word not in _SCALE_VALUES:
            break
    return 0, "", 0
