"""Made answers to a call: what people, voicemails, menus and dead lines say first.

Texts are ours, in two halves: thresholds and words were chosen on the first, the second is
reported. Voices are flite's where it is installed, eSpeak NG's and Piper's; the second half has
voices of its own. ``recorded`` puts real prompts of Asterisk's sound package together.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import soundfile

from frontdesk import Spoken
from speech.audio import Int16, resample, to_float32
from telephony.g711 import ulaw_decode, ulaw_encode

RATE_HZ = 8000
_AUDIBLE = 300
HALVES = ("developed on", "held out")
VOICES = {"developed on": ("rms", "piper", "espeak"), "held out": ("slt", "awb", "kal16", "piper")}

Part = str | float  # words, or ms of silence
PEOPLE: tuple[tuple[Part, ...], ...] = (
    ("Hello?",),
    ("Hi, this is Karen.",),
    ("Yes?",),
    ("Hello, this is Peter Brown.",),
    ("Good morning, Riverside Dental, how can I help you?",),
    ("Hello, hello.",),
    ("Hey.", 400.0, "Who's this?"),
    ("Thanks for calling Baker's Hardware, this is Tom, what can I do for you?",),
    ("Hello?", 700.0, "Hello?"),
    ("Dave speaking.",),
    ("Good afternoon, law office of Smith and Jones.",),
    ("Hi, you've reached the front desk, this is Amy, how may I direct your call?",),
    ("Yeah, hello?",),
    ("Miller residence.",),
    ("Hello.", 300.0, "Sorry, one second.", 600.0, "Okay, yes, hello?"),
    ("Good evening, Luigi's Pizza, pick up or delivery?",),
    ("Speaking.",),
    ("This is Doctor Patel.",),
    ("Hi there, can I ask who's calling please?",),
    ("Hello, she's not here right now, can I take a message?",),
    ("Hello, yes, who am I speaking to?",),
    ("Hi, sorry, I was just about to call you.",),
    ("Oh hi, is this the clinic?",),
    ("Johnson and Sons, good morning, Linda here.",),
    ("Thank you for calling the Grand Hotel, this call may be recorded. How can I help?",),
    ("Hola? Hello?",),
    ("Hello, no, he's out of the office, would you like to leave a message with me?",),
    ("What?",),
    ("Yep, go ahead.",),
    ("Hello? I can't hear you very well.",),
)
_LEAVE = "Please leave a message after the tone."
MACHINES: tuple[tuple[Part, ...], ...] = (
    ("Hi, this is Karen.", 500.0, "I can't come to the phone right now.", 300.0, _LEAVE),
    ("You have reached the voicemail box of", 200.0, "Peter Brown.", 400.0, "At the tone, please"
     " record your message. When you have finished recording, you may hang up, or press one for"
     " more options."),
    ("Hello, you've reached the Millers. We're not home. Leave your name and number and we'll get"
     " back to you.",),
    ("Hey, it's Dave.", 700.0, "Leave a message.",),
    ("Your call has been forwarded to an automatic voice message system.", 300.0,
     "Five five five, zero one four two", 200.0, "is not available. At the tone, please record"
     " your message."),
    ("Thank you for calling Riverside Dental.", 600.0, "Our office is currently closed. Our hours"
     " are Monday to Friday, eight to five.", 500.0, "Leave your name and number after the beep."),
    ("The person you are trying to reach is not available. Please leave a message.",),
    ("Hi, sorry I missed you.", 350.0, "Leave me a message and I'll call you right back. Bye.",),
    ("This is Tom Baker of Baker's Hardware.", 450.0, "I'm either on the other line or away from"
     " my desk.", 300.0, "Leave a detailed message and I'll return your call. Thank you."),
    ("Hello?", 900.0, "Ha, got you, I'm not really here. You know what to do.",),
    ("Nobody is available to take your call. Please record your message after the beep.",),
    ("Hi, we can't get to the phone. Send me a text instead, or speak after the tone.",),
    ("The mobile customer you called cannot answer. Leave your message after the signal.",),
    ("You've reached five five five, zero one four two.", 600.0, _LEAVE),
    ("Hi, you've reached Doctor Patel.", 600.0, "If this is an emergency, hang up and call nine"
     " one one.", 500.0, "Otherwise leave a message and the nurse will call you back."),
    ("Hi, it's Mom and Dad.", 400.0, "We're out in the garden.", 500.0, "Talk after the beep.",),
    ("Law office of Smith and Jones.", 700.0, "We are unable to answer your call. Please leave"
     " your name, your number, and a brief message."),
    ("Yo, this is Mike.", 300.0, "Can't talk. Leave it at the beep.",),
    ("Good day. You're through to the answering machine of Linda Johnson.", 400.0, "I will ring"
     " you back as soon as I can."),
    ("I'm on holiday until the tenth.", 400.0, "For anything urgent write to the office.", 600.0,
     "Messages left here will be heard when I am back."),
    ("Hello, this is Amy.", 800.0, "I am away from the phone at the moment. Please leave your"
     " details and I'll get back to you."),
    ("Sorry, I can't take your call right now.", 300.0, "Please speak after the tone.",),
)  # fmt: skip
MENUS: tuple[tuple[Part, ...], ...] = (
    ("Thank you for calling Grand Hotel.", 400.0, "For reservations, press one. For the"
     " restaurant, press two."),
    ("Welcome to City Bank. Your call may be monitored.", 300.0, "Please listen carefully, as our"
     " menu options have changed."),
    ("All of our agents are busy. Please stay on the line and your call will be answered in the"
     " order it was received.",),
    ("Thanks for calling. If you know your party's extension, dial it at any time.",),
)  # fmt: skip
DEAD: tuple[tuple[Part, ...], ...] = (
    ("The mailbox is full and cannot accept any messages at this time. Goodbye.",),
    ("The number you have dialed is not in service. Please check the number and dial again.",),
    ("We're sorry, your call cannot be completed as dialed.",),
    ("The person you are calling has a voice mailbox that has not been set up yet. Goodbye.",),
)  # fmt: skip
KINDS = {"person": PEOPLE, "voicemail": MACHINES, "menu": MENUS, "no line": DEAD}


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer: int16 at 8 kHz, with when its words end and its beep ends (None: none), in ms."""

    name: str
    kind: str
    half: str
    voice: str
    audio: Int16
    words_end_ms: float
    beep_end_ms: float | None


