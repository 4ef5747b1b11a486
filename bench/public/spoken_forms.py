"""Written forms as words and words as written forms, by class, over NVIDIA NeMo's test cases.

``nemo_tn_itn.jsonl``: https://github.com/NVIDIA/NeMo-text-processing (Apache-2.0). ``tn`` is
written to spoken (:func:`speech.reading.read_aloud`), ``itn`` spoken to written
(:func:`speech.spoken_values.written`). The rules were worked on with one half of the rows, chosen
by a hash of their text; the other was only counted. Compared are wetext, where it is installed, and
both one after the other. How rows are compared: docs/reading-aloud.md.

python -m bench.public.spoken_forms --data DIR
python -m bench.public.spoken_forms --data DIR --misses time money   # of the half worked on
"""

from __future__ import annotations

import argparse
import hashlib
import re
import statistics
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from bench.public.rows import read, table
from bench.results import write_result
from frontdesk import CitationInSpeechError, Spoken
from speech.reading import read_aloud
from speech.spoken_values import written

FILES = ("nemo_tn_itn.jsonl",)
Form = Callable[[str], str]

_LANGUAGES = {"en": "en", "hi": "hi", "hi_en": "hi"}
_SHORT = {
    "meters": "m", "meter": "m", "kilometers": "km", "miles": "mi", "feet": "ft", "foot": "ft",
    "inches": "in", "kilograms": "kg", "grams": "g", "hours": "h", "hour": "h", "minutes": "min",
    "percent": "%", "ounces": "oz", "liters": "l", "milliliters": "ml", "pounds": "lb",
    "hectares": "ha", "milesperhour": "mph",
}  # fmt: skip
_UNIT_WORD = re.compile(rf"(?<=\d)(?:{'|'.join(sorted(_SHORT, key=len, reverse=True))})\b")


def worked_on(row: dict[str, Any]) -> bool:
    """Whether a row is of the half on which the rules were worked; a text's two cases together."""
    return hashlib.sha256(str(row["input"]).lower().encode()).digest()[0] % 2 == 0


def same_words(text: str) -> str:
    """Spoken words as they are compared.

    Case, punctuation, hyphens and "and" do not count, "oh" is "zero", single letters are one word
    ("a m", "A-M" and "AM" alike). Of Hindi neither nukta nor which nasal sign.
    """
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = text.replace("़", "").replace("ँ", "ं").replace("न्द", "ंद").replace("रुपए", "रुपये")
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" or c == "'" else " "
                   for c in text)  # fmt: skip
    words = [w.strip("'") for w in kept.split()]
    words = ["zero" if w in ("oh", "o") else w for w in words if w and w not in ("and", "और")]
    joined = ""
    for before, word in zip(["", *words], words, strict=False):
        letters = len(before) == 1 and len(word) == 1 and (before + word).isascii()
        joined += word if letters else f" {word}"
    return joined.strip()


def same_writing(text: str) -> str:
    """Written forms as they are compared.

    Case, white space, commas, hyphens, brackets and final stops do not count, nor a zero before an
    hour or a point, nor the Hindi word of the clock; "a.m." is "am", a unit's name its short form,
    digits of any script the same.
    """
    text = unicodedata.normalize("NFKC", text).lower().replace("़", "").replace("बजे", "")
    text = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)
    text = re.sub(r"\b([ap])\. ?m\b\.?", r"\1m", text)
    text = re.sub(r"(?<![\w])-(?=[\d.])", "minus", text)
    text = re.sub(r"[\s,()\-]", "", text).replace("−", "minus")
    text = re.sub(r"(?<!\d)0(?=\d:|\.\d)", "", text).strip(".")
    return _UNIT_WORD.sub(lambda m: _SHORT[m[0]], text)


def forms(task: str, language: str) -> dict[str, Form]:
    """The ways to be compared for ``tn`` or ``itn``, by name."""

    def ours(text: str) -> str:
        if task == "itn":
            return written(text, language)
        try:
            return read_aloud(Spoken(text), language)
        except CitationInSpeechError:
            return text

    wetext = _wetext(task) if language == "en" else None
    if wetext is None:
        return {"ours": ours}
    if task == "itn":
        return {"ours": ours, "wetext": wetext, "both": lambda text: wetext(ours(text))}
    return {"ours": ours, "wetext": wetext, "both": lambda text: ours(wetext(text))}


