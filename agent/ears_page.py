"""A page to listen to what the ear check could not understand, or has said otherwise."""

from __future__ import annotations

import base64
import io
import wave
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from speech import telephone
from speech.audio import to_int16

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.ears import Heard
    from agent.ears_check import Report
    from speech.phrased import Phrase, PhrasedVoice

_STYLE = (
    "body{font:16px/1.5 system-ui;margin:2em auto;max-width:46em;padding:0 1em}"
    "section{border-top:1px solid #ccc;padding:1em 0}b{color:#a00}audio{width:100%}"
    "p{margin:.3em 0}small{color:#555}"
)


def write(path: Path, report: Report, voice: PhrasedVoice) -> None:
    """Write the page to ``path``: no other file, no script.

    Raises:
        OSError: if it cannot be written.
        SpeechError: if the voice fails.
    """
    shown = [one for one in report.heard if one.is_for_a_person]
    shown += [one for one in report.heard if one.instead and not one.is_for_a_person]
    body = "\n".join(part for one in shown for part in _section(one, voice))
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'><title>Ear check</title>"
        f"<style>{_STYLE}</style><h1>What callers may not understand</h1>"
        f"<p>{len(shown)} sentences, as they sound over the telephone.</p>\n{body}</html>\n",
        "utf-8",
    )


def _section(heard: Heard, voice: PhrasedVoice) -> Iterator[str]:
    yield f"<section><p>{escape(heard.text)}</p>"
    for items, what in ((heard.lost, "Not understood"), (heard.misread, "Read as something else")):
        if items:
            yield f"<p><b>{what}: {escape(', '.join(item.text for item in items))}</b></p>"
    yield f"<p><small>heard: {escape(heard.heard)}</small></p>"
    yield _player(heard.said, voice)
    if heard.instead:
        words = " ".join(phrase.words for phrase in heard.instead)
        yield f"<p>Said otherwise: {escape(words)}</p>"
        yield _player(heard.instead, voice)
    yield "</section>"


def _player(phrases: Sequence[Phrase], voice: PhrasedVoice) -> str:
    audio = [telephone.over_the_line(voice.synthesise(phrase)) for phrase in phrases]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(telephone.RATE_HZ)
        sound.writeframes(to_int16(np.concatenate(audio)).tobytes())
    data = base64.b64encode(file.getvalue()).decode()
    return f"<audio controls src='data:audio/wav;base64,{data}'></audio>"
