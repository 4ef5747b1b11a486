"""How loud our voice is on the telephone, sentence by sentence, and whether it clicks.

  python -m bench.loudness                # the sample knowledge base's sentences
  python -m bench.loudness --kb DIR --no-save

Peak, active speech level and offset of every sentence as it is sent; the steps at its start, its
end and where its phrases join.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from agent.cli import quiet_logs
from agent.session import FIXED_SENTENCES
from agent.settings import SAMPLE_KB, load_settings
from bench.results import write_result
from frontdesk import Spoken
from speech.audio import Float32, Int16, levels, to_float32
from speech.piper import Voice

_TIME_CONSTANT_S = 0.03
_HANGOVER_S = 0.2
_MARGIN_DB = 15.9


def active_level(audio: Float32, rate_hz: int) -> tuple[float, float]:
    """Active speech level in dB of full scale (RMS of the parts with speech), and their share.

    ITU-T P.56 (12/2011), method B: envelope by two exponential averages of 30 ms, hangover of
    200 ms, the threshold that lies 15.9 dB below the level it yields. (-inf, 0.0) for silence.
    """
    power = np.square(audio, dtype=np.float64)
    if not power.any():
        return -np.inf, 0.0
    envelope = _envelope(np.abs(audio).astype(np.float64), rate_hz)
    hangover = round(_HANGOVER_S * rate_hz)
    thresholds = 2.0 ** -np.arange(15.0, 0.0, -1.0)
    counts = np.array([_active(envelope >= threshold, hangover) for threshold in thresholds])
    thresholds, counts = thresholds[counts > 0], counts[counts > 0]
    found = 10 * np.log10(power.sum() / counts)
    over = found - 20 * np.log10(thresholds) - _MARGIN_DB  # falls as the threshold rises
    level = float(np.interp(0.0, over[::-1], found[::-1]))
    return level, float(power.sum() / 10 ** (level / 10) / audio.size)


def _envelope(magnitude: np.ndarray, rate_hz: int) -> np.ndarray:
    """Two exponential averages in a row: one convolution with their joint impulse response."""
    g = np.exp(-1 / (rate_hz * _TIME_CONSTANT_S))
    n = np.arange(round(rate_hz * _TIME_CONSTANT_S * 20))
    response = (1 - g) ** 2 * (n + 1) * g**n
    size = 1 << int(np.ceil(np.log2(magnitude.size + n.size)))
    spectrum = np.fft.rfft(magnitude, size) * np.fft.rfft(response, size)
    return np.fft.irfft(spectrum, size)[: magnitude.size]


def _active(above: np.ndarray, hangover: int) -> int:
    """Samples above, or within ``hangover`` after one that was."""
    at = np.arange(above.size)
    last = np.maximum.accumulate(np.where(above, at, -hangover - 1))
    return int(np.count_nonzero(at - last <= hangover))


@dataclass(frozen=True, slots=True)
class Loudness:
    """One sentence: dB of full scale, offset and steps in parts of it (1.0)."""

    peak_db: float
    active_db: float
    own_db: float
    offset: float
    edge_step: float
    join_step: float


def measure(pieces: Sequence[Int16], rate_hz: int) -> Loudness | None:
    """The loudness of one sentence in ``pieces`` (mono int16, its phrases); None for none.

    ``edge_step`` is the larger of the first and the last sample: what a listener's silence jumps
    to. ``join_step`` is the largest step from one phrase to the next.
    """
    phrases = [to_float32(piece) for piece in pieces if piece.size]
    if not phrases:
        return None
    audio = np.concatenate(phrases)
    joins = [abs(float(after[0] - before[-1])) for before, after in itertools.pairwise(phrases)]
    return Loudness(
        peak_db=20 * float(np.log10(np.abs(audio).max() + 1e-9)),
        active_db=active_level(audio, rate_hz)[0],
        own_db=20 * float(np.log10(levels(audio, rate_hz)[1] + 1e-9)),
        offset=abs(float(audio.mean())),
        edge_step=float(max(abs(audio[0]), abs(audio[-1]))),
        join_step=max(joins, default=0.0),
    )


def bench_loudness(
    render: Callable[[Spoken], Iterable[Int16]], sentences: Iterable[Spoken], rate_hz: int
) -> dict[str, Any]:
    """Measure every sentence: the spread of each figure, observed values only."""
    rows = [measure(list(render(words)), rate_hz) for words in sentences]
    found = [row for row in rows if row is not None]
    figures: dict[str, Any] = {"sentences": len(found), "rate_hz": rate_hz}
    for name in ("peak_db", "active_db", "own_db"):
        values = np.array([getattr(row, name) for row in found])
        p5, p50, p95 = np.percentile(values, [5, 50, 95], method="lower")
        spread = {"min": values.min(), "p5": p5, "p50": p50, "p95": p95, "max": values.max()}
        figures[name] = {key: round(float(value), 1) for key, value in spread.items()}
    for name in ("offset", "edge_step", "join_step"):
        figures[f"{name}_max"] = round(max(getattr(row, name) for row in found), 5)
    return figures


def main() -> int:
    """Render, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args()
    quiet_logs()

    from agent.retrieval import index_of

    settings = load_settings(kb=args.kb)
    quoted = [Spoken.strip(sentence.text) for sentence in index_of(settings).sentences]
    words = list(dict.fromkeys((Spoken(settings.voice.greeting), *FIXED_SENTENCES, *quoted)))
    voice = Voice()
    figures = bench_loudness(
        voice.render_phrases, tqdm(words, "rendering", disable=None), voice.sample_rate_hz
    )
    if not args.no_save and settings.kb.resolve() == SAMPLE_KB.resolve():
        write_result("loudness", figures)
    print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
