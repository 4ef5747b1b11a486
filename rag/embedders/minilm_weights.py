"""The weights of all-MiniLM-L6-v2, as its file has them and as they were tuned.

The file (``frontdesk/manifest.toml``) has eight bits a weight. ``rag/data/minilm-tuned.json`` adds
a matrix of low rank to some of them (Hu et al., LoRA, ICLR 2022), trained by
``tools/tune_minilm.py`` to tell the sentence that answers a question from its neighbours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontdesk import ModelFileError
from rag.embed import Vectors
from rag.embedders.bert_graph import Layer, Norm, eight_bits, encoder
from rag.embedders.onnx_reader import weights
from rag.packed_arrays import unpacked

TUNED = Path(__file__).parents[1] / "data" / "minilm-tuned.json"
HEADS, EPSILON = 12, 1e-12
MATRICES = ("q", "k", "v", "out", "up", "down")
_BIASES = (
    "attention.self.query", "attention.self.key", "attention.self.value",
    "attention.output.dense", "intermediate.dense", "output.dense",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a word piece at a place starts from.

    ``words`` (pieces, 384) with their ``scales`` (pieces, 1) are still in the file; ``positions``
    (512, 384) include the one segment type that is used.
    """

    words: NDArray[np.int8]
    scales: Vectors
    positions: Vectors

    def __call__(self, ids: list[int]) -> Vectors:
        """What the encoder reads for some word pieces: (pieces, 384)."""
        return self.words[ids] * self.scales[ids] + self.positions[: len(ids)]


@dataclass(frozen=True, slots=True, eq=False)
class MiniLMWeights:
    """``matrices`` are float32 (inputs, outputs) with their ``biases``, by layer and name ("0.q").

    ``norms`` are by name too ("first", "0.out", "0.down").
    """

    table: Table
    matrices: Mapping[str, Vectors]
    biases: Mapping[str, Vectors]
    norms: Mapping[str, Norm]

    @property
    def layers(self) -> int:
        """How many there are."""
        return len(self.matrices) // len(MATRICES)

    def graph(self) -> bytes:
        """The encoder for onnxruntime."""
        layers = [self._layer(f"{n}.") for n in range(self.layers)]
        return encoder(self.norms["first"], layers, heads=HEADS, epsilon=EPSILON)

    def _layer(self, at: str) -> Layer:
        matrix = {name: eight_bits(*self._parts(f"{at}{name}")) for name in MATRICES[3:]}
        parts = [self._parts(f"{at}{name}") for name in MATRICES[:3]]
        side_by_side = [np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)]
        return Layer(
            qkv=eight_bits(side_by_side[0], side_by_side[1]),
            out=matrix["out"],
            out_norm=self.norms[f"{at}out"],
            up=matrix["up"],
            down=matrix["down"],
            down_norm=self.norms[f"{at}down"],
        )

    def _parts(self, name: str) -> tuple[Vectors, Vectors]:
        return self.matrices[name], self.biases[name]


def read(path: Path, tuned: Tuned | None = None) -> MiniLMWeights:
    """The weights at ``path``, with what was ``tuned`` added.

    Raises:
        ModelFileError: if it is another model's file, or what was tuned does not fit it.
    """
    found, at = weights(path), "inner.embeddings."
    try:
        # The exporter numbered the matrices in the order in which they are used.
        names = [name[:-2] for name in found if name.startswith("val_") and name.endswith("_q")]
        layers = range(len(names) // len(MATRICES))
        keys = [f"{n}.{part}" for n in layers for part in MATRICES]
        matrices = {k: _unfolded(found, name) for k, name in zip(keys, names, strict=True)}
        biases, norms = {}, {"first": _norm(found, f"{at}LayerNorm")}
        for n in layers:
            own = f"inner.encoder.layer.{n}."
            for part, name in zip(MATRICES, _BIASES, strict=True):
                biases[f"{n}.{part}"] = _floats(found[f"{own}{name}.bias"])
            norms[f"{n}.out"] = _norm(found, f"{own}attention.output.LayerNorm")
            norms[f"{n}.down"] = _norm(found, f"{own}output.LayerNorm")
        positions = _unfolded(found, f"{at}position_embeddings.weight")
        segment = _floats(found[f"{at}token_type_embeddings.weight"])[0]
        words = found[f"{at}word_embeddings.weight_q"]
        scales = _floats(found[f"{at}word_embeddings.weight_scale"])
        if words.dtype != np.int8:
            raise ValueError(f"words of {words.dtype}")
    except (KeyError, ValueError) as error:
        raise ModelFileError(f"{path} is not the MiniLM that is known: {error}") from error
    for key, (down, up) in (tuned.added if tuned else {}).items():
        if key not in matrices or (down.shape[0], up.shape[1]) != matrices[key].shape:
            raise ModelFileError(f"what was tuned does not fit {path}: {key}")
        matrices[key] = matrices[key] + down @ up
    table = Table(words.view(np.int8), scales, positions + segment)
    return MiniLMWeights(table, matrices, biases, norms)


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """What is added to some matrices: for "0.q" a pair (inputs, rank) and (rank, outputs).

    ``digest`` names them all, whatever the file around them looks like.
    """

    added: Mapping[str, tuple[Vectors, Vectors]]
    digest: str

    @classmethod
    def read(cls, of: str, path: Path = TUNED) -> Tuned:
        """What ``tools/tune_minilm.py`` wrote for the model file with the SHA-256 ``of``.

        Raises:
            ModelFileError: if it is missing, damaged, or for another file.
        """
        try:
            table = json.loads(path.read_text("utf-8"))
            parts = table["added"]
            added = {
                name: (unpacked(pair["down"]), unpacked(pair["up"]))
                for name, pair in sorted(parts.items())
            }
            fits = all(down.ndim == up.ndim == 2 for down, up in added.values())
            if table["of"] != of or not fits:
                raise ValueError("it is of another model")
        except (OSError, ValueError, KeyError, TypeError) as error:
            mend = "get the file again from the release that is installed"
            raise ModelFileError(f"{path} cannot be read ({error}); {mend}") from error
        text = json.dumps(parts, sort_keys=True)
        return cls(added, hashlib.sha256(text.encode()).hexdigest())


def _floats(values: NDArray[np.generic]) -> Vectors:
    return np.asarray(values, np.float32)


def _unfolded(found: Mapping[str, NDArray[np.generic]], name: str) -> Vectors:
    return _floats(found[f"{name}_q"]) * _floats(found[f"{name}_scale"])


def _norm(found: Mapping[str, NDArray[np.generic]], name: str) -> Norm:
    return Norm(_floats(found[f"{name}.weight"]), _floats(found[f"{name}.bias"]))
