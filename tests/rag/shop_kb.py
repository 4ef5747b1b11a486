"""The documents of a small bike shop, and floors set by hand."""

import dataclasses

from rag.calibration import Calibration, Rate
from rag.histogram import Histogram

HOURS = """# Opening hours

On weekdays the bike shop is open from 8 a.m. to 6 p.m.
The workshop closes at 4:30 p.m.

On Saturday the bike shop is open from 9 a.m. to 1 p.m. On Sunday the bike shop is closed.

## Holidays

The bike shop is closed on Christmas Day. On Christmas Eve the bike shop is open until 12 noon.
"""

REPAIRS = """# Repairs

A flat tire repair takes 20 minutes and costs 15 dollars. It is free for members.

A full service takes 3 business days. To book a full service, call 555-0110.

A helmet for an adult costs $60. A helmet for a child costs $35.
"""


def write_kb(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"kb-{name}.md").write_text(text, "utf-8")
    return folder


def floors(embedder_hash, floor=0.3, **changes):
    rate = Rate.of(1, 20)
    found = Calibration(
        floor=floor,
        alpha=0.1,
        confidence=0.95,
        bound=0.1,
        method="set by hand for a test",
        set="none",
        set_sha256="0" * 64,
        embedder=embedder_hash,
        scorer="by hand",
        n_answerable=20,
        n_unanswerable=20,
        over_refusal=rate,
        wrongly_answered=rate,
        auc=0.9,
        separable=True,
        histogram=Histogram.of([[0.9]] * 20, [[0.1]] * 20),
    )
    return dataclasses.replace(found, **changes)