def made(half: str) -> Iterator[Answered]:
    """The answers of one half, each by each of its voices, the same at every run."""
    first = half == HALVES[0]
    for kind, texts in KINDS.items():
        for number, parts in enumerate(texts):
            if (number % 2 == 0) is not first:
                continue
            for voice in VOICES[half]:
                speak = _speaker(voice)
                if speak is not None:
                    seed = crc32(f"{kind} {number} {voice}".encode())
                    said = [speak(part) if isinstance(part, str) else part for part in parts]
                    yield _on_a_line(f"{kind}-{number}", kind, half, voice, said, seed)


def recorded(data: Path) -> Iterator[Answered]:
    """Real prompts, one professional speaker, put together as a voicemail does; held out."""
    names: dict[str, tuple[tuple[str | float, ...], ...]] = {
        "voicemail": (
            ("vm-theperson", 80.0, "digits_5", 60.0, "digits_0", 60.0, "digits_1", 80.0,
             "vm-isunavail", 300.0, "vm-intro"),
            ("vm-theperson", 80.0, "digits_4", 60.0, "digits_2", 80.0, "vm-isonphone", 300.0,
             "vm-intro"),
            ("vm-nobodyavail", 400.0, "vm-intro"),
            ("vm-intro",),
            ("followme_sorry", 400.0, "vm-intro"),
        ),
        "menu": (("basic-pbx-ivr-main",), ("queue-periodic-announce",), ("queue-youarenext",),
                 ("priv-callee-options",), ("dir-intro",)),
        "no line": (("vm-mailboxfull", 300.0, "vm-goodbye"), ("ss-noservice",),
                    ("cannot-complete-as-dialed",), ("privacy-unident",),
                    ("all-circuits-busy-now",)),
        "person": (("hello",),),
    }  # fmt: skip
    folder = data / "audio" / "asterisk_en"
    for kind, prompts in names.items():
        for number, parts in enumerate(prompts):
            said = [
                part if isinstance(part, float) else _prompt(folder / f"{part}.flac")
                for part in parts
            ]
            name = f"{kind}-recorded-{number}"
            yield _on_a_line(name, kind, HALVES[1], "recorded", said, crc32(name.encode()))


def tone(hz: float, ms: float, db: float) -> np.ndarray:
    """A beep with 5 ms at both ends to rise and fall; its amplitude is ``db`` of full scale."""
    t = np.arange(round(ms * RATE_HZ / 1000)) / RATE_HZ
    rise = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.005)
    return 10 ** (db / 20) * rise * np.sin(2 * np.pi * hz * t)


