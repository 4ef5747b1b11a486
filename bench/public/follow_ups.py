"""Follow-ups: the question that the rules make of one, against the one that a person wrote.

TREC CAsT (daltonj/treccastweb, rewritten by people) and MTRAG (IBM/mt-rag-benchmark, rewritten by
a language model), then the spoken dialogues of DSTC10 track 2 over real businesses' FAQs
(alexa/alexa-with-dstc10-track2-dataset, Apache-2.0). Every set is split by a hash of the
dialogue's id: the rules were written while looking at the half ``developed``, never at
``reported``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import lacking
from bench.public.rows import read, table
from bench.results import write_result
from rag.embed import Embedder, default_embedder
from rag.follow_up import Cosine, Names, Resolution, Said, State, resolve
from rag.follow_up.terms import content_words
from rag.rewrite import rewrite

REWRITES = {"cast": "followup_rewrite_cast.jsonl", "mtrag": "followup_rewrite_mtrag.jsonl"}
DIALOGUES, KB = "dstc10_spoken_dialogues.jsonl", "dstc10_kb.jsonl"
FILES = (*REWRITES.values(), DIALOGUES, KB)
HALVES = ("developed", "reported")
ALL = "all"
"""Both halves together: no figure to report alone."""
POINTING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those)\b|"
    r"\b(?:what|how) about\b"
)
WAYS = ("raw", "with the one before", "resolved")

Progress = Callable[[int, int], None]
Row = dict[str, Any]


def half(dialogue: str) -> str:
    """The half that a dialogue belongs to, by the SHA-256 of its id."""
    return HALVES[int(hashlib.sha256(dialogue.encode()).hexdigest(), 16) % 2]


def overlap(text: str, gold: str) -> tuple[float, float, float]:
    """Recall, precision and F1 of the content words of ``text`` against those of ``gold``.

    Both are cleaned alike, so that "two" is "2" in both.
    """
    ours, theirs = (frozenset(content_words(rewrite(one))) for one in (text, gold))
    if not ours or not theirs:
        return (float(not theirs), float(not ours), float(ours == theirs))
    recall, precision = len(ours & theirs) / len(theirs), len(ours & theirs) / len(ours)
    return recall, precision, 2 * recall * precision / ((recall + precision) or 1.0)


def resolved(row: Row, cosine: Cosine | None = None) -> Resolution:
    """The last question of a dialogue, after all that were asked before it."""
    state = State()
    for question in row["history"]:
        state = state.after(resolve(question, state, cosine=cosine))
    return resolve(row["query"], state, cosine=cosine)


def rewriting(rows: Iterable[Row], cosine: Cosine | None = None) -> dict[str, Any]:
    """Figures by half, for follow-ups and for questions that needed no rewriting.

    First questions of a dialogue are left out: nothing can be done to them. ``made_worse`` is the
    share whose F1 fell below that of the raw question, ``worse`` their number. ``plain`` tells the
    same of those without any word of ``POINTING``: many questions that a rewriter left as they
    were still say "he" or "what about". ``all`` holds both halves together, the one that the rules
    were written on among them.
    """
    scores: dict[tuple[str, str], list[list[tuple[float, float, float]]]] = {}
    plain: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if not row["history"]:
            continue
        raw = row["query"]
        texts = (raw, f"{row['history'][-1]} {raw}", resolved(row, cosine).query.text)
        kind = "follow_ups" if row["needs_rewrite"] else "complete"
        own = [overlap(text, row["rewrite"]) for text in texts]
        for name in (half(row["conv"]), ALL):
            scores.setdefault((name, kind), []).append(own)
            plain.setdefault((name, kind), []).append(not POINTING.search(raw.lower()))
    found: dict[str, Any] = {name: {} for name in (*HALVES, ALL)}
    for (name, kind), rows_of in sorted(scores.items()):
        values, is_plain = np.array(rows_of), np.array(plain[name, kind])
        means = values.mean(axis=0)
        worse = values[:, 2, 2] < values[:, 0, 2] - 1e-9
        better = values[:, 2, 2] > values[:, 0, 2] + 1e-9
        found[name][kind] = {
            "n": len(rows_of),
            **{
                way: dict(zip(("recall", "precision", "f1"), _rounded(means[at]), strict=True))
                for at, way in enumerate(WAYS)
            },
            "made_better": round(float(better.mean()), 4),
            "made_worse": round(float(worse.mean()), 4),
            "worse": int(worse.sum()),
            "plain": {"n": int(is_plain.sum()), "worse": int((worse & is_plain).sum())},
        }
    return found


def heard(row: Row, names: Names) -> Resolution:
    """The last utterance of a spoken dialogue, after the turns of both sides before it."""
    state = State()
    turns = row["history"]
    for at, turn in enumerate(turns):
        if turn["role"] != "caller":
            continue
        answers = []
        for answer in turns[at + 1 :]:
            if answer["role"] == "caller":
                break
            answers.append(Said("", "", answer["text"]))
        state = state.after(resolve(turn["text"], state, names=names), tuple(answers))
    return resolve(row["query_asr"], state, names=names)


def spoken(
    rows: Sequence[Row],
    kb: Sequence[Row],
    embedder: Embedder,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Hit@1 and hit@5 of the right snippet over every business, by half and by way of asking.

    ``resolved`` is the text alone; ``of its document`` looks only among the snippets of the
    business that the state holds (all of them, if none).
    """
    ids = [snippet["id"] for snippet in kb]
    businesses = np.array([one.rpartition("/")[0] for one in ids])
    names = Names({one["id"].rpartition("/")[0]: one["entity"] for one in kb if one["entity"]})
    texts = [f"{one['title']} {one['body']}" for one in kb]
    vectors = np.concatenate(
        [_encoded(embedder, texts[at : at + 100], at, len(texts), progress) for at in _steps(texts)]
    )
    hits: dict[str, dict[str, list[tuple[bool, bool]]]] = {name: {} for name in HALVES}
    named: dict[str, list[bool]] = {name: [] for name in HALVES}
    for row in rows:
        if not row["knowledge_seeking"]:
            continue
        last = rewrite(row["query_asr"])
        before = " ".join(turn["text"] for turn in row["history"][-3:])
        ours = heard(row, names)
        own = businesses == ours.document if ours.document else np.ones(len(ids), dtype=bool)
        ways = {
            "last utterance": (last, None),
            "plus three turns": (rewrite(f"{before} {row['query_asr']}"), None),
            "resolved": (ours.query.text, None),
            "of its document": (ours.query.text, own),
        }
        part, gold = half(row["id"]), set(row["gold_kb"])
        named[part].append(ours.document in {one.rpartition("/")[0] for one in gold})
        for way, (text, within) in ways.items():
            scores = vectors @ embedder.encode([text], query=True)[0]
            if within is not None:
                scores = np.where(within, scores, -1.0)
            first = [ids[n] for n in np.argsort(-scores, kind="stable")[:5]]
            hits[part].setdefault(way, []).append((first[0] in gold, bool(gold & set(first))))
    return {
        part: {
            "n": len(named[part]),
            "right_document": round(float(np.mean(named[part])), 4) if named[part] else None,
            **{
                way: dict(
                    zip(("hit_at_1", "hit_at_5"), _rounded(np.mean(own, axis=0)), strict=True)
                )
                for way, own in hits[part].items()
            },
        }
        for part in HALVES
    }


