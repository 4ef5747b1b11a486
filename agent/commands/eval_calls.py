"""Simulated callers over the real wire, scored against what would have been right.

  frontdesk eval calls                          # 20 random callers, four at a time
  frontdesk eval calls --calls 100 --at-once 8  # more of them; the same ones for the same --seed
  frontdesk eval calls --script callers.toml    # what you wrote: kb/clinic-callers.toml shows how
  frontdesk eval calls --seed 1 --only 17       # one of them again
  frontdesk eval calls --report out/callers     # a page, with each failed call's record and sound
  frontdesk eval calls --wire sip               # over SIP; any wire that frontdesk call speaks
  frontdesk eval calls --to http://HOST:PORT --records DIR   # an agent that is running already
  frontdesk eval calls --to http://HOST:PORT    # one whose records are out of reach: by ear
  frontdesk eval calls --min-right 90           # exit 1 below 90 % of turns right
Callers differ in voice, accent, noise and line; they interrupt, change their mind, press keys, are
silent, ask for a person, say goodbye or drop the line. The table says what hurts. Without --to an
agent is started for them with your settings; its records are thrown away. Calls take real time:
about 30 s each, divided by --at-once.
A script is a list of calls, each a list of turns:

  [[call]]
  name = "Saturday, then Sunday"
  voice = "awb"                                # default: piper
  noise = { kind = "babble", snr_db = 10 }
  [[call.turn]]
  says = "What time do you guys open on Saturday?"
  expect = "answer"                            # or refuse, talk, person, goodbye, prompt, …
  facts = ["9 a.m."]
  [[call.turn]]
  asks = "q002"                                # a row of questions.jsonl, facts and all
  cuts_in = true                               # over the reply
Every key is in docs/simulated-callers.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli import quiet_logs
from agent.progress import stages
from agent.settings import load_settings
from frontdesk import ConfigError
from telephony.caller import wire_of, write_recording
from telephony.far_ends import FAR_ENDS

if TYPE_CHECKING:
    from bench.simulated.outcomes import CallOutcome

_MOST_AT_ONCE = 64
_MOST_CALLS = 60_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``eval calls``."""
    parser.description = __doc__
    which = parser.add_argument_group("which callers")
    which.add_argument(
        "--calls", type=int, default=20, metavar="N", help="random ones (default: 20)"
    )
    which.add_argument("--seed", type=int, default=1, metavar="S", help="of those: 1")
    which.add_argument("--script", type=Path, metavar="FILE", help="written ones, in their place")
    which.add_argument("--only", type=int, metavar="N", help="number N of them alone")
    where = parser.add_argument_group("how they call")
    where.add_argument("--at-once", type=int, default=4, metavar="N", help="callers: 4")
    where.add_argument("--wire", choices=sorted(FAR_ENDS), help="protocol (default: twilio)")
    where.add_argument("--to", metavar="URL", help="a running agent: http://…, sip:…, tcp://…")
    where.add_argument("--records", type=Path, metavar="DIR", help="of it; without: by ear")
    out = parser.add_argument_group("what comes of it")
    out.add_argument("--failed", type=int, default=10, metavar="N", help="to print: 10")
    out.add_argument("--report", type=Path, metavar="DIR", help="a page and the failed calls")
    out.add_argument("--by-ear", action="store_true", help="also listen to what is said")
    out.add_argument("--min-right", type=float, metavar="%", help="fewer turns right: exit 1")
    out.add_argument("--save", action="store_true", help="write bench/results/simulated.json")


