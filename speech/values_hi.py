"""Values of a Hindi text, English ones in it included."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from speech.hindi_numbers import digit_at, number_at, ordinal_at, plain
from speech.number_words import Word
from speech.phone_words import phone_written
from speech.values import Kind, Meaning, Value
from speech.values_en import values_of as _english

_WORD = re.compile(
    r"\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d+(?:\.\d+)?|(?:[^\W\d_]|[\u0900-\u0963\u0971-\u097f\u200c\u200d])+"
)
_LATIN = re.compile(r"[^\u0900-\u0963\u0971-\u097f]*[A-Za-z0-9][^\u0900-\u0963\u0971-\u097f]*")
_MONTHS = {
    plain(word): number
    for number, words in enumerate(
        ("जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर सितम्बर",
         "अक्टूबर अक्तूबर", "नवंबर नवम्बर", "दिसंबर दिसम्बर"),
        1,
    )
    for word in words.split()
}  # fmt: skip
_COINS = {
    plain(word): (code, sign)
    for words, code, sign in (
        ("रुपये रुपए रुपया रुपयों रूपये रूपए", "INR", "₹"), ("डॉलर", "USD", "$"), ("यूरो", "EUR", "€"),
        ("पाउंड", "GBP", "£"), ("लीरा लिरा", "TRY", "₺"), ("येन", "JPY", "¥"),
    )
    for word in words.split()
}  # fmt: skip
_PAISE = frozenset(plain(w) for w in ("पैसे", "पैसा", "सेंट"))
_PERCENT = frozenset(plain(w) for w in ("प्रतिशत", "फीसदी", "फ़ीसदी", "परसेंट"))
_UNITS = {
    plain(words): (unit, short)
    for unit, short, names in (
        ("minute", "", "मिनट"), ("hour", "", "घंटा घंटे घण्टे घंटों"), ("day", "", "दिन दिनों"),
        ("week", "", "हफ़्ते हफ़्ता सप्ताह"), ("month", "", "महीने महीना माह"),
        ("year", "yr", "वर्ष साल"),
        ("kilogram", "kg", "किलोग्राम किलो किग्रा"), ("gram", "g", "ग्राम"),
        ("milligram", "mg", "मिलीग्राम मिलिग्राम"),
        ("liter", "L", "लीटर"), ("milliliter", "ml", "मिलीलीटर"), ("meter", "m", "मीटर"),
        ("kilometer", "km", "किलोमीटर किमी"), ("centimeter", "cm", "सेंटीमीटर"),
        ("millimeter", "mm", "मिलीमीटर"),
        ("foot", "ft", "फुट फीट फ़ीट"), ("inch", "in", "इंच"), ("mile", "mi", "मील"),
        ("mile per hour", "mi/h", "मील~प्रति~घंटा"),
        ("kilometer per hour", "km/h", "किलोमीटर~प्रति~घंटा"),
        ("acre", "ac", "एकड़"), ("gallon", "gal", "गैलन"), ("kelvin", "K", "कैल्विन केल्विन"),
        ("degree Celsius", "°C", "डिग्री~सेल्सियस"),
        ("degree Fahrenheit", "°F", "डिग्री~फारेनहाइट"),
        ("square meter", "m²", "वर्ग~मीटर"), ("square kilometer", "km²", "वर्ग~किलोमीटर"),
        ("square centimeter", "cm²", "वर्ग~सेंटीमीटर"), ("square foot", "sq ft", "वर्ग~फुट वर्ग~फ़ीट"),
    )
    for words in (name.replace("~", " ") for name in names.split())
}  # fmt: skip
_PARTS = {
    plain(word): half
    for half, words in (("am", "सुबह सवेरे तड़के"), ("pm", "दोपहर शाम"), ("night", "रात"))
    for word in words.split()
}
_OF = frozenset(plain(w) for w in ("के", "को", "की", "में"))
_O_CLOCK, _PAST, _MINUTES = plain("बजे"), frozenset({plain("बजकर"), plain("बजके")}), plain("मिनट")
_OVER, _PLUS, _FROM = plain("बटा"), plain("प्लस"), plain("से")
_AND, _NUMBER = plain("सही"), plain("नंबर")

Reader = Callable[[Sequence[Word], Sequence[str], int], "tuple[Value, int] | None"]


def values_of(text: str) -> tuple[Value, ...]:
    """The values of ``text``, in its order; none of them overlap."""
    decimal = "".join(c if not c.isdecimal() else str(int(c)) for c in text)
    words = [
        Word(plain(m[0]).replace(",", ""), m.start(), m.end()) for m in _WORD.finditer(decimal)
    ]
    plain_words = [word.text for word in words]
    found: list[Value] = []
    at = 0
    while at < len(words):
        read = next((r for reader in _READERS if (r := reader(words, plain_words, at))), None)
        if read:
            found.append(read[0])
        at += read[1] if read else 1
    return _with_english(decimal, found)


def _with_english(text: str, found: list[Value]) -> tuple[Value, ...]:
    """``found``, and what English readers find in the stretches of Latin script."""
    more: list[Value] = []
    for stretch in _LATIN.finditer(text):
        for value in _english(stretch[0]):
            start, end = value.start + stretch.start(), value.end + stretch.start()
            beside = [v for v in found if v.start < end and start < v.end]
            # "555-0142" is one number in English, several in Hindi.
            if all(start <= v.start and v.end <= end for v in beside):
                found = [v for v in found if v not in beside]
                more.append(
                    Value(
                        value.kind, value.value, start, end, value.written, value.unit, value.others
                    )
                )
    return tuple(sorted((*found, *more), key=lambda value: value.start))


def _value(
    words: Sequence[Word], at: int, used: int, kind: Kind, value: Decimal | str, written: str,
    unit: str = "", others: tuple[Meaning, ...] = (),
) -> tuple[Value, int]:  # fmt: skip
    start, end = words[at].start, words[at + used - 1].end
    return Value(kind, value, start, end, written, unit, others), used


def _at(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _shown(amount: Decimal) -> str:
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text and amount == int(amount) else text


def _digits(words: Sequence[str], at: int) -> tuple[str, int]:
    """Digits one by one, and words taken."""
    said, here = "", at
    while True:
        digit, used = digit_at(words, here)
        if not used or (len(digit) > 1 and used == 1):
            return said, here - at
        said, here = said + digit, here + used


def _phone(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    plus = said[at] == _PLUS
    digits, used = _digits(said, at + plus)
    if plus and used >= 9:
        return _value(words, at, used + 1, Kind.PHONE, f"+{digits}", _with_country(digits))
    if len(digits) == 7:
        return _value(words, at, used, Kind.PHONE, digits, phone_written(digits))
    if used >= 8:
        return _value(words, at, used, Kind.PHONE, digits, digits)
    if used >= 2:
        return _value(
            words, at, used, Kind.DIGITS, digits, digits, "", ((Kind.NUMBER, Decimal(digits)),)
        )
    return None


def _with_country(digits: str) -> str:
    return f"+{digits[:-10]} {digits[-10:]}"


def _time(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    """ "सुबह साढ़े सात बजे", "आठ बजकर पैंतालीस मिनट", "ढाई बजे"."""
    half = _PARTS.get(said[at], "")
    here = at + bool(half)
    here += bool(half) and _at(said, here) in _OF
    number, used = number_at(said, here)
    mark = _at(said, here + used)
    if not used or not 0 < number < 25:
        return None
    hour, minute = int(number), int(number % 1 * 60)
    here += used
    written = f"{hour}:{minute:02}"
    if mark == _O_CLOCK or mark in _PAST:
        here += 1
        minutes, more = number_at(said, here)
        if more and _at(said, here + more) == _MINUTES and minutes < 60:
            minute, here = int(minutes), here + more + 1
        elif mark in _PAST:
            return None
        written = f"{hour}:{minute:02} बजे"
    elif not _starts_a_range(said, here):
        return None
    times = [f"{hour % 24:02}:{minute:02}"]
    if 1 <= hour <= 12:
        times.append(f"{(hour + 12) % 24:02}:{minute:02}")
        times.sort(key=lambda t: not _of_part(int(t[:2]), said[at], half))
    others = () if half else tuple((Kind.TIME, t) for t in times[1:])
    # The part of the day stays as it was said.
    start = at if not half else at + 1 + (_at(said, at + 1) in _OF)
    value, _ = _value(words, start, here - start, Kind.TIME, times[0], written, "", others)
    return value, here - at


def _starts_a_range(said: Sequence[str], at: int) -> bool:
    """Whether "से पाँच बजे" stands there, so that what is before it is a time too."""
    used = number_at(said, at + 1)[1] if _at(said, at) == _FROM else 0
    return bool(used) and _at(said, at + 1 + used) == _O_CLOCK


def _of_part(hour: int, word: str, half: str) -> bool:
    if half == "night":
        return hour >= 18 or hour < 5
    return not half or (hour >= 12) == (half == "pm")


def _date(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    """ "तीस मार्च उन्नीस सौ नब्बे", "दिसंबर बारह", "फ़रवरी की बीस"."""
    if said[at] in _MONTHS:
        name, month, here = words[at], _MONTHS[said[at]], at + 1
        here += _at(said, here) in _OF
        day, used = _small(said, here)
        month_first = True
    else:
        day, used = _small(said, at)
        here, month_first = at, False
        if not used or _at(said, at + used) not in _MONTHS:
            return None
        name, month, here = words[at + used], _MONTHS[said[at + used]], at
        used += 1
    if not used or not 1 <= day <= 31:
        return None
    used += here - at
    year, more = number_at(said, at + used)
    year_text = str(int(year)) if more and 1000 <= year < 2100 else ""
    used += more if year_text else 0
    value = f"{year_text}-" * bool(year_text) + f"{month:02}-{day:02}"
    shown = _SPELLED[month - 1] if name.text in _MONTHS else name.text
    written = f"{shown} {day}" if month_first else f"{day} {shown}"
    return _value(words, at, used, Kind.DATE, value, written + f", {year_text}" * bool(year_text))


_SPELLED = (
    "जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर",
    "दिसंबर",
)  # fmt: skip


def _small(said: Sequence[str], at: int) -> tuple[int, int]:
    digits, used = digit_at(said, at)
    return (int(digits), used) if used and len(digits) <= 2 else (0, 0)


def _quantity(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    number, used = number_at(said, at)
    if not used:
        return None
    noun, shown = _at(said, at + used), _shown(number)
    if noun in _COINS:
        code, sign = _COINS[noun]
        part, more = number_at(said, at + used + 1)
        if more and _at(said, at + used + 1 + more) in _PAISE and part < 100:
            number += part / 100
            return _value(
                words, at, used + more + 2, Kind.MONEY, number, f"{sign}{number:.2f}", code
            )
        return _value(words, at, used + 1, Kind.MONEY, number, f"{sign}{shown}", code)
    if noun in _PERCENT:
        return _value(words, at, used + 1, Kind.PERCENT, number, f"{shown}%")
    if noun == _OVER:
        below, more = number_at(said, at + used + 1)
        if more and below:
            fraction = f"{shown}/{_shown(below)}"
            return _value(words, at, used + 1 + more, Kind.NUMBER, number / below, fraction)
    for length in (3, 2, 1):
        unit = _UNITS.get(" ".join(said[at + used : at + used + length]))
        if unit and at + used + length <= len(said):
            name, short = unit
            if not short:  # the unit's own word stays
                value, _ = _value(words, at, used, Kind.MEASURE, number, shown, name)
                return value, used + length
            return _value(words, at, used + length, Kind.MEASURE, number, f"{shown} {short}", name)
    return None


def _ordinal(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    number, ending, used = ordinal_at(said, at)
    if not used:
        return None
    return _value(words, at, used, Kind.ORDINAL, Decimal(number), f"{number}{ending}")


def _number(words: Sequence[Word], said: Sequence[str], at: int) -> tuple[Value, int] | None:
    number, used = number_at(said, at)
    if not used or said[at].isdecimal():
        return None if not used else _value(words, at, used, Kind.NUMBER, number, _shown(number))
    mixed = number_at(said, at + used + 1) if _at(said, at + used) == _AND else (Decimal(0), 0)
    over = at + used + 1 + mixed[1]
    below, more = number_at(said, over + 1) if _at(said, over) == _OVER else (Decimal(0), 0)
    if mixed[1] and more and below:  # "एक सौ बीस सही तीन बटा चार"
        written = f"{_shown(number)} {_shown(mixed[0])}/{_shown(below)}"
        value = number + mixed[0] / below
        return _value(words, at, over + 1 + more - at, Kind.NUMBER, value, written)
    if used == 1 and number < 10 and number == int(number) and _at(said, at - 1) != _NUMBER:
        return None  # "एक" is an article as well, and "दो" is "give"
    return _value(words, at, used, Kind.NUMBER, number, _shown(number))


_READERS: tuple[Reader, ...] = (_time, _date, _phone, _quantity, _ordinal, _number)