def run(
    data: Path, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """All three sets in folder ``data``."""
    figures: dict[str, Any] = {
        name: rewriting(read(data / file)) for name, file in REWRITES.items()
    }
    model = embedder or default_embedder()
    figures["spoken"] = spoken(read(data / DIALOGUES), read(data / KB), model, progress)
    return figures


def printed(figures: dict[str, Any]) -> str:
    """The figures as two tables."""
    rows = [
        [
            *(name, part, kind, own["n"], way, *own[way].values()),
            *_worse(own, way),
        ]
        for name in REWRITES
        for part in (*HALVES, ALL)
        for kind, own in figures.get(name, {}).get(part, {}).items()
        for way in WAYS
    ]
    head = ("set", "half", "questions", "n", "asked", "recall", "precision", "F1", "worse", "plain")
    hits = [
        [part, own["n"], way, *own[way].values()]
        for part, own in figures.get("spoken", {}).items()
        for way in own
        if isinstance(own[way], dict)
    ]
    return "\n\n".join(
        [table(head, rows), table(("half", "n", "DSTC10, spoken", "hit@1", "hit@5"), hits)]
    )


def _worse(own: dict[str, Any], way: str) -> tuple[str, str]:
    """How many of how many are worse resolved than raw, and of those without a pointing word."""
    if way != "resolved":
        return "", ""
    plain = own["plain"]
    return f"{own['worse']} of {own['n']}", f"{plain['worse']} of {plain['n']}"


def _steps(texts: Sequence[str]) -> range:
    return range(0, len(texts), 100)


def _encoded(
    embedder: Embedder, texts: Sequence[str], done: int, count: int, progress: Progress | None
) -> Any:
    vectors = embedder.encode(texts)
    if progress:
        progress(done + len(texts), count)
    return vectors


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; exit code 2 where the data is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.public.follow_ups", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--text", action="store_true", help="only the rewrites: no embedder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", action="store_true", help="write bench/results/")
    chosen = parser.parse_args(arguments)
    needed = tuple(REWRITES.values()) if chosen.text else FILES
    if missing := lacking(chosen.data, needed):
        print(missing)
        return 2
    if chosen.text:
        found = {name: rewriting(read(chosen.data / file)) for name, file in REWRITES.items()}
    else:
        found = run(chosen.data)
    print(json.dumps(found, indent=2) if chosen.json else printed(found))
    if chosen.save:
        write_result("public-follow_ups", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