def run(args: argparse.Namespace) -> int:
    """0; 1 where fewer turns than ``--min-right`` were right; 2 where no caller got through."""
    from bench.simulated.figures import figures
    from bench.simulated.run import Wanted, agent_for, evaluate, planned
    from bench.simulated.table import lines

    _check(args)
    quiet_logs()
    settings = load_settings(kb=args.kb)
    wire = args.wire or wire_of(args.to or "") or "twilio"
    wanted = Wanted(args.calls, args.seed, args.script, args.only, _again(args))
    calls, cast = planned(settings, wanted)
    with (
        stages() as progress,
        agent_for(settings, wire, args.at_once, args.to, args.records) as agent,
    ):
        outcomes = evaluate(
            calls,
            cast,
            agent,
            settings.kb,
            wire=wire,
            at_once=args.at_once,
            by_ear=args.by_ear,
            progress=progress,
        )
    found = {"wire": wire, "at_once": args.at_once, **_which(args), **figures(outcomes, cast)}
    if args.report:
        _report(args.report, found, outcomes)
    if args.save:
        _save(found, settings.kb)
    print(json.dumps(found, indent=2) if args.json else "\n".join(lines(found, args.failed)))
    if all(one.problem and one.problem == one.held.result.error for one in outcomes):
        print(f"no call was held to its end: {outcomes[0].problem}", file=sys.stderr)
        return 2
    right = found["right"]["rate"]
    return int(args.min_right is not None and (right is None or right * 100 < args.min_right))


def _check(args: argparse.Namespace) -> None:
    if not 1 <= args.calls <= _MOST_CALLS or not 1 <= args.at_once <= _MOST_AT_ONCE:
        raise ConfigError(f"--calls takes 1 to {_MOST_CALLS}, --at-once 1 to {_MOST_AT_ONCE}")
    if args.only is not None and not 1 <= args.only <= _MOST_CALLS:
        raise ConfigError(f"--only takes a call's number, from 1 to {_MOST_CALLS}")
    if args.min_right is not None and not 0 <= args.min_right <= 100:
        raise ConfigError("--min-right takes 0 to 100 (percent of the turns)")
    if args.failed < 0:
        raise ConfigError("--failed takes a number from 0 up")
    if args.records and not args.to:
        raise ConfigError("--records is of an agent at --to; one that is started here has its own")


def _which(args: argparse.Namespace) -> dict[str, Any]:
    return {"script": args.script.name} if args.script else {"seed": args.seed}


def _again(args: argparse.Namespace) -> str:
    """What a call that failed needs beside its number to be held again."""
    parts = [f"--kb {args.kb}" if args.kb else "", f"--wire {args.wire}" if args.wire else ""]
    return "".join(f" {part}" for part in parts if part)


def _save(found: Mapping[str, Any], kb: Path) -> None:
    """Without the failed calls' texts: those are for the report."""
    from agent.commands.eval import result_name
    from bench.results import write_result

    kept = {name: value for name, value in found.items() if name != "failed"}
    if kept["by_ear"]:
        kept["by_ear"] = {n: v for n, v in kept["by_ear"].items() if n != "differing"}
    write_result(result_name("simulated", kb), {**kept, "failed": len(found["failed"])})


def _report(folder: Path, found: Mapping[str, Any], outcomes: Sequence[CallOutcome]) -> None:
    """The page, the figures, and of each failed call its record and its sound.

    Raises:
        ConfigError: if the folder cannot be written.
    """
    from bench.simulated.page import page

    try:
        folder.mkdir(parents=True, exist_ok=True)
        kept = {one.call.name: _keep(folder, one) for one in outcomes if one.failed}
        (folder / "figures.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        (folder / "index.html").write_text(page("Simulated callers", found, kept), "utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write {folder} ({error.strerror}); name another folder with --report"
        ) from error


def _keep(folder: Path, outcome: CallOutcome) -> list[str]:
    """The names of what was written of a call; its record is what ``frontdesk replay`` takes."""
    stem = f"call-{outcome.call.number:04d}"
    write_recording(folder / f"{stem}.wav", outcome.held.result.recording)
    names = [f"{stem}.wav"]
    if outcome.held.events is not None:
        text = "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in outcome.held.events)
        (folder / f"{stem}.jsonl").write_text(text, "utf-8")
        names.append(f"{stem}.jsonl")
    return names
