"""Compares the law of what a sampler emits with the target's."""

from dataclasses import dataclass
from typing import Dict, Optional, Tuple

import numpy as np

from draftlab.audit.toys import Toy


@dataclass(frozen=True)
class Event:
    """The first event whose probability is not the target's: a sequence begins with `tokens`."""

    tokens: Tuple[int, ...]
    target: float
    found: float


def joint(toy: Toy, context: Tuple[int, ...], count: int) -> np.ndarray:
    """The target's law of the `count` tokens after `context`, as an array with an axis a token."""
    key = ("joint", context, count)
    if key not in toy.cache:
        if count == 0:
            return np.ones(())
        law = toy.target(context)
        rest = [law[v] * joint(toy, context + (v,), count - 1) for v in range(toy.vocabulary)]
        toy.cache[key] = np.stack(rest)
    return toy.cache[key]


def completed(toy: Toy, emitted: Dict[Tuple[int, ...], float], length: int) -> np.ndarray:
    """The law of `length` tokens: those emitted, then the target's own."""
    law = np.zeros((toy.vocabulary,) * length)
    for tokens, mass in emitted.items():
        law[tokens] += mass * joint(toy, tokens, length - len(tokens))
    return law


def total_variation(one: np.ndarray, other: np.ndarray) -> float:
    return 0.5 * float(np.abs(one - other).sum())


def forbidden_event(found: np.ndarray, target: np.ndarray) -> Optional[Event]:
    """The shortest beginning that the target gives no probability and that comes out all the same;
    the most probable of those that are as short. None where there is none."""
    for length in range(1, found.ndim + 1):
        rest = tuple(range(length, found.ndim))
        wrong = np.where(target.sum(axis=rest) == 0, found.sum(axis=rest), 0.0)
        if wrong.max() > 0:
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            return Event(tuple(int(i) for i in at), 0.0, float(wrong[at]))
    return None


def beginnings(law: np.ndarray, length: int) -> np.ndarray:
    """The law of the first `length` tokens."""
    return law.sum(axis=tuple(range(length, law.ndim)))


def first_event(found: np.ndarray, target: np.ndarray, share: float = 0.05) -> Event:
    """The shortest beginning that differs by a fair share of all that differs."""
    whole = total_variation(found, target)
    for length in range(1, found.ndim + 1):
        rest = tuple(range(length, found.ndim))
        one, other = found.sum(axis=rest), target.sum(axis=rest)
        if total_variation(one, other) >= share * whole:
            at = np.unravel_index(int(np.argmax(np.abs(one - other))), one.shape)
            return Event(tuple(int(i) for i in at), float(other[at]), float(one[at]))
    raise AssertionError("the full length is a beginning, too")
