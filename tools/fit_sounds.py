"""Learn what one sound costs in the place of another: rag/repair/costs.json.

python tools/fit_sounds.py CONFUSIONS.jsonl            # prints what it is worth, writes the file
python tools/fit_sounds.py CONFUSIONS.jsonl --no-save

Rows of ``a`` and ``b``, two words that a recogniser took for each other. Half of them, by a hash of
the words, are learned from; the other half says how often the word meant is nearer than 60 others.
Costs are those of an edit distance learned from pairs (Ristad and Yianilos, 1998), aligned by the
costs of the round before; counts are smoothed by how alike two sounds are made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.repair import nearness
from rag.repair.nearness import OF_SOUNDS, Costs, Strings, distances, letter_costs, letters_of
from rag.repair.sounds import NUMBER, SOUNDS, sounds_of

OUT = Path(nearness.__file__).with_name("costs.json")
NONE = len(SOUNDS)
VOWELS = NUMBER["UW"] + 1
CLASSES = ("P B T D K G", "F V TH DH S Z SH ZH HH", "CH JH", "M N NG", "L R", "W Y")
PLACES = ("P B M F V W", "T D N S Z L R TH DH", "K G NG HH", "SH ZH CH JH Y")
VOICED = "B D G V DH Z ZH JH M N NG L R W Y"
HALF_VOWELS = "IY Y IH UW W ER R"
SMOOTHING, ROUNDS, UNRELATED, OTHERS, MOST_PAIRS = 100.0, 3, 0.6, 60, 700

Sounds = tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    a: str
    b: str

    @property
    def is_learned_from(self) -> bool:
        return hashlib.sha256(min(self.a, self.b).encode()).digest()[0] % 2 == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("confusions", type=Path)
    parser.add_argument("--no-save", action="store_true")
    args = parser.parse_args()
    found = pairs(args.confusions)
    learned = [pair for pair in found if pair.is_learned_from]
    rest = [pair for pair in found if not pair.is_learned_from]
    costs = learn(learned)
    print(f"{len(learned)} pairs learned from, {len(rest)} left; the word meant is the nearest:")
    words = sorted({pair.a for pair in found})
    ways = (
        ("letters", (0, 1)),
        ("sounds", (1, 0)),
        ("half", (0.5, 0.5)),
        ("as used", (OF_SOUNDS, 1 - OF_SOUNDS)),
    )
    for name, shares in ways:
        print(f"  {name:8} {nearest_first(rest, words, costs, shares):.3f}")
    if not args.no_save:
        rows = [f"  {json.dumps([round(float(c), 2) for c in row])}" for row in costs]
        OUT.write_text('{"costs": [\n' + ",\n".join(rows) + "\n]}\n", "utf-8")
        print(f"written to {OUT.name}")
    return 0


def pairs(path: Path) -> list[Pair]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    found = [Pair(row["a"], row["b"]) for row in rows]
    return [p for p in found if len(p.a) > 3 and min(len(sounds(p.a)), len(sounds(p.b)) + 1) > 2]


def sounds(word: str) -> Sounds:
    return sounds_of([word])


def learn(found: Sequence[Pair]) -> Costs:
    likely = np.exp(-3 * made_alike())
    likely /= likely.sum(axis=1, keepdims=True)
    costs = made_alike()
    for _ in range(ROUNDS):
        counts = np.zeros_like(costs)
        for pair in found:
            x, y = sounds(pair.a), sounds(pair.b)
            cost, steps = aligned(x, y, costs)
            if cost <= UNRELATED * max(len(x), len(y)):
                for s, t in steps:
                    counts[s, t] += 1
                    counts[t, s] += 1
        share = (counts + SMOOTHING * likely) / (counts.sum(axis=1, keepdims=True) + 1 + SMOOTHING)
        same = np.diag(share).copy()
        same[NONE] = 0.5
        apart = -np.log(share / np.sqrt(np.outer(same, same)))
        costs = np.clip((apart + apart.T) / 8, 0.1, 1.5)
        np.fill_diagonal(costs, 0)
    return costs.astype(np.float32)


def made_alike() -> Costs:
    """Before anything is learned: by manner, place and voice."""
    costs = np.zeros((NONE + 1, NONE + 1))
    for a, one in enumerate(SOUNDS):
        costs[a, NONE] = costs[NONE, a] = 0.7 if a < VOWELS else 0.9
        for b, other in enumerate(SOUNDS):
            if a == b:
                continue
            if (a < VOWELS) != (b < VOWELS):
                costs[a, b] = 0.8 if {one, other} <= set(HALF_VOWELS.split()) else 1.6
            elif a < VOWELS:
                costs[a, b] = 0.45
            else:
                voiced = (one in VOICED.split()) != (other in VOICED.split())
                manner, place = (group(one, of) != group(other, of) for of in (CLASSES, PLACES))
                costs[a, b] = 0.3 + 0.35 * manner + 0.3 * place + 0.05 * voiced
    return costs


def group(sound: str, groups: Sequence[str]) -> int:
    return next(n for n, members in enumerate(groups) if sound in members.split())


def aligned(x: Sounds, y: Sounds, costs: Costs) -> tuple[float, list[tuple[int, int]]]:
    """The cheapest way from ``x`` to ``y``: its cost, and each sound with the one in its place."""
    table = np.zeros((len(x) + 1, len(y) + 1))
    step: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            ways = []
            if i and j:
                ways.append((table[i - 1, j - 1] + costs[x[i - 1], y[j - 1]], (1, 1)))
            if i:
                ways.append((table[i - 1, j] + costs[x[i - 1], NONE], (1, 0)))
            if j:
                ways.append((table[i, j - 1] + costs[NONE, y[j - 1]], (0, 1)))
            if ways:
                table[i, j], step[i, j] = min(ways)
    i, j, found = len(x), len(y), []
    while i or j:
        di, dj = step[i, j]
        found.append((x[i - 1] if di else NONE, y[j - 1] if dj else NONE))
        i, j = i - di, j - dj
    return float(table[-1, -1]), found


def nearest_first(
    rest: Sequence[Pair], words: Sequence[str], costs: Costs, shares: tuple[float, float]
) -> float:
    """How often the word meant is nearer to the word heard than every one of some others."""
    rng = np.random.default_rng(1)
    chosen = [rest[n] for n in rng.permutation(len(rest))[:MOST_PAIRS]]
    right = 0
    for pair in chosen:
        others = [words[n] for n in rng.integers(0, len(words), OTHERS)]
        meant = [pair.a, *(word for word in others if word not in (pair.a, pair.b))]
        by_sound = between([pair.b] * len(meant), meant, sounds, costs)
        by_letter = between([pair.b] * len(meant), meant, lambda w: letters_of([w]), letter_costs())
        apart = shares[0] * by_sound + shares[1] * by_letter
        right += bool(apart[0] < apart[1:].min())
    return right / len(chosen)


def between(
    heard: Sequence[str], meant: Sequence[str], read: Callable[[str], Sounds], costs: Costs
) -> Costs:
    strings = (Strings.of([read(word) for word in words]) for words in (heard, meant))
    return distances(*strings, costs)


if __name__ == "__main__":
    raise SystemExit(main())
