"""What ``frontdesk eval answers`` found, in lines for a terminal. Takes the shape of its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]

DONE = {
    "right_answer": "right answer",
    "wrong_answer": "wrong answer",
    "refused": "refused",
    "conversation": "conversation",
}
EXPECTED = {
    "answer": "to answer",
    "refuse": "to refuse",
    "conversation": "conversation",
}
RATES = {
    "right": "right",
    "over_refused": "over-refused",
    "wrong_fact": "wrong fact",
    "passed_checks_yet_wrong": "passed checks yet wrong",
    "refused": "refused",
    "wrongly_answered": "wrongly answered",
    "conversation": "taken as conversation",
}
COUNTS = {
    "n": "asked",
    "right": "right",
    "wrong_fact": "wrong fact",
    "over_refused": "over-refused",
    "wrongly_answered": "wrongly answered",
}
SPECIAL_DAYS = "Saturday, Sunday, holiday"
# Of what ought to happen it matters in how many questions it always does.
_ALWAYS = ("right", "refused", "conversation")
BOUNDS = "95 % bounds by question (Wilson)"

_HEARING = {"heard": "most words heard", "misheard": "misheard"}
# Wrong things said first: they are what must not happen.
_WORST_FIRST = ("wrong_fact", "wrongly_answered", "over_refused")
_PASSAGE = 160


def lines(title: str, figures: Figures, most_wrong: int) -> list[str]:
    """All of it, with the worst ``most_wrong`` of the wrong ones."""
    found = [f"{title}: {figures['all_voices']['n']} asked", floors(figures), ""]
    found += part(figures["all_voices"])
    found += ["", *_table(["", *COUNTS.values()], groups(figures))]
    special = figures["all_voices"]["special_days"]
    if special["n"]:
        found += ["", f"{SPECIAL_DAYS}:", *_rates(special)]
    if "generated" in figures:
        found += ["", *_generated(figures["generated"])]
    wrong = worst_first(figures)
    shown = wrong[:most_wrong]
    if shown:
        found += ["", f"the {len(shown)} worst of {len(wrong)}:"]
    for row in shown:
        found += one_wrong(row)
    if len(wrong) > len(shown):
        found.append(f"{len(wrong) - len(shown)} more (--wrong N, --html FILE, --json)")
    long = figures["all_voices"]["long"]
    if long:
        found.append(f"{len(long)} answers of more than two sentences, such as {long[0]['say']!r}")
    return found


def floors(figures: Figures) -> str:
    """The floors and where they are from, in one line."""
    shown = ", ".join(
        f"{code} none" if floor is None else f"{code} {floor:.3f}"
        for code, floor in figures["floor"].items()
    )
    return f"{figures['floors_note']}; floor {shown}"


def groups(figures: Figures) -> Iterator[list[object]]:
    """The counts of each voice, of each kind, and of the special days, a row each."""
    together, held_out = figures["all_voices"], figures["held_out_voice"]["voice"]
    rows = [("all voices", together)]
    for voice, own in together["by_voice"].items():
        rows.append((f"voice {voice}{' (held out)' if voice == held_out else ''}", own))
    rows += [(f"kind {kind.replace('_', ' ')}", own) for kind, own in together["by_kind"].items()]
    rows += [(_HEARING[name], own) for name, own in together["by_hearing"].items()]
    rows.append((SPECIAL_DAYS, together["special_days"]))
    for name, own in rows:
        yield [name, *(own[count] for count in COUNTS)]


def part(figures: Figures) -> list[str]:
    """The confusion table and the rates of some answers."""
    confusion = [
        [name, *(figures["confusion"][row][column] for column in DONE)]
        for row, name in EXPECTED.items()
    ]
    return [*_table(["", *DONE.values()], confusion), "", *_rates(figures)]


def rate_cells(figures: Figures) -> Iterator[tuple[str, str, str, str]]:
    """Each rate: its name, what was counted of what, its bounds, and with how many questions."""
    for name, shown in RATES.items():
        rate = figures["rates"][name]
        key, how = ("every_voice", "each time") if name in _ALWAYS else ("any_voice", "ever")
        if rate["n"]:
            yield (
                shown,
                f"{rate['count']} of {rate['asked']} {rate['of']}",
                f"{100 * rate['rate']:.1f} % ({100 * rate['low']:.1f} to {100 * rate['high']:.1f})",
                f"{rate[key]} of {rate['n']} {how}",
            )


def worst_first(figures: Figures) -> list[dict[str, Any]]:
    """Every wrong one of all voices, what was said wrongly before what was not said."""
    wrong: list[dict[str, Any]] = figures["all_voices"]["wrong"]
    return sorted(wrong, key=lambda row: _WORST_FIRST.index(row["outcome"]))


def one_wrong(row: Mapping[str, Any]) -> list[str]:
    """One of them, with what a person needs to say which check should have caught it."""
    outcome = row["outcome"].replace("_", " ")
    found = [f"  {outcome}: {row['id']} {row['voice']} {row['heard']!r}"]
    if row["asked"].casefold() != row["heard"].casefold():
        found.append(f"      asked {row['asked']!r}")
    if row["query"] and row["query"] != row["heard"].lower().rstrip("?. "):
        found.append(f"      looked up {row['query']!r}")
    found.append(f"      said {row['say']!r}{long_mark(row)}")
    found += [f"      [{one['id']}] {_short(one['text'])}" for one in row["passages"]]
    found.append(f"      {measured(row)}; right: {right(row)}")
    return found


def long_mark(row: Mapping[str, Any]) -> str:
    """A word about an answer of more than two sentences."""
    is_long = row["decision"] == "answered" and row["sentences"] > 2
    return f" ({row['sentences']} sentences)" if is_long else ""


def measured(row: Mapping[str, Any]) -> str:
    """Score and floor, and the check that failed."""
    if row["score"] is None or row["floor"] is None:
        return str(row["detail"] or row["reason"])
    failed = [check["name"] for check in row["checks"] if not check["passed"]]
    after = f", failed {', '.join(failed)}" if failed else ", every check passed"
    return f"score {row['score']:.3f}, floor {row['floor']:.3f}{after}"


def right(row: Mapping[str, Any]) -> str:
    """What would have been right."""
    if not row["facts"]:
        return "not in the documents" if row["kind"] != "conversation" else "conversation"
    facts = " and ".join(" or ".join(fact) for fact in row["facts"])
    return f"{facts} of {', '.join(row['relevant'])}"


def _rates(figures: Figures) -> list[str]:
    head = ["", "asked", BOUNDS, "questions"]
    return _table(head, [list(cells) for cells in rate_cells(figures)])


def _generated(found: Figures) -> list[str]:
    outcomes = ", ".join(f"{name} {count}" for name, count in found["outcomes"].items())
    accepted = found["accepted"]
    times = [
        f"{name} p50 {found[key]['p50_ms']} ms, p95 {found[key]['p95_ms']} ms"
        for name, key in (("first token", "first_token_ms"), ("whole reply", "full_ms"))
        if found[key]["p50_ms"] is not None
    ]
    return [
        f"in the words of {found['model']}: {found['asked']} asked; {outcomes}",
        *(["; ".join(times)] if times else []),
        f"accepted {accepted['n']}: right {accepted['right']}, wrong fact "
        f"{accepted['wrong_fact']}, wrongly answered {accepted['wrongly_answered']}, passed every "
        f"check yet wrong {accepted['passed_checks_yet_wrong']}",
        *[line for row in accepted["wrong"] for line in one_wrong(row)],
        "what a caller hears with it on:",
        *part(found["all_voices"]),
    ]


def _table(
    head: Sequence[str], rows: Iterator[list[object]] | Sequence[Sequence[object]]
) -> list[str]:
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _short(text: str) -> str:
    return text if len(text) <= _PASSAGE else f"{text[:_PASSAGE]}…"
