"""Transformers of the Qwen line, without any cache: causal ones, and diffusion models that see
whole blocks (SDAR) or the whole canvas."""

from typing import Dict, List, Optional, Tuple

import numpy as np

from draftlab.recheck.models.context import Context, Model
from draftlab.recheck.models.safetensors import config_of, softmax, weights_of
from draftlab.recheck.record import Settings

Row = Tuple[int, int]  # (position, token)


class Network:
    """RMS norms (of queries and keys, too), rotary positions, SwiGLU."""

    def __init__(self, folder: str):
        self.config = config_of(folder)
        weights = weights_of(folder)
        self.embedding = weights["model.embed_tokens.weight"]
        self.head = weights.get("lm_head.weight", self.embedding)
        self.last_norm = weights["model.norm.weight"]
        self.layers = [{name.split(".", 3)[3]: array for name, array in weights.items()
                        if name.startswith(f"model.layers.{i}.")}
                       for i in range(self.config["num_hidden_layers"])]
        self.mask = self.config.get("mask_token_id", -1)

    def _norm(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        square = np.mean(np.square(x), axis=-1, keepdims=True)
        return x / np.sqrt(square + self.config["rms_norm_eps"]) * weight

    def _turn(self, x: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Rotary positions of [rows, heads, size]."""
        size = x.shape[-1]
        rates = self.config["rope_theta"] ** (-np.arange(0, size, 2) / size)
        angle = places[:, None, None] * rates
        left, right = x[..., :size // 2], x[..., size // 2:]
        return np.concatenate([left * np.cos(angle) - right * np.sin(angle),
                               right * np.cos(angle) + left * np.sin(angle)], axis=-1)

    def logits(self, rows: List[Row], sees: np.ndarray) -> np.ndarray:
        """The logits of rows, of which row i sees row j where sees[i, j]."""
        config = self.config
        size, heads = config["head_dim"], config["num_attention_heads"]
        places = np.array([position for position, _ in rows])
        x = self.embedding[[token for _, token in rows]].astype(np.float64)
        for layer in self.layers:
            a = self._norm(x, layer["input_layernorm.weight"])
            q, k, v = ((a @ layer[f"self_attn.{name}_proj.weight"].T).reshape(len(rows), -1, size)
                       for name in "qkv")
            q = self._turn(self._norm(q, layer["self_attn.q_norm.weight"]), places)
            k = self._turn(self._norm(k, layer["self_attn.k_norm.weight"]), places)
            k, v = (np.repeat(each, heads // each.shape[1], axis=1) for each in (k, v))
            scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(size)
            scores = np.where(sees, scores, -np.inf)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
            mixed = np.einsum("hij,jhd->ihd", shares, v).reshape(len(rows), -1)
            x = x + mixed @ layer["self_attn.o_proj.weight"].T
            a = self._norm(x, layer["post_attention_layernorm.weight"])
            gate = a @ layer["mlp.gate_proj.weight"].T
            inner = gate / (1 + np.exp(-gate)) * (a @ layer["mlp.up_proj.weight"].T)
            x = x + inner @ layer["mlp.down_proj.weight"].T
        return self._norm(x, self.last_norm) @ self.head.T


class _Asked(Model):
    """A model whose rows are computed once for each set of rows."""

    relative = 1e-3

    def __init__(self, folder: str):
        self.net = Network(folder)
        self._known: Dict[Tuple[Row, ...], np.ndarray] = {}

    def _logits(self, rows: List[Row], sees: np.ndarray) -> np.ndarray:
        key = tuple(rows)
        if key not in self._known:
            if len(self._known) > 200:
                self._known.clear()
            self._known[key] = self.net.logits(rows, sees)
        return self._known[key]


class Causal(_Asked):
    """Each row predicts the position behind it."""

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        rows = [each for each in context.seen if each[0] < position]
        if [place for place, _ in rows] != list(range(position)) or position == 0:
            return None
        logits = self._logits(rows, np.tri(len(rows), dtype=bool))
        return softmax(logits[-1], -1)


class Diffusion(_Asked):
    """A masked row predicts its own position. Rows see the blocks before theirs, and in theirs
    either everything or, in the causal view, what precedes them."""

    def __init__(self, folder: str, settings: Settings, whole: bool):
        super().__init__(folder)
        self.whole = whole
        options = f"model.{settings('model')}"
        # Other ways to cache see other rows, which this program does not tell apart.
        cache = "none" if whole else "block"
        self.plain = (settings(f"{options}.cache", cache) == cache and
                      settings(f"{options}.draft_mask", "block") == "block" and
                      settings(f"{options}.sub_block_cache", "off") == "off")

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        if not self.plain or (self.whole and context.causal):
            return None
        first, end = (0, context.length) if self.whole else context.block(position)
        known = dict(context.seen)
        if any(place not in known for place in range(first)):
            return None
        rows = [(place, known[place]) for place in range(first)]
        here = range(first, position if context.causal else end)
        # Without a mask token the network reads a random canvas.
        masked = dict(context.shown) if self.net.mask < 0 else dict.fromkeys(here, self.net.mask)
        if self.net.mask < 0 and any(place not in {**masked, **known} for place in here):
            return None
        rows += [(place, known.get(place, masked.get(place, -1))) for place in here
                 if place in known or not context.causal]
        if context.causal:
            rows.append((position, self.net.mask))
        places = np.array([place for place, _ in rows])
        if self.whole:
            sees = np.ones((len(rows), len(rows)), dtype=bool)
        else:
            block = np.array([context.block(place)[0] for place in places])
            sees = block[None, :] <= block[:, None]
            if context.causal:  # Finished blocks stay as they are.
                inside = (block == first)[None, :] & (block == first)[:, None]
                sees &= ~inside | (places[None, :] <= places[:, None])
        logits = self._logits(rows, sees)
        return softmax(logits[int(np.argmax(places == position))], self.net.mask)
