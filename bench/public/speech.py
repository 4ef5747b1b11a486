"""The recogniser on real telephone audio that is none of a business's: prompts, digits, orders.

``audio.jsonl`` with its folder ``audio``: prompts, words and letters of Asterisk's sounds
(CC-BY-SA-3.0, one speaker), the Free Spoken Digit Dataset (CC-BY-SA-4.0, six speakers), coffee
orders of Picovoice's speech-to-intent benchmark (Apache-2.0, over fifty speakers, whose words are
known by slot only). Nothing was fitted on the prompts and the orders; of the digits see
``speech/grammar.py``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from bench.public.rows import read, table
from bench.word_errors import Errors, invented, said
from rag import documents
from rag.calibration import SAMPLE_KB
from rag.vocabulary import vocabulary
from speech.audio import Float32, resample
from speech.moonshine import Moonshine
from speech.recogniser import SAMPLE_RATE_HZ
from speech.types import Hint

FILES = ("audio.jsonl",)
LONGEST_S = 12.0
SHORT_S = 2.5
DIGITS = "zero one two three four five six seven eight nine".split()
_NUMBER = 7
_NUMBERS_EACH = 5
_GAP_S = 0.2

Row = dict[str, Any]


def run(data: Path, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Word errors of the prompts, digits with and without the hint, and what a bias invents.

    ``bias`` is towards the words of the sample clinic, about which nobody here speaks.
    """
    rows = read(data / FILES[0])
    done = itertools.count(1)
    short = [r for r in _of(rows, "prompt") if r["dur"] <= SHORT_S and not _says_digit(r)]
    prompts = [r for r in _of(rows, "prompt") if r["dur"] <= LONGEST_S and said(r["text"])]
    orders, digits = _of(rows, "coffee order"), _of(rows, "isolated digit")
    numbers = _numbers(digits, data)
    total = 2 * (len(prompts) + len(orders) + len(digits) + len(numbers)) + len(short)

    def heard(audio: Iterable[Float32], recogniser: Moonshine, hint: Hint = Hint.NONE) -> list[str]:
        texts = []
        for one in audio:
            texts.append(recogniser.transcribe(one, hint=hint).text)
            if progress:
                progress(next(done), total)
        return texts

    words = vocabulary(documents.load(SAMPLE_KB))
    plain, biased = Moonshine(), Moonshine(words)
    listed = {word for one in words for word in said(one)}
    by_bias: dict[str, Any] = {}
    for name, recogniser in (("none", plain), ("clinic", biased)):
        texts = heard(_audio(prompts, data), recogniser)
        pairs = [(row["text"], text) for row, text in zip(prompts, texts, strict=True)]
        ordered = heard(_audio(orders, data), recogniser)
        by_bias[name] = {
            "prompts_wer": Errors.of(pairs).percent,
            "prompts_invented_per_1000": _per_1000(invented(pairs, listed), pairs),
            **_orders(orders, ordered, listed),
        }
    singles = {
        hint.value: heard(_audio(digits, data), plain, hint) for hint in (Hint.NONE, Hint.DIGITS)
    }
    dialled = {
        hint.value: heard((audio for _, audio in numbers), plain, hint)
        for hint in (Hint.NONE, Hint.DIGITS)
    }
    with_hint = heard(_audio(short, data), plain, Hint.DIGITS)
    return {
        "prompts": {"n": len(prompts), "longest_s": LONGEST_S},
        "orders": {"n": len(orders)},
        "bias": by_bias,
        "digits": {
            "n": len(digits),
            "wrong_percent": {
                name: _wrong(digits, texts) for name, texts in singles.items()
            },
            "by_speaker": {
                speaker: _wrong(*_by(speaker, digits, singles[Hint.DIGITS.value]))
                for speaker in sorted({r["speaker"] for r in digits})
            },
        },
        "numbers": {
            "n": len(numbers),
            "digits": _NUMBER,
            "wer": {
                name: Errors.of(
                    (said_, _as_digits(text))
                    for (said_, _), text in zip(numbers, texts, strict=True)
                ).percent
                for name, texts in dialled.items()
            },
        },
        "no_digits_with_hint": {
            "n": len(short),
            "heard_as_digits_percent": round(
                100 * sum(_is_number(text) for text in with_hint) / max(len(short), 1), 1
            ),
        },
    }  # fmt: skip


