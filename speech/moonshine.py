"""English recogniser: Moonshine tiny-en straight on onnxruntime, beam search, one thread.

Method and constants: Jeffries et al., "Moonshine: Speech Recognition for Live Transcription and
Voice Commands" (arXiv 2410.15608); the model files are those of ``moonshine-voice`` 0.1.0. The
library's own segmenter adds stray words to telephone speech, so the VAD of the call segments.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

import numpy as np

from frontdesk.models import verified
from speech import ending, sessions
from speech.audio import Float32, levels
from speech.beam import WIDTH, Hypothesis, search
from speech.bias import Vocabulary
from speech.expected import ANSWERS, BESIDE, MARKS
from speech.grammar import Grammar, is_answer, search_only
from speech.moonshine_decoder import Decoding, Models
from speech.recogniser import MAX_GAIN, SAMPLE_RATE_HZ, TARGET_RMS, is_audible, last_part
from speech.types import Hint, Utterance

_START, _END = 1, 2
# Moonshine's own limit: English is never denser than 6.5 tokens a second.
_TOKENS_PER_SECOND = 6.5
# What Moonshine makes of hiss, clicks, tones and hum (all tried): never a caller's whole turn.
_ARTEFACTS = frozenset({"you"})
_OFFSET = 0.01
_TAIL_S = 0.3
_TAIL = round(SAMPLE_RATE_HZ * _TAIL_S)


class Moonshine:
    """Speech to text for one piece of audio at a time; safe to call from several threads.

    On real 8 kHz telephone prompts, one thread, no words listed. Greedy, 290 of them: word error
    rate 6.4 % (6.5 played 20 dB lower, 6.2 played 30 dB lower). On every other one: 6.7 % with a
    beam of one, 6.2 % with the beam of four. 512 clips of 2.5 s: 73 ms of work (median; 60 with a
    beam of one), of which the encoder takes 21.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        """Open the shared sessions; ``words`` are those that decoding leans towards.

        Raises:
            frontdesk.ModelFileError: if a model file is missing or altered.
        """
        self._models = Models()
        self._pieces = _read_pieces(verified("moonshine-tokenizer").read_bytes())
        self._vocabulary = Vocabulary(words, self._pieces)
        self._grammars = {
            hint: Grammar(words, self._pieces, beside=BESIDE[hint], marks=MARKS)
            for hint, words in ANSWERS.items()
        }

    def warm(self) -> None:
        """Run the model once, so that a call's first turn is as fast as its second."""
        hiss = np.random.default_rng(0).normal(0, 0.05, 3 * SAMPLE_RATE_HZ)
        self._search(Decoding(self._models, hiss.astype(np.float32)), hiss.size, Hint.NONE, WIDTH)

    def transcribe(
        self, audio: Float32, *, hint: Hint = Hint.NONE, width: int = WIDTH
    ) -> Utterance:
        """What was said in ``audio``: mono float32 at 16 kHz, of which the last 30 s are heard.

        After a ``hint`` the answer that was asked for is heard, unless what was said is clearly
        something else. ``width`` is the beam's; 1 is greedy, for a text that will not be kept.

        Samples that are not finite count as silence, and a line's offset does not count: with one
        of 6,000 (of 32,768) 26.5 % of the words of 60 questions were wrong, without it 22.2 %.
        Audio under 0.1 s or with no 20 ms window above -60 dBFS is ''.

        Raises:
            SpeechError: if the audio is not one-dimensional float32, or the model fails.
        """
        start = time.perf_counter()
        audio = _without_offset(last_part(audio))
        audio_ms = audio.size * 1000 / SAMPLE_RATE_HZ
        text, confidence, end = "", -math.inf, 0.5
        loudest, speech = levels(audio, SAMPLE_RATE_HZ)
        if is_audible(audio_ms, loudest):
            with sessions.failing("recogniser failed"):
                conditioned = _condition(audio, speech)
                decoding = Decoding(self._models, conditioned)
                found = self._search(decoding, conditioned.size, hint, width)
                end = ending.finished(decoding.states, conditioned.size / SAMPLE_RATE_HZ, _TAIL_S)
                tokens = without_loop(list(found.tokens))
                text = self._text(tokens)
            if text:
                confidence = float(np.mean(found.log_probabilities[: len(tokens)]))
        decode_ms = (time.perf_counter() - start) * 1000
        return Utterance(text, audio_ms, decode_ms, confidence, finished=end)

    def _search(self, decoding: Decoding, samples: int, hint: Hint, width: int) -> Hypothesis:
        limit = int(samples / SAMPLE_RATE_HZ * _TOKENS_PER_SECOND) + 4
        free = search(
            decoding.step, self._vocabulary, start=_START, end=_END, limit=limit, width=width
        )
        if hint is Hint.NONE:
            return free
        decoding.restart()
        grammar = self._grammars[hint]
        answer = search_only(
            decoding.step, grammar, start=_START, end=_END, limit=limit, width=width
        )
        if answer is None:
            return free
        margin = answer.log_probability - free.log_probability
        given = is_answer(self._text(answer.tokens), margin, self._text(free.tokens))
        return answer if given else free

    def _text(self, tokens: Sequence[int]) -> str:
        raw = b"".join(self._pieces[token] for token in tokens)
        return tidy(raw.decode("utf-8", "replace").replace("▁", " "))


