"""Tune the embedder to tell the sentence that answers from its neighbours, and write the change.

    python tools/tune_minilm.py --data DIR --cache DIR

Trained together with the model that the score is (``tools/answerability_model.py``), on the same
data, from the weights of the file. A quarter of the businesses is left out, here and in the figures
of that score; theirs are printed. General texts are held where they were: the embedder has to read
other documents too. Afterwards ``tools/fit_answerability.py`` is to be run: it fits the score on
what the tuned embedder sees. Needs torch, which the product does not: ``pip install
torch==2.13.0``. DIR of ``--data`` holds what that tool reads, and the files of :data:`GENERAL`. It
takes about 40 minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from answerability_data import MADE, made, public
from answerability_model import loss_of
from fit_answerability import ROOT, Embedded, figures, is_left_out
from minilm_model import Encoder, pooled
from torch import nn
from tqdm import tqdm, trange
from tuned_model import CASES, Asked, Begun, Told, Tuned, begin, told

from frontdesk import models
from rag.embedders import minilm_weights
from rag.embedders.minilm import MiniLM
from rag.embedders.minilm_weights import TUNED
from rag.packed_arrays import packed

GENERAL = {
    "begin_attribution.jsonl": ("knowledge",),
    "summedits_claims.jsonl": ("passage",),
    "followup_rewrite_cast.jsonl": ("query", "rewrite"),
    "followup_rewrite_mtrag.jsonl": ("query", "rewrite"),
}
"""Passages and questions of any subject, without what is right or wrong about them."""

_FIRST, _RANK = 2, 16
# Times through the data: with the encoder as it is, until the rest knows what to look for, then
# with all of it.
_AHEAD, _EPOCHS, _WARM_UP = 0.75, 1.4, 50
_ENCODER_RATE, _READER_RATE, _WEIGHTS_RATE = 1e-3, 2e-3, 0.02
# What texts count for staying where they were, as 1 - cosine: a business's, and general ones, of
# which so many are looked at a step.
_STAY, _STAY_GENERAL, _GENERAL_TEXTS = 0.5, 2.0, 12
_WORDS = 60  # of a general text


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """General texts: what the fixed layers make of them, and where they were (texts, 384)."""

    begun: list[torch.Tensor]
    vectors: torch.Tensor

    def moved(self, encoder: Encoder, rng: np.random.Generator) -> torch.Tensor:
        """How far some of them are from there on the mean."""
        some = rng.choice(len(self.begun), _GENERAL_TEXTS, replace=False).tolist()
        now = torch.stack([pooled(state) for state in encoder([self.begun[n] for n in some])])
        return (1 - (now * self.vectors[some]).sum(dim=1)).mean()


@torch.no_grad()
def held(data: Path, encoder: Encoder, embedder: MiniLM) -> Held:
    """The general texts, before anything is tuned."""
    texts: dict[str, None] = {}
    for name, keys in GENERAL.items():
        for line in (data / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            texts |= {" ".join(row[key].split()[:_WORDS]): None for key in keys if row[key]}
    ids = [embedder.tokens(text).ids for text in texts if text]
    begun = [part.clone() for part in encoder.begun(ids)]
    return Held(begun, torch.stack([pooled(state) for state in encoder(begun)]))


def train(
    every: Sequence[Told],
    encoder: Encoder,
    begun: Mapping[str, Begun],
    general: Held,
    seed: int = 0,
) -> Tuned:
    """The encoder tuned, with the model that it was tuned under."""
    torch.manual_seed(seed)
    rng, tuned = np.random.default_rng(seed), Tuned(encoder)
    learned = {id(part) for part in tuned.model.learned}
    others = [part for part in tuned.model.parameters() if id(part) not in learned]
    groups = [
        {"params": encoder.tuned(), "lr": _ENCODER_RATE, "weight_decay": 0.01},
        {"params": tuned.model.learned, "lr": _READER_RATE, "weight_decay": 0.01},
        {"params": others, "lr": _WEIGHTS_RATE, "weight_decay": 1e-4},
    ]
    rates = [group["lr"] for group in groups]
    optimiser = torch.optim.AdamW(groups)
    waiting: list[tuple[Told, list[Asked]]] = []
    per_epoch = len(_chunks(every, rng))
    ahead = int(_AHEAD * per_epoch)
    steps = ahead + int(_EPOCHS * per_epoch)
    progress = trange(steps, desc="tune", mininterval=5)
    for step in progress:
        pace = 1 - step / steps
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * pace * min(1.0, (step + 1) / _WARM_UP)
        optimiser.param_groups[0]["lr"] *= min(1.0, max(0, step - ahead + 1) / _WARM_UP)
        waiting = waiting or _chunks(every, rng)
        one, cases = waiting.pop()
        sums, moved = tuned(one, cases, begun[one.id], rng=rng, as_it_was=step < ahead)
        losses = [
            loss_of(*pair, case.right[pick], case.elsewhere[pick]) * case.weight
            for case, (pick, *pair) in zip(cases, sums, strict=True)
        ]
        loss = torch.stack(losses).sum() / sum(case.weight for case in cases)
        if step >= ahead:
            loss = loss + _STAY * moved + _STAY_GENERAL * general.moved(encoder, rng)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(tuned.parameters(), 1.0)
        optimiser.step()
        tuned.model.hold()
        progress.set_postfix(loss=round(loss.item(), 2), moved=round(moved.item(), 3))
    return tuned.eval()


def _chunks(every: Sequence[Told], rng: np.random.Generator) -> list[tuple[Told, list[Asked]]]:
    """Every question once, some of one business at a time, in random order."""
    found = []
    for one in every:
        order = rng.permutation(len(one.asked))
        for part in np.array_split(order, -(-len(order) // CASES)):
            found.append((one, [one.asked[n] for n in part.tolist()]))
    return [found[n] for n in rng.permutation(len(found)).tolist()]


@torch.no_grad()
def judge(
    tuned: Tuned, every: Sequence[Told], begun: Mapping[str, Begun]
) -> dict[str, dict[str, float]]:
    """The figures of businesses that were left out, by kind."""
    sums, seen = [], []
    for one in every:
        for at in range(0, len(one.asked), CASES):
            cases = one.asked[at : at + CASES]
            found, _ = tuned(one, cases, begun[one.id])
            sums += [(there.numpy(), gone.numpy()) for _, there, gone in found]
            seen += cases
    kinds = np.array([case.kind for case in seen])
    by_kind = {kind: np.flatnonzero(kinds == kind).tolist() for kind in sorted(set(kinds))}
    return {
        kind: figures([sums[n] for n in rows], [seen[n] for n in rows])
        for kind, rows in by_kind.items()
    }


def read_all(data: Path, cache: Path) -> list[Told]:
    """The businesses of ``tools/fit_answerability.py``, those with indexed questions aside."""
    embedder = MiniLM(tuned=False)
    embedded = Embedded(embedder)
    found = [
        told(one, embedded, embedder)
        for source in (made(data, embedder), public(data, cache / "untuned", embedder))
        for one in tqdm(source, "businesses")
        if one.kind != "questions"
    ]
    return [one for one in found if one.asked]


def main() -> int:
    """Tune, write, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public data")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the indexes built")
    chosen = parser.parse_args()
    every = read_all(chosen.data, chosen.cache)
    torch.manual_seed(0)
    encoder = Encoder(minilm_weights.read(models.verified("minilm")), _FIRST, _RANK)
    begun = {one.id: begin(encoder, one) for one in tqdm(every, "begin")}
    general = held(chosen.data, encoder, MiniLM(tuned=False))
    kept = [one for one in every if not is_left_out(one.id)]
    tuned = train(kept, encoder, begun, general)
    print(json.dumps(judge(tuned, [o for o in every if is_left_out(o.id)], begun), indent=1))
    write(encoder, sum(len(one.asked) for one in kept))
    return 0


def write(encoder: Encoder, questions: int) -> None:
    """Write what was tuned."""
    table = {
        "date": datetime.now(UTC).date().isoformat(),
        "data": [str(MADE.relative_to(ROOT)), "dstc10_kb.jsonl, businesses that are not scored"],
        "questions": questions,
        "of": models.manifest()["minilm"].sha256,
        "added": {
            name: {"down": packed(down), "up": packed(up)}
            for name, (down, up) in encoder.added().items()
        },
    }
    TUNED.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    print(f"{TUNED.relative_to(ROOT)}: {TUNED.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
