"""Written short forms and the words they stand for, as data for ``speech.reading``."""

from __future__ import annotations

MONTHS: dict[str, str] = {}
for _name in (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
):  # fmt: skip
    MONTHS[_name.lower()] = _name
    MONTHS[_name[:3].lower()] = _name
MONTHS["sept"] = "September"

WEEKDAYS: dict[str, str] = {}
for _name, _short in {
    "Monday": "mon", "Tuesday": "tue tues", "Wednesday": "wed weds", "Thursday": "thu thur thurs",
    "Friday": "fri", "Saturday": "sat", "Sunday": "sun",
}.items():  # fmt: skip
    for _form in (_name.lower(), _name.lower() + "s", *_short.split()):
        WEEKDAYS[_form] = _name

# Written unit -> one of it, more of it.
UNITS: dict[str, tuple[str, str]] = {
    "mg": ("milligram", "milligrams"),
    "mcg": ("microgram", "micrograms"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "mL": ("milliliter", "milliliters"),
    "ml": ("milliliter", "milliliters"),
    "L": ("liter", "liters"),
    "oz": ("ounce", "ounces"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "m": ("meter", "meters"),
    "km": ("kilometer", "kilometers"),
    "ft": ("foot", "feet"),
    "mi": ("mile", "miles"),
    "mph": ("mile per hour", "miles per hour"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "sec": ("second", "seconds"),
    "secs": ("second", "seconds"),
    "sq ft": ("square foot", "square feet"),
    "sq. ft.": ("square foot", "square feet"),
    "ft2": ("square foot", "square feet"),
    "m2": ("square meter", "square meters"),
    "km2": ("square kilometer", "square kilometers"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "kmh": ("kilometer per hour", "kilometers per hour"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "GB": ("gigabyte", "gigabytes"),
    "MB": ("megabyte", "megabytes"),
    "Mbps": ("megabit per second", "megabits per second"),
    "gal": ("gallon", "gallons"),
    "yr": ("year", "years"),
    "millimeters": ("millimeter", "millimeters"),
    "°": ("degree", "degrees"),
    "yrs": ("year", "years"),
    "IU": ("international unit", "international units"),
    "mg/dL": ("milligram per deciliter", "milligrams per deciliter"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°C": ("degree Celsius", "degrees Celsius"),
}

COMPASS = {
    "N": "North", "S": "South", "E": "East", "W": "West", "NE": "Northeast", "NW": "Northwest",
    "SE": "Southeast", "SW": "Southwest",
}  # fmt: skip

# US Postal Service codes: a caller hears a state better than its two letters.
STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "D-C", "FL": "Florida",
    "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana",
    "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine",
    "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
    "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York",
    "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon",
    "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota",
    "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia",
    "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip

TOP_LEVEL_DOMAINS = {
    "uk": "U-K", "us": "U-S", "io": "I-O", "edu": "E-D-U", "gov": "gov", "tv": "T-V",
}  # fmt: skip

# Regular expression -> words, in order.
ABBREVIATIONS: tuple[tuple[str, str], ...] = (
    (r"\bDrs\.(?= [A-Z])", "Doctors"),
    (r"(?<=[a-z] )Dr(?:\.(?=,|$|;| (?![A-Z]))|(?=,|$|;|\.(?! [A-Z])))", "Drive"),
    (r"\bDr\.?(?= [A-Z])", "Doctor"),
    (r"\bMr\.", "Mister"),
    (r"\bMrs\.", "Missus"),
    (r"\bMs\.", "Miz"),
    (r"\bSt\.?(?= [A-Z][a-z]+(?:'s)?\b)(?<![a-z] St\.)(?<![a-z] St)", "Saint"),
    (r"(?<=[a-z] )St\.(?= (?:Mary|Luke|John|Paul|Joseph|Jude|Louis|Anne?|Peter|Mark)\b)", "Saint"),
    (r"\bSt\b\.?", "Street"),
    (r"\bAve\b\.?", "Avenue"),
    (r"\bBlvd\b\.?", "Boulevard"),
    (r"\bRd\b\.?", "Road"),
    (r"\bLn\b\.?", "Lane"),
    (r"\b[Ss]te\b\.?", "Suite"),
    (r"\b[Aa]pt\b\.?", "apartment"),
    (r"\b[Bb]ldg\b\.?", "building"),
    (r"\b[Dd]ept\b\.?", "department"),
    (r"\b[Aa]ppts\b\.?", "appointments"),
    (r"\b[Aa]ppt\b\.?", "appointment"),
    (r"\b[Aa]pprox\b\.?", "approximately"),
    (r"\b[Mm]in\.(?= )", "minimum"),
    (r"\b[Mm]ax\.(?= )", "maximum"),
    (r"\b[Ii]ncl\.", "including"),
    (r"\b[Ee]xt\.", "extension"),
    (r"\b[Tt]el\.", "telephone"),
    (r"\b[Vv]s\b\.?", "versus"),
    (r"\be\.g\.,?", "for example,"),
    (r"\bi\.e\.,?", "that is,"),
    (r"\betc\.(?=\s+[A-Z]|$)", "and so on."),
    (r"\betc\.", "and so on"),
    (r"\bP\.?O\.? Box\b", "P-O box"),
    (r"\b[Ww]/o\b", "without"),
    (r"\b[Ww]/ ?(?=\w)", "with "),
    (r"\bDOB\b", "date of birth"),
    (r"\bASAP\b", "as soon as possible"),
    (r"\bU\.S\.A?\.?(?=\W|$)", "U-S"),
    (r"\b[Aa]\.[Mm]\.", "AM"),
    (r"\b[Pp]\.[Mm]\.", "PM"),
)

# Capitals with a vowel that are spelled all the same; those without a vowel always are.
LETTER_WORDS = frozenset(
    "ID IDS MRI ER ICU IUD EKG ECG UTI FAQ USA US UK EU OB OBGYN ENT PA AC GI IV IVF EHR EMR HIV "
    "EAP FSA HSA PPE RSVP URL USB ATM AED ADA ADHD IT HR EOB DEA FDA EIN UPS IRS ACA AAA".split()
)