def without_loop(tokens: list[int]) -> list[int]:
    """``tokens`` with a runaway repetition cut back to its first occurrence.

    A loop is a run of up to eight tokens said at least four times in a row (five for one or two
    tokens, so that a caller's "no no no no" stays). Decoding falls into one on noise.
    """
    for size in range(1, 9):
        times = 5 if size <= 2 else 4
        for start in range(len(tokens) - size * times + 1):
            run = tokens[start : start + size]
            if tokens[start : start + size * times] == run * times:
                return tokens[: start + size]
    return tokens


def tidy(text: str) -> str:
    """Recognised text without the marks that stand for no word, white space folded.

    '' for text without a letter or digit, and for the lone "You" that noise is heard as.
    """
    kept = "".join(c for c in text if c.isprintable() and c not in "\ufffd<>[]{}|♪*_")
    words = "".join(c if c.isalnum() else " " for c in kept).split()
    if not words or " ".join(words).lower() in _ARTEFACTS:
        return ""
    return " ".join(kept.split())


def _without_offset(audio: Float32) -> Float32:
    """``audio`` less its mean, where that is over a hundredth of its energy; else as it is."""
    offset = audio.mean(dtype=np.float64) if audio.size else 0.0
    if offset**2 <= _OFFSET * np.square(audio, dtype=np.float64).sum() / max(1, audio.size):
        return audio
    return audio - np.float32(offset)


def _condition(audio: Float32, speech_rms: float) -> Float32:
    """``audio`` brought to the level, and given the end, that the model hears best.

    Word error rate on real 8 kHz µ-law prompts cut as the VAD cuts them (0.3 s before, 0.1 s
    after): as they are 7.9 %, with 0.3 s of zeros appended 6.6 % (0.1 s: 7.3, 0.5 s: 6.7, zeros
    in front as well: 6.7). On the other half of the prompts played 20 dB lower: 7.6 % as they
    are, 7.1 % with the speech brought back to -20 dBFS; at full level that changes nothing (6.6
    and 6.5). 145 prompts each.
    """
    gain = min(TARGET_RMS / speech_rms, MAX_GAIN)
    return np.concatenate((audio * np.float32(gain), np.zeros(_TAIL, np.float32)))


def _read_pieces(data: bytes) -> list[bytes]:
    """The vocabulary: each piece behind its length, which takes two bytes from 128 upward."""
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 128:
            length += data[at] * 128 - 128
            at += 1
        pieces.append(data[at : at + length])
        at += length
    return pieces
