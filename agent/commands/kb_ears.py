"""``frontdesk kb check --ears``: whether callers understand what is said from the documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.progress import stages
from agent.settings import Settings
from frontdesk import ConfigError, ModelFileError

if TYPE_CHECKING:
    from agent.ear_items import Item
    from agent.ears import Heard
    from agent.ears_check import Report
    from speech.phrased import Phrase

_ENGLISH = "en"
_SHOWN = 20
"""Respelled sentences that are printed; --json has them all."""


def check_ears(settings: Settings, page: Path | None, as_json: bool) -> int:
    """Say and hear every value and name of the documents; 1 if one is not understood, else 0.

    What is understood only if it is said otherwise is said so from the next start on. ``page`` is
    an HTML file for what a person has to look at, with its sound.

    Raises:
        ConfigError: if the voice is a service, or does not speak English; if what was found
            cannot be written, or ``page`` is among the documents.
        ModelFileError: if voice or recogniser is not installed.
        KnowledgeBaseError: if the documents or the index cannot be used.
        SpeechError: if voice or recogniser fails.
    """
    from agent import ears_check, ears_page, respelled
    from agent.prerender import keep, prepare, voice_of
    from agent.retrieval import index_of
    from frontdesk import Spoken
    from speech import beam, moonshine, moonshine_decoder, telephone, whisper

    if page and page.resolve().is_relative_to(settings.kb.resolve()):
        raise ConfigError(f"{page} would be read as a document; write it elsewhere")
    voice = voice_of(settings)
    if not voice.identity:
        raise ConfigError("the voice is a service; only voices of this machine can be checked")
    if voice.language != _ENGLISH:
        raise ConfigError(f"the ears understand English, the voice speaks {voice.language!r}")
    index = index_of(settings)
    kept = ears_check.kept_in(settings.kb)
    first_name = ears_check.version_of(beam, moonshine, moonshine_decoder, telephone)
    second_name = ears_check.version_of(whisper, telephone)
    first = ears_check.Listener(first_name, voice, moonshine.Moonshine, kept)
    second = ears_check.Listener(
        second_name, voice, lambda: whisper.Whisper("whisper-tiny-en"), kept
    )
    note = ""
    try:
        with stages() as progress:
            report = ears_check.check(index, voice, first, second, progress)
    except ModelFileError as error:
        note = f"no second ear: {error}"
        with stages() as progress:
            report = ears_check.check(index, voice, first, None, progress)
    finally:
        with suppress(OSError):  # what was heard is not heard again, however this ended
            ears_check.keep_in(settings.kb, (first, second))
    try:
        respelled.save(settings.kb, voice.identity, ears_check.respellings_of(report.heard))
        if page:
            ears_page.write(page, report, voice)
    except OSError as error:
        raise ConfigError(
            f"cannot write {error.filename} ({error.strerror}); make it writable for this user"
        ) from error
    keep(voice, settings)
    prepare(voice, (Spoken(heard.text) for heard in report.heard if heard.instead))
    figures = _figures(report, note)
    if as_json:
        print(json.dumps(figures, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(figures)))
    return 1 if figures["for_a_person"] else 0


def _figures(report: Report, note: str) -> dict[str, Any]:
    heard = report.heard
    counted = {
        "sentences": len(heard),
        "values": sum(len(one.items) + len(one.misread) for one in heard),
        "lost_at_first": sum(len(one.lost_at_first) for one in heard),
        "heard_by_second_ear_only": sum(len(one.by_second) for one in heard),
        "lost": sum(len(one.lost) + len(one.misread) for one in heard),
    }
    return {
        **counted,
        "respelled": [_row(one) for one in heard if one.instead],
        "second_ear_on_respelled": {
            "values": report.respelled_items,
            "before": report.second_before,
            "after": report.second_after,
        },
        "for_a_person": [_row(one) for one in heard if one.is_for_a_person],
        "note": note,
    }


def _row(heard: Heard) -> dict[str, Any]:
    return {
        "text": heard.text,
        "lost_at_first": _texts(heard.lost_at_first),
        "lost": _texts(heard.lost),
        "misread": _texts(heard.misread),
        "said": _said(heard.instead or heard.said),
        "slowness": max(phrase.slowness for phrase in heard.instead or heard.said),
        "heard": heard.heard,
    }


def _texts(items: Sequence[Item]) -> list[str]:
    return [item.text for item in items]


def _said(phrases: Sequence[Phrase]) -> str:
    return " ".join(phrase.words for phrase in phrases)


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    for row in figures["respelled"][:_SHOWN]:
        yield f"said otherwise: {', '.join(row['lost_at_first'])}"
        slower = f" ({row['slowness']:g} times as slow)" if row["slowness"] > 1 else ""
        yield f"      {row['said']}{slower}"
    if len(figures["respelled"]) > _SHOWN:
        yield f"  … and {len(figures['respelled']) - _SHOWN} more (--json)"
    for row in figures["for_a_person"]:
        if row["misread"]:
            yield f"read aloud as something else: {', '.join(row['misread'])}"
            yield f"      {row['text']}"
            yield f"      read: {row['said']}"
        if row["lost"]:
            yield f"not understood: {', '.join(row['lost'])}"
            yield f"      {row['text']}"
            yield f"      heard: {row['heard']}"
    if figures["note"]:
        yield figures["note"]
    yield (
        f"{figures['values']} values and names in {figures['sentences']} sentences: "
        f"{figures['lost_at_first']} not understood at first, "
        f"{len(figures['respelled'])} sentences said otherwise, "
        f"{figures['heard_by_second_ear_only']} understood by the second ear only, "
        f"{figures['lost']} for a person"
    )
