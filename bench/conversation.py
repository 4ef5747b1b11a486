"""``make call``: a phone conversation through the whole stack, printed with its evidence.

Two recorded callers speak to a server of its own over the Twilio media protocol. A stereo
recording and a one-page report are written to ``out/``.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from agent.cli import quiet_logs
from agent.records import read_record
from agent.report import Turn, build_report, turns_of, write_report
from agent.settings import load_settings
from bench.process import serving
from bench.recordings import ROOT, turn
from rag.documents import load as load_documents
from telephony.caller import CallerTurn, CallResult, TurnResult, place_call, write_recording

OUT = ROOT / "out"
# (question, voice, what it shows); two people share one line.
SCRIPT = (
    ("q001", "gongitsune", "answered"),
    ("q002", "gongitsune", "followed up"),
    ("q008", "gongitsune", "answered"),
    ("q012", "gongitsune", "refused"),
    ("q006", "joe", "answered"),
    ("q009", "gongitsune", "interrupts"),
    ("q141", "gongitsune", "near miss"),
    ("q005", "joe", "answered"),
    ("q207", "gongitsune", "repeats"),
    ("q215", "gongitsune", "goodbye"),
)


def conversation() -> list[CallerTurn]:
    """The callers' turns."""
    return [
        turn(question, voice, interrupts=shows == "interrupts") for question, voice, shows in SCRIPT
    ]


def hold(url: str) -> CallResult:
    """Place the call."""
    return asyncio.run(place_call(url, conversation(), linger_ms=3000))


def joined(result: CallResult, turns: Sequence[Turn]) -> list[Turn]:
    """The record's turns under the caller's words and with the caller's timings.

    A pause can split one thing the caller said into two turns: a record's turn belongs to the
    latest one that the caller had begun by then, and the last of them answered it.
    """
    owners: list[TurnResult | None] = []
    for turn_ in turns:
        at_s = float(turn_.verdict["t_ms"]) / 1000
        begun = [t for t in result.turns if t.start_s is not None and t.start_s <= at_s]
        owners.append(begun[-1] if begun else None)
    named: list[Turn] = []
    for turn_, owner, after in zip(turns, owners, [*owners[1:], None], strict=True):
        if owner is not None:
            latency_ms = None if owner is after else owner.latency_ms
            turn_ = replace(turn_, label=owner.label, latency_ms=latency_ms)
        named.append(turn_)
    return named


def print_conversation(turns: Sequence[Turn], result: CallResult) -> None:
    """The conversation as two people would remember it, with the evidence."""
    for number, turn_ in enumerate(turns, 1):
        verdict = turn_.verdict
        took = "" if turn_.latency_ms is None else f"{turn_.latency_ms:.0f} ms"
        cited = " ".join(f"[{name}]" for name in verdict["citations"])
        print(f"{number:2}. caller  {turn_.label}")
        if verdict["heard"].lower() != turn_.label.lower():
            print(f"    heard   {verdict['heard']}")
        if verdict["query"]["context"] and verdict["decision"] != "conversation":
            print(f"    asked   {verdict['query']['text']}")
        print(f"    agent   {verdict['say']}")
        score = "" if verdict["score"] is None else f"{verdict['score']:.3f} vs "
        floor = "" if verdict["floor"] is None else f"{verdict['floor']:.3f}"
        print(f"            {verdict['decision']} {cited} {score}{floor}  {took}".rstrip())
        if turn_.interrupted_after_ms is not None:
            print(f"            the caller cut in after {turn_.interrupted_after_ms:.0f} ms")
    seconds = len(result.recording) / 8000
    level = 20 * np.log10(max(1.0, float(np.abs(result.recording[:, 1]).max())) / 32768)
    print(f"{seconds:.1f} s, ended by the {result.ended_by}; agent's peak {level:.1f} dBFS")


def main() -> int:
    """Hold the conversation; 0 when every turn that expects an answer got one."""
    quiet_logs()
    OUT.mkdir(exist_ok=True)
    print("loading the models (the first time also rendering speech, about 30 s) …", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        with serving(
            ("agent.cli", "serve", "--port", "0"), {"FRONTDESK_RECORDS__FOLDER": folder}
        ) as server:
            print(f"on the phone with {server.url} (about a minute, in real time) …", flush=True)
            result = hold(server.url)
        (source,) = Path(folder).glob("*.jsonl")
        record = OUT / "call.jsonl"
        record.write_bytes(source.read_bytes())
    turns = joined(result, turns_of(read_record(record)))
    print_conversation(turns, result)
    passages = {p.id: p.text for p in load_documents(load_settings().kb).passages}
    write_recording(OUT / "call.wav", result.recording)
    page = build_report(turns, passages, title="Frontdesk: one call", recording="call.wav")
    write_report(OUT / "call.html", page)
    for name in ("call.html", "call.wav", "call.jsonl"):
        print(f"  {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}/{name}")
    if result.error or result.unanswered:
        print(f"unanswered: {', '.join(result.unanswered) or 'none'}; error: {result.error}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
