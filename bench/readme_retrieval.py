"""Figure blocks about retrieval: rankings, chunkers, speed by size, and public data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.figures import load, measured_on, percent, table
from bench.results import RESULTS

_LEGS = {
    "dense": "meaning (cosine)",
    "hybrid": "meaning and words, fused by rank",
    "words": "words alone (BM25)",
    "quoted": "how they are quoted (the score)",
}


def retrieval() -> str:
    """How the clinic's passages are ranked for its questions."""
    f = load("retrieval")
    rows = [
        [form, title, *(_share(f[form][leg][name]) for name in _RANKING)]
        for form in ("raw", "rewritten")
        for leg, title in _LEGS.items()
    ]
    core = "; ".join(
        f"{title} {core['raw'][leg]} and {core['rewritten'][leg]}"
        for core in [f["core"]["typed"]]
        for leg, title in _LEGS.items()
    )
    n = f["core"]["typed"]["n"]
    return "\n".join(
        [
            table(["questions", "ranked by", *_RANKING.values()], rows),
            "",
            f"Right first for the {n} answerable core questions, raw and rewritten: {core}.",
            "",
            f"`frontdesk eval retrieval` over {f['raw']['dense']['n']} heard questions on "
            f"{measured_on(f)}.",
        ]
    )


def rag() -> str:
    """Text in to verdict out, one row for each size and embedder."""
    rows = []
    found = [load(path.stem) for path in _sizes()]
    for f in sorted(found, key=lambda f: (f["embedder"], f["passages"])):
        rows.append(
            [
                f"{f['passages']:,}",
                f"{f['embedder']}, {f['search']}",
                *(f[f"p{p}_ms"] for p in _PERCENTILES),
                f["stages"]["embed"]["p50_ms"],
                f["stages"]["search"]["p50_ms"],
                f["own_mb"],
                f["index_mb"],
            ]
        )
    percentiles = [f"p{p} ms" for p in _PERCENTILES]
    head = ["passages", "embedder, search", *percentiles, "embed p50", "search p50"]
    machines = "; ".join(dict.fromkeys(measured_on(f) for f in found))
    return "\n".join(
        [
            table([*head, "own MB", "index MB"], rows),
            "",
            f"`frontdesk bench rag --passages N`, {found[0]['queries']} queries, on {machines}.",
        ]
    )


def rag_languages() -> str:
    """The same by language, for the multilingual embedder."""
    (path,) = (path for path in _sizes() if path.stem.endswith("-e5"))
    f = load(path.stem)
    rows = [
        [language, found["queries"], *(found[f"p{p}_ms"] for p in _PERCENTILES)]
        for language, found in f["languages"].items()
    ]
    head = ["language", "queries", *(f"p{p} ms" for p in _PERCENTILES)]
    return "\n".join([table(head, rows), "", f"{f['passages']:,} passages, on {measured_on(f)}."])


def near_misses() -> str:
    """Questions of which the business states another number of the same kind."""
    f = load("public-dstc")
    rows = [
        [
            title,
            *(percent(f[kind][name]) for name in ("right_first", "other_number", "refused_at_5")),
            f"{f[kind]['auc']:.3f}",
        ]
        for kind, title in (("bodies", "answers alone"), ("titles", "questions and answers"))
    ]
    head = ["documents", "right first", "another fact's number first"]
    return "\n".join(
        [
            table([*head, "refused without the right passage", "AUC"], rows),
            "",
            f"{f['bodies']['n']} questions over {f['bodies']['businesses']} businesses, a floor "
            "that over-refuses 5 %; `python -m bench.public DIR dstc` on "
            f"{measured_on(f)}.",
        ]
    )


def xquad() -> str:
    """Top-1 over the XQuAD passages, beside BM25."""
    f = load("public-xquad")
    rows = []
    for name, language, kind, title in (
        ("minilm, en", "en", "clean", "as written"),
        ("minilm, en", "en", "heard", "read aloud, as recognised"),
        ("e5, hi", "hi", "hindi", "in Hindi"),
    ):
        found = f["top1"][name][kind]
        published = f["published_bm25"][kind]
        rows.append([title, language, published, *(_share(found[o]) for o in _ORDERS)])
    head = ["questions", "passages", "BM25, published", *_ORDERS.values()]
    return "\n".join(
        [
            table(head, rows),
            "",
            f"{f['questions']} questions over {f['passages']} passages, share with the right "
            f"passage first; `python -m bench.public DIR xquad` on {measured_on(f)}.",
        ]
    )


def refusals() -> str:
    """Both error rates at the calibrated floor on public data."""
    stack, covid, clinc = load("public-stackfaq"), load("public-covid"), load("public-clinc")
    rows: list[list[object]] = []
    for title, kinds in (
        ("StackFAQ", stack["kinds"]),
        ("COVID FAQ", covid["whole"]["kinds"]),
        ("COVID FAQ, one passage", covid["pairs"]["kinds"]),
    ):
        for kind, found in kinds.items():
            rows += [
                [title, kind, error.replace("_", " "), *_rate(rate)]
                for error, rate in found.items()
                if isinstance(rate, dict)
            ]
    rate = _rate(clinc["out_of_scope"]["wrongly_answered"])
    rows.append(["CLINC150 over the clinic", "out of scope", "wrongly answered", *rate])
    rate = _rate(clinc["clinic"]["over_refused"])
    rows.append(["the clinic's own", "typed", "over refused", *rate])
    head = ["set", "questions", "error", "share", "95 % interval", "n"]
    return "\n".join(
        [table(head, rows), "", f"`python -m bench.public DIR` on {measured_on(stack)}."]
    )


_RANKING = {
    "recall_at_1": "recall@1",
    "recall_at_3": "recall@3",
    "hit_at_10": "hit@10",
    "mrr": "MRR",
    "ndcg": "nDCG",
}
_ORDERS = {"words": "BM25, ours", "dense": "cosine", "quoted": "what Frontdesk quotes"}
_PERCENTILES = (50, 70, 90, 95, 100)

BLOCKS: dict[str, Callable[[], str]] = {
    "retrieval": retrieval,
    "rag": rag,
    "rag_languages": rag_languages,
    "near_misses": near_misses,
    "xquad": xquad,
    "refusals": refusals,
}
"""The blocks by the name that the README gives them."""


def _sizes() -> list[Path]:
    return sorted(RESULTS.glob("rag-*.json"))


def _rate(rate: dict[str, Any]) -> list[str]:
    low, high = (f"{100 * rate[end]:.1f}" for end in ("low", "high"))
    return [f"{100 * rate['rate']:.1f} %", f"{low} to {high} %", str(rate["n"])]


def _share(value: float) -> str:
    return f"{value:.3f}"
