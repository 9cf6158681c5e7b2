"""Sampling parameters, and the law that logits become under them."""

from dataclasses import dataclass, replace
from typing import Tuple

import numpy as np


@dataclass(frozen=True)
class Sampling:
    """What a request asked for. A sampler that takes `sampling` has to apply all of it."""

    temperature: float = 1.0
    top_k: int = 0  # 0: all tokens
    top_p: float = 1.0
    min_p: float = 0.0
    logit_bias: Tuple[Tuple[int, float], ...] = ()

    @property
    def plain(self) -> bool:
        return self == Sampling()

    def uncut(self) -> "Sampling":
        """Without what cuts tokens off: the temperature and the bias are left."""
        return replace(self, top_k=0, top_p=1.0, min_p=0.0)

    def __str__(self) -> str:
        plain = Sampling()
        names = ("temperature", "top_k", "top_p", "min_p", "logit_bias")
        return ", ".join(f"{name} {getattr(self, name)}" for name in names
                         if getattr(self, name) != getattr(plain, name))


def processed(logits, sampling: Sampling) -> np.ndarray:
    """The logits after bias, temperature, top-k, top-p and min-p, in this order; -inf is cut."""
    logits = np.array(logits, dtype=np.float64)
    for token, bias in sampling.logit_bias:
        logits[..., token] += bias
    if sampling.temperature == 0:
        best = np.argmax(logits, axis=-1)
        certain = np.full_like(logits, -np.inf)
        np.put_along_axis(certain, best[..., None], 0.0, axis=-1)
        return certain
    logits = logits / sampling.temperature
    if 0 < sampling.top_k < logits.shape[-1]:
        order = np.argsort(-logits, axis=-1, kind="stable")
        np.put_along_axis(logits, order[..., sampling.top_k :], -np.inf, axis=-1)
    if sampling.top_p < 1:
        law = softmax(logits)
        order = np.argsort(-law, axis=-1, kind="stable")
        sorted_law = np.take_along_axis(law, order, axis=-1)
        cut = np.cumsum(sorted_law, axis=-1) - sorted_law >= sampling.top_p
        sorted_logits = np.take_along_axis(logits, order, axis=-1)
        np.put_along_axis(logits, order, np.where(cut, -np.inf, sorted_logits), axis=-1)
    if sampling.min_p > 0:
        law = softmax(logits)
        logits[law < sampling.min_p * law.max(axis=-1, keepdims=True)] = -np.inf
    return logits


def softmax(logits) -> np.ndarray:
    """Probabilities; -inf has none."""
    logits = np.asarray(logits, dtype=np.float64)
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def probabilities(logits, sampling: Sampling) -> np.ndarray:
    """The law that a request with these parameters is owed."""
    return softmax(processed(logits, sampling))