def _wetext(task: str) -> Form | None:
    try:
        from wetext import Normalizer
    except ImportError:
        return None
    normalizer = Normalizer(lang="en", operator=task)

    def normalized(text: str) -> str:
        try:
            return str(normalizer.normalize(text))
        except AssertionError:  # nothing in the text that its grammar knows
            return text

    return normalized


def run(data: Path, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """``classes``: by language, task and class, ``n`` and rows right, of both halves.

    Also the ``ms`` per text of each way, median and 95th percentile.
    """
    rows = read(data / FILES[0])
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    ways = {key: forms(*key) for key in {(_task(r), _LANGUAGES[r["lang"]]) for r in rows}}
    for done, row in enumerate(rows, 1):
        half = "worked_on" if worked_on(row) else "held_out"
        key = (row["lang"], _task(row), _class(row))
        cell = found.setdefault(key, {"worked_on": {"n": 0}, "held_out": {"n": 0}})[half]
        cell["n"] += 1
        for name, way in ways[_task(row), _LANGUAGES[row["lang"]]].items():
            start = perf_counter_ns()
            said = way(row["input"])
            took[_task(row), name].append((perf_counter_ns() - start) / 1e6)
            cell[name] = cell.get(name, 0) + right(row, said)
        if progress:
            progress(done, len(rows))
    return {
        "classes": [
            {"language": key[0], "task": key[1], "class": key[2], **cell}
            for key, cell in sorted(found.items())
        ],
        "ms": {
            f"{task} {name}": {"p50": statistics.median(times), "p95": _p95(times)}
            for (task, name), times in sorted(took.items())
        },
    }


def right(row: dict[str, Any], said: str) -> bool:
    """Whether what was made of a row is one of the forms expected."""
    same = same_writing if _task(row) == "itn" else same_words
    return same(said) in {same(one) for one in row["expected"]}


def printed(figures: dict[str, Any]) -> str:
    """The figures as tables."""
    rows = []
    for one in figures["classes"]:
        cells: list[object] = [one["language"], one["task"], one["class"]]
        for half in ("worked_on", "held_out"):
            n = one[half]["n"]
            cells += [n, *(_share(one[half].get(way), n) for way in ("ours", "wetext", "both"))]
        rows.append(cells)
    head = ("lang", "task", "class", "worked on", "ours", "wetext", "both",
            "held out", "ours", "wetext", "both")  # fmt: skip
    times = [[name, one["p50"], one["p95"]] for name, one in figures["ms"].items()]
    return f"{table(head, rows)}\n\n{table(('ms for one text', 'p50', 'p95'), times)}"


def misses(data: Path, classes: Iterable[str]) -> Iterable[str]:
    """What came out otherwise, of the half worked on."""
    for row in read(data / FILES[0]):
        if worked_on(row) and _class(row) in classes:
            said = forms(_task(row), _LANGUAGES[row["lang"]])["ours"](row["input"])
            if not right(row, said):
                wanted = " | ".join(row["expected"][:3])
                yield f"{row['lang']} {_task(row)} {row['input']!r}: {said!r}, not {wanted!r}"


def _task(row: dict[str, Any]) -> str:
    return "tn" if row["task"].startswith("tn") else "itn"


def _class(row: dict[str, Any]) -> str:
    return str(row["cls"]).removesuffix("_cased")


def _share(right_ones: int | None, n: int) -> str:
    return "" if right_ones is None or not n else f"{right_ones / n:.2f}"


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and write ``bench/results/public-spoken_forms.json``, or list misses."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.public.spoken_forms",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help=f"folder with {FILES[0]}")
    parser.add_argument("--misses", nargs="+", metavar="CLASS", help="list what came out otherwise")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args(argv)
    if not (args.data / FILES[0]).is_file():
        parser.error(f"{args.data} has no {FILES[0]}")
    if args.misses:
        print("\n".join(misses(args.data, args.misses)))
        return 0
    figures = run(args.data)
    print(printed(figures))
    if not args.no_save:
        write_result("public-spoken_forms", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
