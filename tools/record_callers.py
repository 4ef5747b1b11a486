"""Record a knowledge base's questions as telephone callers, and let our recogniser hear them.

Reads KB/questions.jsonl (texts and gold labels are written by hand there). Writes one FLAC file
per clip to AUDIO/VOICE/QUESTION.flac (8 kHz, what µ-law left of it; encoding it to µ-law again
gives the same bytes), AUDIO/index.jsonl, and the fields ``audio`` and ``asr`` of questions.jsonl.
``asr`` is what was heard in the question's first clip that is not of the held-out voice.

The clinic's clips are tests/audio; those of another knowledge base go to out/audio-NAME, which is
not kept, so its ``audio`` rows name no file.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from caller_voices import KOKORO_INSTALL, VOICES, Voice, engine_for, held_out_voice
from num2words import num2words
from telephone_band import (
    NOISES,
    RATE_HZ,
    Float32,
    add_noise,
    level_to,
    narrow,
    through_mu_law,
)
from tqdm import tqdm

from frontdesk import FrontdeskError

ROOT = Path(__file__).resolve().parent.parent
CLINIC = ROOT / "kb" / "clinic"
CLINIC_AUDIO = ROOT / "tests" / "audio"

SEED = 20
SPOKEN_BY_ALL = 12
HELD_OUT_SHARE = 0.36
NOISY_SHARE = 0.35
SNRS_DB = (15, 20, 25, 30)
LEVELS_DBFS = (-20, -23, -26, -30)

_BABBLE_LINES = (
    "My sister moved to a smaller house last summer, and the garden is full of tomatoes.",
    "They said the train was late again, so we walked along the river and talked.",
    "The children wanted to play another game before dinner, and nobody could stop them.",
    "I think the red coat is nicer than the blue coat, but the blue coat is warmer.",
)

Row = dict[str, Any]


def plan(rows: Sequence[Row], seed: int = SEED) -> list[Row]:
    """Which voice says which question, and how: one index row per clip, without ``seconds``.

    The first twelve questions are said by every voice. Each other dialogue (a question and the
    follow-ups that refer to it) gets two voices; in about a third of each kind one is the held-out
    voice. Those with the fewest clips so far come first.
    """
    rng = np.random.default_rng(seed)
    tuned = [v.name for v in VOICES if v.name != held_out_voice]
    cast: dict[str, list[str]] = {row["id"]: [*tuned, held_out_voice] for row in rows[:12]}
    used: Counter[str] = Counter()
    total: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for dialogue in _dialogues(rows):
        size, kind = len(dialogue), dialogue[-1]["kind"]
        total[kind] += size
        order = sorted(tuned, key=lambda name: (used[name], rng.random()))
        pair = order[:2]
        if held[kind] + size / 2 <= total[kind] * HELD_OUT_SHARE:
            pair = [order[0], held_out_voice]
            held[kind] += size
        for name in pair:
            used[name] += size
        for row in dialogue:
            cast[row["id"]] = pair
    by_name = {v.name: v for v in VOICES}
    return [_clip(row["id"], by_name[name], rng) for row in rows for name in cast[row["id"]]]


def plan_all(rows: Sequence[Row], names: Sequence[str], seed: int = SEED) -> list[Row]:
    """Every question said by each of the voices ``names``: an index like that of ``plan``."""
    rng = np.random.default_rng(seed)
    voices = [voice for voice in VOICES if voice.name in names]
    return [_clip(row["id"], voice, rng) for row in rows for voice in voices]


def _dialogues(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows after the first twelve, each follow-up with the question it refers to."""
    first = {row["text"] for row in rows[:SPOKEN_BY_ALL]}
    home: dict[str, str] = {}
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows[SPOKEN_BY_ALL:]:
        context = row["context"]
        root = row["text"] if context is None or context in first else home[context]
        home[row["text"]] = root
        groups[root].append(row)
    return list(groups.values())


def _clip(question: str, voice: Voice, rng: np.random.Generator) -> Row:
    noisy = bool(rng.random() < NOISY_SHARE)
    noise, snr_db = str(rng.choice(NOISES)), int(rng.choice(SNRS_DB))
    return {
        "file": f"{voice.name}/{question}.flac",
        "question": question,
        "voice": voice.name,
        "engine": voice.engine,
        "speed": float(rng.choice(voice.speeds)),
        "noise": noise if noisy else None,
        "snr_db": snr_db if noisy else None,
        "level_dbfs": int(rng.choice(LEVELS_DBFS)),
    }


def record(rows: Sequence[Row], clips: Sequence[Row], audio: Path, seed: int = SEED) -> None:
    """Synthesise every planned clip; write files and index, and ``seconds`` into ``clips``."""
    texts = {row["id"]: row["text"] for row in rows}
    used = {clip["voice"] for clip in clips}
    engines = {voice.name: engine_for(voice, seed) for voice in VOICES if voice.name in used}
    babble = _babble(seed)
    for name in engines:
        shutil.rmtree(audio / name, ignore_errors=True)
        (audio / name).mkdir(parents=True)
    rng = np.random.default_rng(seed + 1)
    for clip in tqdm(clips, desc="recording", unit="clip", disable=not sys.stderr.isatty()):
        speech, rate_hz = engines[clip["voice"]](texts[clip["question"]], clip["speed"])
        line = level_to(narrow(speech, rate_hz), clip["level_dbfs"])
        if clip["noise"]:
            line = add_noise(line, clip["noise"], clip["snr_db"], rng, babble)
        line = through_mu_law(line)
        clip["seconds"] = round(line.size / RATE_HZ, 3)
        soundfile.write(audio / clip["file"], line, RATE_HZ, subtype="PCM_16")
    _write(audio / "index.jsonl", clips)


