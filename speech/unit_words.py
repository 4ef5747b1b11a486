"""Words for coins and units of measure, as data for reading values."""

from __future__ import annotations

CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "¥": "JPY"}

# Word -> ISO code, sign, and whether it is a hundredth.
COINS: dict[str, tuple[str, str, bool]] = {}
for _words, _code, _sign in (
    ("dollar dollars buck bucks usd", "USD", "$"),
    ("euro euros eur", "EUR", "€"),
    ("pound pounds quid gbp", "GBP", "£"),
    ("rupee rupees inr", "INR", "₹"),
    ("yen", "JPY", "¥"),
    ("won", "KRW", "₩"),
):
    COINS.update(dict.fromkeys(_words.split(), (_code, _sign, False)))
for _words, _code, _sign in (
    ("cent cents", "USD", "$"),
    ("penny pence", "GBP", "£"),
    ("paisa paise", "INR", "₹"),
):
    COINS.update(dict.fromkeys(_words.split(), (_code, _sign, True)))

CODES = {"usd": "$", "eur": "€", "gbp": "£", "inr": "₹", "rs": "₹"}
HUNDREDTHS = frozenset(word for word, (_, _, hundredth) in COINS.items() if hundredth)

# Words -> the unit, and its short form ('' where a transcript has the word: "20 minutes").
UNIT_WORDS: dict[str, tuple[str, str]] = {}
for _unit, _short, _more in (
    ("second", "", "sec secs"), ("minute", "", "min mins"), ("hour", "", "hr hrs"),
    ("day", "", ""), ("week", "", ""), ("month", "", ""), ("year", "", "yr yrs"),
    ("night", "", ""), ("mile", "", "mi"), ("foot", "ft", "feet"), ("yard", "yd", ""),
    ("inch", "in", "inches"), ("meter", "m", "metre metres"),
    ("kilometer", "km", "kilometre kilometres"), ("centimeter", "cm", "centimetre centimetres"),
    ("millimeter", "mm", ""), ("micrometer", "μm", ""), ("gram", "g", ""),
    ("kilogram", "kg", "kilo kilos kgs"), ("milligram", "mg", ""), ("microgram", "mcg", ""),
    ("ounce", "oz", ""), ("pound", "lb", "lbs"), ("liter", "l", "litre litres"),
    ("milliliter", "ml", "millilitre millilitres"), ("gallon", "gal", ""), ("acre", "ac", ""),
    ("hectare", "ha", ""), ("mile per hour", "mph", "miles~per~hour"),
    ("kilometer per hour", "km/h", "kilometers~per~hour"), ("volt", "v", ""),
    ("watt", "w", ""), ("kilowatt", "kW", ""), ("megawatt", "mW", ""),
    ("kilowatt hour", "kWh", "kilo~watt~hours kilo~watt~hour"), ("hertz", "hz", ""),
    ("kilohertz", "khz", ""), ("megahertz", "mhz", ""), ("gigahertz", "ghz", ""),
    ("byte", "b", ""), ("kilobyte", "kb", ""), ("megabyte", "mb", ""), ("gigabyte", "gb", ""),
    ("square foot", "sq ft", "square~feet"), ("square mile", "sq mi", ""),
    ("square meter", "m²", ""), ("square kilometer", "km²", ""), ("square inch", "sq in", ""),
    ("degree Fahrenheit", "°F", "degrees~fahrenheit"), ("degree Celsius", "°C",
     "degrees~celsius degrees~centigrade"), ("degree", "°", "degrees"),
    ("cubic centimeter", "cc", "c~c cc"),
    ("international unit", "IU", "i~u"),
):  # fmt: skip
    for _name in (_unit.lower(), _unit.lower() + "s", _short.lower(), *_more.split()):
        if _name:
            UNIT_WORDS[_name.replace("~", " ")] = (_unit, _short)
for _name in ("in", "v", "w", "b", "m", "°", "°f", "°c"):  # words, or letters, of their own
    UNIT_WORDS.pop(_name, None)