def on_line(signal: np.ndarray, noise_db: float, rng: np.random.Generator) -> Int16:
    """``signal`` (1.0 is full scale) over white noise, as it comes out of µ-law."""
    noisy = signal + rng.normal(0, 10 ** (noise_db / 20), signal.size)
    return ulaw_decode(ulaw_encode((noisy * 32767).clip(-32768, 32767).astype(np.int16)))


def _on_a_line(
    name: str, kind: str, half: str, voice: str, said: list[Int16 | float], seed: int
) -> Answered:
    rng = np.random.default_rng(seed)
    gain = 10 ** (rng.uniform(-12, 3) / 20)
    pieces: list[np.ndarray] = [np.zeros(round(rng.uniform(0.15, 1.2) * RATE_HZ))]
    for part in said:
        if isinstance(part, float):
            pieces.append(np.zeros(round(part * RATE_HZ / 1000)))
        else:
            pieces.append(to_float32(part).astype(np.float64) * gain)
    words_end = sum(piece.size for piece in pieces)
    beep_end = None
    if kind == "voicemail":
        pieces.append(np.zeros(round(rng.uniform(0.1, 1.5) * RATE_HZ)))
        pieces.append(tone(rng.uniform(400, 1900), rng.uniform(150, 1000), rng.uniform(-25, -8)))
        beep_end = sum(piece.size for piece in pieces)
    pieces.append(np.zeros(12 * RATE_HZ))
    audio = on_line(np.concatenate(pieces), rng.uniform(-66, -50), rng)
    return Answered(
        name, kind, half, voice, audio, words_end / 8, None if beep_end is None else beep_end / 8
    )


def _trimmed(audio: Int16) -> Int16:
    loud = np.flatnonzero(np.abs(audio.astype(np.int32)) > _AUDIBLE)
    return audio[loud[0] : loud[-1] + 1] if loud.size else audio


def _prompt(path: Path) -> Int16:
    audio, rate_hz = soundfile.read(path, dtype="int16")
    return _trimmed(resample(audio, rate_hz, RATE_HZ))


def _speaker(voice: str) -> Callable[[str], Int16] | None:
    """Speaks as ``voice``, kept between calls; None where its program is missing."""
    if voice not in _SPEAKERS:
        _SPEAKERS[voice] = _new_speaker(voice)
    return _SPEAKERS[voice]


_SPEAKERS: dict[str, Callable[[str], Int16] | None] = {}


def _new_speaker(voice: str) -> Callable[[str], Int16] | None:
    if voice == "piper":
        from speech.piper import Voice

        engine = Voice()
        return lambda text: _trimmed(engine.render(Spoken(text)))
    if voice == "espeak":
        from speech.espeak import EspeakVoice

        other = EspeakVoice()
        return lambda text: _trimmed(other.render(Spoken(text)))
    return _flite(voice) if shutil.which("flite") else None


def _flite(voice: str) -> Callable[[str], Int16]:
    def speak(text: str) -> Int16:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "said.wav"
            subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True)
            return _prompt(path)

    return speak


def has_recordings(data: Path) -> bool:
    """Whether the folder with the public data holds Asterisk's prompts."""
    return (data / "audio" / "asterisk_en").is_dir()


def speech_of(data: Path) -> Iterator[Int16]:
    """Every recording of the public data: speech with no beep in it."""
    rows = (json.loads(line) for line in (data / "audio.jsonl").read_text("utf-8").splitlines())
    for row in rows:
        audio, rate_hz = soundfile.read(data / row["path"], dtype="int16")
        yield resample(audio, rate_hz, RATE_HZ)


def music_of(folder: Path) -> Iterator[Int16]:
    """Every ``*.wav`` under ``folder``, such as Debian's asterisk-moh-opsound-wav."""
    for path in sorted(folder.rglob("*.wav")):
        audio, rate_hz = soundfile.read(path, dtype="int16")
        yield resample(audio, rate_hz, RATE_HZ)


def pairs() -> Iterator[tuple[float, float, float]]:
    """Pitch in Hz, length in ms and level in dB of the beeps that the detector is tried on."""
    return itertools.product(
        np.linspace(400, 2000, 33), (150, 200, 300, 500, 1000), (-10, -20, -30)
    )