def _babble(seed: int) -> Float32:
    """Four flite voices talking at once, 20 s, about neither clinics nor opening times."""
    voices = [v for v in VOICES if v.engine == "flite"]
    tracks = []
    for offset, voice in enumerate(voices):
        speak = engine_for(voice, seed)
        parts = []
        for n in range(len(_BABBLE_LINES)):
            line = _BABBLE_LINES[(n + offset) % len(_BABBLE_LINES)]
            parts.append(level_to(narrow(*speak(line, 1.0)), -26))
        tracks.append(np.resize(np.concatenate(parts), 20 * RATE_HZ))
    return np.sum(tracks, axis=0).astype(np.float32)


def hear(rows: Sequence[Row], clips: Sequence[Row], kb: Path, audio: Path) -> None:
    """Fill ``audio`` and ``asr`` of ``rows`` with what our recogniser makes of the stored clips.

    As in a call it leans towards the words of the documents in ``kb``.
    """
    from rag import documents
    from rag.vocabulary import vocabulary
    from speech.audio import resample
    from speech.moonshine import Moonshine
    from speech.recogniser import SAMPLE_RATE_HZ

    recogniser = Moonshine(vocabulary(documents.load(kb)))
    kept_keys = ("file", "voice", "noise") if audio == CLINIC_AUDIO else ("voice", "noise")
    heard: defaultdict[str, list[Row]] = defaultdict(list)
    for clip in tqdm(clips, desc="hearing", unit="clip", disable=not sys.stderr.isatty()):
        samples, rate_hz = soundfile.read(audio / clip["file"], dtype="float32")
        text = recogniser.transcribe(resample(samples, rate_hz, SAMPLE_RATE_HZ)).text
        kept = {key: clip[key] for key in kept_keys}
        if clip["voice"] == held_out_voice:
            kept["held_out"] = True
        heard[clip["question"]].append({**kept, "asr": text})
    for row in rows:
        row["audio"] = heard[row["id"]]
        row["asr"] = next(a["asr"] for a in row["audio"] if a["voice"] != held_out_voice)


def words_of(text: str) -> list[str]:
    """Lower-case words with digits spelt out, so that 24 and twenty-four are the same."""
    text = re.sub(r"\d+", lambda m: f" {num2words(int(m.group()))} ", text.lower())
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text)


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Substitutions, insertions and deletions between two word lists (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            keep = previous + (word != other)
            previous, row[j] = row[j], min(keep, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def report(rows: Sequence[Row], clips: Sequence[Row]) -> str:
    """Word error rate by voice and by noise, and how many clips were heard without any error."""
    clip_of = {(clip["question"], clip["voice"]): clip for clip in clips}
    counts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        said = words_of(row["text"])
        for audio in row["audio"]:
            pair = (word_errors(said, words_of(audio["asr"])), len(said))
            clip = clip_of[row["id"], audio["voice"]]
            noise = f"noise {clip['noise']} {clip['snr_db']} dB" if clip["noise"] else "noise none"
            counts[f"voice {clip['voice']}"].append(pair)
            counts[noise].append(pair)
    lines = [f"{'':24}{'clips':>6}{'WER %':>8}{'exact':>7}"]
    for name, pairs in sorted(counts.items()):
        wer = 100 * sum(e for e, _ in pairs) / sum(n for _, n in pairs)
        mark = "  held out" if name == f"voice {held_out_voice}" else ""
        exact = sum(e == 0 for e, _ in pairs)
        lines.append(f"{name:24}{len(pairs):6}{wer:8.1f}{exact:7}{mark}")
    return "\n".join(lines)


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Sequence[Row]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def _voices(text: str) -> list[str]:
    """The names in ``text``, each the name of a voice, one of them not held out."""
    names, known = text.split(","), [voice.name for voice in VOICES]
    if unknown := set(names) - set(known):
        raise argparse.ArgumentTypeError(
            f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}"
        )
    if set(names) <= {held_out_voice}:
        raise argparse.ArgumentTypeError(f"name one besides {held_out_voice}, which is held out")
    return names


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 done, 2 if a program, a package or a model file is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Needs flite and espeak-ng (apt-get install them), the voice extra, and\n"
        f"{KOKORO_INSTALL}\n--asr-only and --report need none of these.",
    )
    parser.add_argument(
        "--kb", type=Path, default=CLINIC, metavar="DIR", help="the knowledge base (kb/clinic)"
    )
    parser.add_argument(
        "--voices",
        type=_voices,
        metavar="NAME,…",
        help="each says every question; by default two voices or more share them",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--asr-only", action="store_true", help="only hear the stored clips again")
    what.add_argument(
        "--report", action="store_true", help="only print word errors; change nothing"
    )
    args = parser.parse_args(argv)
    kb = args.kb.resolve()
    audio = CLINIC_AUDIO if kb == CLINIC else ROOT / "out" / f"audio-{kb.name}"
    questions = kb / "questions.jsonl"
    try:
        rows = _read(questions)
        if args.asr_only or args.report:
            clips = _read(audio / "index.jsonl")
        else:
            clips = plan_all(rows, args.voices) if args.voices else plan(rows)
            record(rows, clips, audio)
        if not args.report:
            hear(rows, clips, kb, audio)
            _write(questions, rows)
    except FrontdeskError as error:
        print(error, file=sys.stderr)
        return 2
    print(report(rows, clips))
    return 0


if __name__ == "__main__":
    sys.exit(main())
