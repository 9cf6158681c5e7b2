"""XLNet's two streams (Yang et al., 2019) as an any-subset model: content rows of the prompt see
each other, later ones what was generated before them, and a query row sees all of it but its own
token."""

from math import erf
from typing import Dict, Optional, Tuple

import numpy as np

from draftlab.recheck.models.context import Context, Model, Tokens
from draftlab.recheck.models.safetensors import config_of, softmax, weights_of

_erf = np.vectorize(erf)


class AnySubset(Model):
    relative = 1e-3

    def __init__(self, folder: str):
        self.config = config_of(folder)
        weights = weights_of(folder)
        self.embedding = weights["transformer.word_embedding.weight"]
        self.head = weights.get("lm_loss.weight", self.embedding)
        self.bias = weights["lm_loss.bias"]
        self.query = weights["transformer.mask_emb"].reshape(-1)
        self.layers = [{name.split(".", 3)[3]: array for name, array in weights.items()
                        if name.startswith(f"transformer.layer.{i}.")}
                       for i in range(self.config["n_layer"])]
        self._content: Dict[Tuple[Tokens, Tokens], np.ndarray] = {}

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        tokens = context.given + context.generated
        if not tokens:
            return None
        content = self._streams(context.given, context.generated)
        places = np.array([place for place, _ in tokens])
        everything = np.ones((1, len(tokens)), dtype=bool)
        row = self.query.astype(np.float64)[None]
        for layer, seen in zip(self.layers, content):
            row = self._layer(layer, row, seen, np.array([position]), places, everything)
        logits = row[0] @ self.head.T + self.bias
        return softmax(logits, self.config.get("mask_token_id", 6))

    def _streams(self, given: Tokens, generated: Tokens) -> np.ndarray:
        """What each layer reads of the content rows."""
        key = (given, generated)
        if key not in self._content:
            if len(self._content) > 200:
                self._content.clear()
            tokens = given + generated
            places = np.array([place for place, _ in tokens])
            rank = np.maximum(np.arange(len(tokens)), len(given) - 1)
            sees = rank[None, :] <= rank[:, None]
            rows = [self.embedding[[token for _, token in tokens]].astype(np.float64)]
            for layer in self.layers[:-1]:
                rows.append(self._layer(layer, rows[-1], rows[-1], places, places, sees))
            self._content[key] = np.array(rows)
        return self._content[key]

    def _layer(self, layer, rows, content, places, others, sees):
        """One layer for rows at `places` that attend content at `others`."""
        size = self.config["d_head"]
        q = np.tensordot(rows, layer["rel_attn.q"], 1)
        k, v = (np.tensordot(content, layer[f"rel_attn.{name}"], 1) for name in "kv")
        distance = places[:, None] - others[None, :]
        least = int(distance.min())
        encoded = self._sines(np.arange(least, int(distance.max()) + 1))
        r = np.tensordot(encoded, layer["rel_attn.r"], 1)[distance - least]
        scores = np.einsum("ihk,jhk->hij", q + layer["rel_attn.r_w_bias"], k)
        scores += np.einsum("ihk,ijhk->hij", q + layer["rel_attn.r_r_bias"], r)
        scores = np.where(sees, scores / np.sqrt(size), -np.inf)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = np.einsum("hij,jhk->ihk", shares, v)
        out = self._norm(rows + np.einsum("ihk,dhk->id", mixed, layer["rel_attn.o"]),
                         layer, "rel_attn.layer_norm")
        inner = out @ layer["ff.layer_1.weight"].T + layer["ff.layer_1.bias"]
        inner = inner * 0.5 * (1 + _erf(inner / np.sqrt(2)))
        outer = inner @ layer["ff.layer_2.weight"].T + layer["ff.layer_2.bias"]
        return self._norm(out + outer, layer, "ff.layer_norm")

    def _norm(self, x, layer, name):
        middle = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.mean(middle ** 2, axis=-1, keepdims=True) +
                         self.config["layer_norm_eps"])
        return middle / spread * layer[f"{name}.weight"] + layer[f"{name}.bias"]

    def _sines(self, distance):
        """The encoding of distances: sines, then cosines."""
        width = self.config["d_model"]
        rates = 10000.0 ** (-np.arange(0, width, 2) / width)
        angle = distance[..., None] * rates
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)
