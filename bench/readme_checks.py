"""Figure blocks about checks and follow-ups on public data."""

from __future__ import annotations

from collections.abc import Callable

from bench.figures import load, measured_on, percent, table

_CLAIMS = {
    "fever_symmetric": "FEVER, symmetric",
    "summedits_claims": "SummEdits, every number known",
    "begin_attribution": "BEGIN",
}
_CHECKS = {"numbers": "numbers alone", "overlap": "words alone", "grounding": "**grounding**"}
_RATES = ("precision", "recall", "accepted")
_TEXTS = {"raw": "as asked", "with the one before": "with the one before", "resolved": "resolved"}


def verifier() -> str:
    """What the fact that was asked for and another of the same kind come to."""
    f = load("public-verifier")
    names = {"numbers": "numbers in the passage", "answerability": "facts, and the score"}
    rows = [
        [title, *(percent(one[key]["rate"]) for key in ("gold_accepted", "other_rejected"))]
        for name, title in names.items()
        for one in [f["checks"][name]]
    ]
    cost = f["cost"]
    return "\n".join(
        [
            table(["check", "right fact accepted", "other fact rejected"], rows),
            "",
            f"{f['n']} pairs; a check takes {cost['check_p50_ms']:.1f} ms, "
            f"{cost['check_p95_ms']:.1f} at p95; `python -m bench.public.verifier --data DIR` "
            f"on {measured_on(f)}.",
        ]
    )


def grounding() -> str:
    """Unsupported claims caught, on the half that nothing was chosen on."""
    f = load("public-claims")
    rows = [
        [title, check, *(f"{one[rate]['rate']:.2f}" for rate in _RATES)]
        for name, title in _CLAIMS.items()
        for key, check in _CHECKS.items()
        for one in [f["sets"][name]["checks"][key]]
    ]
    head = ["claims", "check", "precision", "recall", "supported let pass"]
    measured = f"`python -m bench.public.claims --data DIR` on {measured_on(f)}."
    return "\n".join([table(head, rows), "", measured])


def follow_ups() -> str:
    """Content words against the rewrites by people, and complete questions left alone."""
    f = load("public-follow_ups")
    rows = []
    for name, title in (("cast", "TREC CAsT"), ("mtrag", "MTRAG")):
        half = f[name]["reported"]
        ups, complete = half["follow_ups"], half["complete"]
        scores = [f"{ups[text]['f1']:.3f}" for text in _TEXTS]
        rows.append([title, ups["n"], *scores, f"{complete['worse']} of {complete['n']}"])
    head = ["dialogues", "follow-ups", *(f"F1 {text}" for text in _TEXTS.values())]
    measured = f"`python -m bench.public.follow_ups --data DIR` on {measured_on(f)}."
    return "\n".join([table([*head, "complete ones made worse"], rows), "", measured])


BLOCKS: dict[str, Callable[[], str]] = {
    "verifier": verifier,
    "grounding": grounding,
    "follow_ups": follow_ups,
}
"""By the name that the README gives each."""