def printed(figures: dict[str, Any]) -> str:
    """The figures as tables."""
    names = list(figures["bias"]["none"])
    bias = table(
        ("leaning towards", *names),
        [[name, *(row[n] for n in names)] for name, row in figures["bias"].items()],
    )
    digits, numbers = figures["digits"], figures["numbers"]
    hints = table(
        ("asked for", "single digits wrong %", "seven digits WER %"),
        [
            [name, digits["wrong_percent"][name], numbers["wer"][name]]
            for name in digits["wrong_percent"]
        ],
    )
    other = figures["no_digits_with_hint"]
    return "\n\n".join(
        (
            bias,
            hints,
            f"short prompts heard as digits with the hint: {other['heard_as_digits_percent']} % "
            f"of {other['n']}",
        )
    )


def _of(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _audio(rows: Iterable[Row], data: Path) -> Iterable[Float32]:
    return (_read(data / row["path"]) for row in rows)


@cache
def _read(path: Path) -> Float32:
    samples, rate_hz = soundfile.read(path, dtype="float32")
    return resample(samples, rate_hz, SAMPLE_RATE_HZ)


def _numbers(digits: Sequence[Row], data: Path) -> list[tuple[str, Float32]]:
    """Numbers of seven digits, put together of one speaker's digits with 0.2 s between them."""
    rng = np.random.default_rng(5)
    gap = np.zeros(int(_GAP_S * SAMPLE_RATE_HZ), np.float32)
    made = []
    for speaker in sorted({row["speaker"] for row in digits}):
        own = [row for row in digits if row["speaker"] == speaker]
        for _ in range(_NUMBERS_EACH):
            chosen = [own[n] for n in rng.choice(len(own), _NUMBER, replace=False)]
            parts = [part for row in chosen for part in (_read(data / row["path"]), gap)]
            made.append((" ".join(row["text"] for row in chosen), np.concatenate(parts)))
    return made


def _as_digits(text: str) -> str:
    """``text`` with every digit of a number as a word, and "oh" as zero."""
    spaced = "".join(f" {DIGITS[int(c)]} " if c in "0123456789" else c for c in text)
    return " ".join("zero" if word in ("oh", "o") else word for word in said(spaced))


def _wrong(rows: Sequence[Row], heard: Sequence[str]) -> float:
    wrong = sum(_as_digits(text) != row["text"] for row, text in zip(rows, heard, strict=True))
    return round(100 * wrong / len(rows), 1)


def _by(speaker: str, rows: Sequence[Row], heard: Sequence[str]) -> tuple[list[Row], list[str]]:
    own = [(r, h) for r, h in zip(rows, heard, strict=True) if r["speaker"] == speaker]
    return [r for r, _ in own], [h for _, h in own]


def _is_number(text: str) -> bool:
    words = _as_digits(text).split()
    return bool(words) and all(word in DIGITS or word in _NUMBER_WORDS for word in words)


_NUMBER_WORDS = frozenset(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty "
    "forty fifty sixty seventy eighty ninety hundred thousand double triple and dash".split()
)


def _says_digit(row: Row) -> bool:
    return any(word in DIGITS or word in _NUMBER_WORDS for word in said(row["text"]))


def _orders(rows: Sequence[Row], heard: Sequence[str], listed: set[str]) -> dict[str, float]:
    """What was heard of the words of the slots, and the clinic's words that no slot has."""
    known = right = 0
    strange = words = 0
    for row, text in zip(rows, heard, strict=True):
        slots = {word for value in row["slots"].values() for word in said(value)}
        found = said(text)
        known += len(slots)
        right += len(slots & set(found))
        words += len(found)
        strange += sum(word in listed and word not in slots for word in found)
    return {
        "orders_slot_words_heard_percent": round(100 * right / max(known, 1), 1),
        "orders_clinic_words_per_1000": round(1000 * strange / max(words, 1), 1),
    }


def _per_1000(count: int, pairs: Sequence[tuple[str, str]]) -> float:
    return round(1000 * count / max(sum(len(said(one)) for one, _ in pairs), 1), 1)
