"""MiniLM with torch, its upper layers to be tuned by matrices of low rank.

The forward pass is that of ``rag/embedders/bert_graph.py`` with weights that are not rounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn.functional import gelu, layer_norm, normalize, scaled_dot_product_attention

from rag.embedders.minilm_weights import EPSILON, HEADS, MATRICES, MiniLMWeights

# Padded tokens that go through the network at a time.
_TOKENS = 1536


class Encoder(nn.Module):
    """The layers from ``first`` on can be tuned; what those below make of a text is kept."""

    def __init__(self, weights: MiniLMWeights, first: int, rank: int) -> None:
        super().__init__()
        self.first, self.count, self._table = first, weights.layers, weights.table
        self._fixed = {name: torch.from_numpy(np.array(m)) for name, m in weights.matrices.items()}
        self._biases = {name: torch.from_numpy(np.array(b)) for name, b in weights.biases.items()}
        self._norms = {
            name: (torch.from_numpy(np.array(norm.gain)), torch.from_numpy(np.array(norm.bias)))
            for name, norm in weights.norms.items()
        }
        self.downs, self.ups = nn.ParameterDict(), nn.ParameterDict()
        for n in range(first, self.count):
            for part in MATRICES:
                inputs, outputs = self._fixed[f"{n}.{part}"].shape
                self.downs[f"{n}_{part}"] = nn.Parameter(torch.randn(inputs, rank) / inputs**0.5)
                self.ups[f"{n}_{part}"] = nn.Parameter(torch.zeros(rank, outputs))

    def tuned(self) -> list[nn.Parameter]:
        """What is trained."""
        return [*self.downs.values(), *self.ups.values()]

    @torch.no_grad()
    def begun(self, texts: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """What the fixed layers make of the token ids of some texts: (pieces, 384) each."""
        started = [self._normalised(torch.from_numpy(self._table([*t])), "first") for t in texts]
        return self._through(started, range(self.first))

    def forward(self, begun: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The last states of texts of which the fixed layers made ``begun``; not normalised."""
        return self._through(begun, range(self.first, self.count))

    def _through(self, texts: Sequence[torch.Tensor], layers: range) -> list[torch.Tensor]:
        """Texts of about the same length side by side."""
        found: dict[int, torch.Tensor] = {}
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        while order:
            fit = max(1, _TOKENS // len(texts[order[-1]]))
            some, order = order[-fit:], order[:-fit]
            state = nn.utils.rnn.pad_sequence([texts[n] for n in some], batch_first=True)
            lengths = torch.tensor([len(texts[n]) for n in some])
            there = torch.arange(state.shape[1]) < lengths[:, None]
            for n in layers:
                state = self._layer(state, there, n)
            found |= {n: state[row, : len(texts[n])] for row, n in enumerate(some)}
        return [found[n] for n in range(len(texts))]

    def added(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """What was tuned: the pairs of ``rag.embedders.minilm_weights.Tuned``."""
        return {
            key.replace("_", "."): (down.detach().numpy(), self.ups[key].detach().numpy())
            for key, down in self.downs.items()
        }

    def _layer(self, state: torch.Tensor, there: torch.Tensor, n: int) -> torch.Tensor:
        texts, length, width = state.shape
        shape = (texts, length, HEADS, width // HEADS)
        q, k, v = (self._times(state, f"{n}.{p}").view(shape).transpose(1, 2) for p in "qkv")
        seen = scaled_dot_product_attention(q, k, v, attn_mask=there[:, None, None, :])
        seen = seen.transpose(1, 2).reshape(texts, length, width)
        state = self._normalised(state + self._times(seen, f"{n}.out"), f"{n}.out")
        inner = gelu(self._times(state, f"{n}.up"))
        return self._normalised(state + self._times(inner, f"{n}.down"), f"{n}.down")

    def _times(self, state: torch.Tensor, name: str) -> torch.Tensor:
        result = state @ self._fixed[name] + self._biases[name]
        key = name.replace(".", "_")
        if key in self.downs:
            result = result + (state @ self.downs[key]) @ self.ups[key]
        return result

    def _normalised(self, state: torch.Tensor, name: str) -> torch.Tensor:
        gain, bias = self._norms[name]
        return layer_norm(state, gain.shape, gain, bias, EPSILON)


def pooled(states: torch.Tensor) -> torch.Tensor:
    """The unit vector of a text."""
    return normalize(states.mean(dim=0), dim=0)
