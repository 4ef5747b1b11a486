"""Many telephones in a process of their own: ``python -m bench.sip_phones URI CALLS SECONDS``.

All call at once, talk for so long, each its own words, and hang up. Two lines of JSON are written:
how many calls were held to the end, as soon as all have hung up, and then what was heard.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import numpy as np
from loguru import logger
from numpy.typing import NDArray

from bench.sip_phone import Phone, snr_db, speechlike

_FRAME_MS = 20
_LATE_MS = 10
"""A packet that comes this much after it is due is late."""
_PIECE = 5 * 8000
_PIECES = 7
_AROUND = 8000
_FIRST = 10


def words_of(number: str) -> int:
    """The seed of what the telephone of ``number`` says."""
    return _FIRST + int(number[-2:])


def held(said: NDArray[np.int16], heard: NDArray[np.int16]) -> tuple[float, float]:
    """The worst SNR in dB of pieces of ``said`` in ``heard``, and how far they moved at most, ms.

    Each piece is looked for up to a second around where the first one was.
    """
    pieces = np.linspace(0, max(0, len(said) - _PIECE), _PIECES).astype(int)
    first, _ = snr_db(said[:_PIECE], heard[: _PIECE + 5 * _AROUND])
    worst, moved = np.inf, 0.0
    for at in pieces:
        begin = max(0, int(at) + first - _AROUND)
        lag, db = snr_db(said[at : at + _PIECE], heard[begin : begin + _PIECE + 2 * _AROUND])
        worst = min(worst, db)
        moved = max(moved, abs(begin + lag - at - first) / 8)
    return round(float(worst), 1), round(float(moved), 2)


async def _talk(phone: Phone, words: NDArray[np.int16]) -> None:
    await phone.speak(np.zeros(4000))
    await phone.speak(words)
    await phone.speak(np.zeros(8000))


async def _call(uri: str, calls: int, seconds: float) -> list[Phone]:
    phones = [Phone(uri, number=f"+155555501{i:02d}") for i in range(calls)]
    words = [speechlike(seconds, words_of(one.from_number)) for one in phones]  # takes a while
    for one in phones:
        await one.open()
    await asyncio.gather(*(one.dial(10) for one in phones))
    await asyncio.gather(*(_talk(one, said) for one, said in zip(phones, words, strict=True)))
    kept = sum(not one.telephone.ended.is_set() for one in phones)
    for one in phones:
        one.telephone.hang_up()
    print(json.dumps({"held": kept}), flush=True)
    await asyncio.sleep(1)  # for the answers to the BYEs
    return phones


def _figures(phones: list[Phone], seconds: float) -> dict[str, Any]:
    gaps = np.concatenate([np.diff([at for at, _ in one.packets]) * 1000 for one in phones])
    greeting = speechlike(seconds, 1)
    found = [held(greeting, one.heard()) for one in phones]
    return {
        "packets": sum(len(one.packets) for one in phones),
        "late_percent": round(float((gaps > _FRAME_MS + _LATE_MS).mean() * 100), 2),
        "gap_p95_ms": round(float(np.percentile(gaps, 95, method="lower")), 1),
        "gap_max_ms": round(float(gaps.max()), 1),
        "min_db": min(db for db, _ in found),
        "moved_max_ms": max(moved for _, moved in found),
    }


def main() -> None:
    """Run from the command line."""
    logger.disable("pipecat")
    uri, calls, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    phones = asyncio.run(_call(uri, calls, seconds))
    print(json.dumps(_figures(phones, seconds)), flush=True)


if __name__ == "__main__":
    main()
