"""Moonshine's decoder for one piece of audio: encode once, then step beam by beam."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from frontdesk.models import verified
from speech import moonshine_graph as graph
from speech import sessions
from speech.audio import Float32
from speech.pool import checkpoint

_MOST_TOKENS = 256
_KEPT = [f"{n}.{part}" for n in range(graph.LAYERS) for part in ("key", "value")]
_OUTPUTS = ["logits", *(f"present.{name}" for name in _KEPT)]
_value = ort.OrtValue.ortvalue_from_numpy


class Models:
    """The shared sessions, and what every utterance begins with."""

    def __init__(self) -> None:
        """Open them; the first time in a process takes half a second.

        Raises:
            frontdesk.ModelFileError: if a model file is missing or altered.
        """
        encoder, decoder = verified("moonshine-encoder"), verified("moonshine-decoder")
        self.encoder, self.decoder, self.audio = sessions.built_sessions(
            ("moonshine-encoder", "moonshine-decoder", "moonshine-audio"),
            lambda: [graph.build_encoder(encoder), *graph.build(decoder)],
        )
        cos, sin = graph.positions(_MOST_TOKENS)
        self.positions = [
            {"cos": _value(cos[:, :, at : at + 1]), "sin": _value(sin[:, :, at : at + 1])}
            for at in range(_MOST_TOKENS)
        ]
        empty = _value(np.zeros((1, graph.HEADS, 0, graph.HEAD_SIZE), np.float32))
        self.no_text = {f"past.{name}": empty for name in _KEPT}


class Decoding:
    """The decoder's memory of one utterance, for as many beams as a step has.

    What comes from the audio is held once, for one beam: the model broadcasts it over all of them.
    """

    def __init__(self, models: Models, audio: Float32) -> None:
        """Encode ``audio`` (mono float32, 16 kHz)."""
        self._models = models
        mask = np.ones((1, audio.size), np.int64)
        (hidden,) = models.encoder.run(
            None, {"input_values": audio[np.newaxis], "attention_mask": mask}
        )
        self.states: Float32 = hidden[0]
        """What the encoder made of the audio (frames, 288)."""
        heard = models.audio.run_with_ort_values(None, {"hidden": _value(hidden)})
        self._audio = dict(zip((f"audio.{name}" for name in _KEPT), heard, strict=True))
        self.restart()

    def restart(self) -> None:
        """Begin again before the first word of the same audio."""
        self._text = self._models.no_text
        self._said = 0

    def step(self, tokens: Sequence[int], parents: Sequence[int]) -> NDArray[np.float32]:
        """Logits (beams, vocabulary) after ``tokens``; see ``speech.beam.Step``.

        Raises:
            speech.pool.Abandoned: if nobody wants them any more.
        """
        checkpoint()
        outputs = self._models.decoder.run_with_ort_values(
            _OUTPUTS,
            {
                "tokens": _value(np.array(tokens, np.int64)[:, np.newaxis]),
                **self._models.positions[self._said],
                **self._audio,
                **self._text_of(parents),
            },
        )
        self._text = {f"past.{n}": kept for n, kept in zip(_KEPT, outputs[1:], strict=True)}
        self._said += 1
        logits: NDArray[np.float32] = outputs[0].numpy()[:, -1]
        return logits

    def _text_of(self, parents: Sequence[int]) -> dict[str, ort.OrtValue]:
        """The memory of each beam's words, where beam ``n`` goes on from ``parents[n]``."""
        order = list(parents)
        (beams, *_) = next(iter(self._text.values())).shape()
        if order == list(range(beams)):
            return self._text
        return {name: _value(keys.numpy()[order]) for name, keys in self._text.items()}
