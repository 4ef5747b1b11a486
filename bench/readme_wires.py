"""The README's figures of wires: SIP, whoever is called back, the microphone's echo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.figures import load, measured_on, table


def wires() -> str:
    """What was measured on real SIP peers, on made callees and in made rooms."""
    sip, callees, echo = load("sip"), load("answering_machine"), load("echo")
    answer, snr, many = sip["answer"], sip["snr"], sip["many"]
    moved = max(many["agent_hears_moved_max_ms"], many["caller_hears_moved_max_ms"])
    worst = min(many["caller_hears_min_db"], many["agent_hears_min_db"])
    held = callees["held out"]
    people, voicemails = held["people"], held["voicemails"]
    alone = held["by_lengths_alone"]["people_taken_for_machines"]
    rows = [
        [
            "SIP: answered after INVITE, p50, p95",
            f"{answer['p50_ms']:.0f}, {answer['p95_ms']:.0f} ms",
        ],
        [
            "SIP: audio to the agent, to the caller",
            f"{snr['agent_hears_db']}, {snr['caller_hears_db']} dB (µ-law can carry 37)",
        ],
        [
            f"SIP: {many['calls']} calls at once for {many['seconds'] / 60:.0f} minutes, "
            "the worst of each",
            f"{many['held_to_the_end']} held to the end, {worst} dB, moved {moved:.0f} ms, "
            f"{many['late_percent']} % of frames late",
        ],
        [
            "called back: people taken for a machine",
            f"{people['taken_for_machine']} of {people['n']} ({alone} by lengths alone)",
        ],
        [
            "called back: voicemails that got the message, begun before the beep",
            f"{voicemails['message_left']} of {voicemails['n']}, "
            f"{voicemails['begun_before_the_beep']}",
        ],
        [
            "called back: voicemails greeted as people first",
            f"{voicemails['greeted_first']} of {voicemails['n']}",
        ],
        _microphone(echo),
    ]
    measured = (
        f"`python -m bench.sip` on {measured_on(sip)}; `python -m bench.answering_machine`, made "
        f"voices that nothing was developed on, on {measured_on(callees)}; `python -m bench.echo`, "
        f"{echo['callers']} recorded callers, on {measured_on(echo)}."
    )
    return "\n".join([table(["", ""], rows), "", measured])


def _microphone(echo: Mapping[str, Any]) -> list[str]:
    (room,) = (r for r in echo["rooms"] if (r["gain_db"], r["delay_ms"]) == (-10, 200))
    return [
        "microphone: word errors over the agent's own voice, 10 dB down and 200 ms late; "
        "taken out; no echo at all",
        f"{room['over_without']:.0f}, {room['over_with']:.0f}, {echo['no_echo']:.0f} %",
    ]


BLOCKS = {"wires": wires}
