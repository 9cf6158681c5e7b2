"""The object that a sampler is handed as `random`, and the two sources that answer it.

A sampler may ask `below(p)` (true with probability p), `draw(p)` (a token of the law p) and
`uniform()` or `uniform(n)`; `exponential` and `gumbel` are made of uniforms. A `Script` answers
from a list, so that the same numbers can be played again; `Drawn` answers by chance.
"""

import math
from typing import List, Optional, Sequence, Tuple

import numpy as np

from draftlab.audit.faults import SamplerFault
from draftlab.audit.generator import seeded
from draftlab.audit.noise import Cells

# A run that asks for more numbers than this does not end.
MOST_NUMBERS = 10_000
_SMALLEST = 2.0**-53


def law_of(weights) -> List[float]:
    """The probabilities that `weights` stand for; refuses what is no law."""
    values = weights.tolist() if hasattr(weights, "tolist") else list(weights)
    total = 0.0
    for value in values:
        if not value >= 0:
            what = "NaN" if value != value else f"the negative probability {value:.3g}"
            raise SamplerFault("not a law", f"asked for a draw from a law that holds {what}")
        total += value
    if not 0 < total < math.inf:
        raise SamplerFault("not a law", f"asked for a draw from a law whose sum is {total:.3g}")
    return [value / total for value in values]


class Numbers:
    """What a sampler asks. Subclasses answer `choose` and `number`."""

    def choose(self, law: Sequence[float]) -> int:
        raise NotImplementedError

    def number(self) -> float:
        raise NotImplementedError

    def below(self, p) -> bool:
        """True with probability min(1, p)."""
        p = float(p)
        if p != p:
            raise SamplerFault("not a law", "asked random.below(NaN)")
        p = min(1.0, max(0.0, p))
        return self.choose((p, 1.0 - p)) == 0

    def draw(self, weights) -> int:
        """Draws a token from the law that is proportional to `weights`."""
        return self.choose(law_of(weights))

    def uniform(self, n=None):
        """A number in [0, 1), or an array of them of shape `n`."""
        if n is None:
            return self.number()
        shape = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
        return self.numbers(math.prod(shape)).reshape(shape)

    def numbers(self, count: int) -> np.ndarray:
        """So many numbers as an array: [count] float64."""
        return np.array([self.number() for _ in range(count)], dtype=np.float64)

    def exponential(self, n=None):
        """An exponential number of mean 1, or an array of them."""
        return -np.log1p(-Numbers.uniform(self, n))

    def gumbel(self, n=None):
        """A standard Gumbel number, or an array of them."""
        return -np.log(np.maximum(Numbers.exponential(self, n), _SMALLEST))

    random = uniform


class Random:
    """What a sampler is handed: it may ask, and sees nothing of what the answers come from."""

    __slots__ = ("below", "draw", "uniform", "exponential", "gumbel", "random")

    def __init__(self, numbers: Numbers):
        for name in Random.__slots__:
            setattr(self, name, getattr(numbers, name))


class Script(Numbers):
    """Answers from `prefix`, then from `stream`, and remembers what was asked.

    `asked` holds the law of each choice and None for each number; `values` holds the answers.
    """

    __slots__ = ("prefix", "stream", "asked", "values", "cells", "entangled")

    def __init__(self, prefix: Sequence, stream: Sequence[float], noise: bool = False):
        self.prefix = prefix
        self.stream = stream
        self.asked: List[Optional[Tuple[float, ...]]] = []
        self.values: List = []
        # With `noise`, arrays of numbers are drawn when somebody looks at them.
        self.cells = Cells(self) if noise else None
        self.entangled = False

    def uniform(self, n=None):
        return super().uniform(n) if n is None else self._noise("uniform", n)

    def exponential(self, n=None):
        return super().exponential(n) if n is None else self._noise("exponential", n)

    def gumbel(self, n=None):
        return super().gumbel(n) if n is None else self._noise("gumbel", n)

    random = uniform

    def _noise(self, kind, n):
        if self.cells is None:
            return getattr(Numbers, kind)(self, n)
        return self.cells.new(kind, (n,) if isinstance(n, (int, np.integer)) else tuple(n))

    def _next(self) -> float:
        at = len(self.values)
        if at >= MOST_NUMBERS:
            raise SamplerFault("hang", f"asked for more than {MOST_NUMBERS} numbers in one call")
        return self.stream[at % len(self.stream)]

    def choose(self, law):
        at = len(self.values)
        value = self.prefix[at] if at < len(self.prefix) else _quantile(law, self._next())
        self.asked.append(tuple(law))
        self.values.append(value)
        return value

    def number(self):
        at = len(self.values)
        value = self.prefix[at] if at < len(self.prefix) else self._next()
        self.asked.append(None)
        self.values.append(value)
        return value


class Drawn(Numbers):
    """Answers by chance, in blocks, because one number at a time is slow."""

    def __init__(self, seed: int):
        self.generator = seeded(seed)
        self.block: List[float] = []
        self.row, self.at = np.empty(0), 0

    def number(self):
        if not self.block:
            self.block = self.generator.random(4096).tolist()
        return self.block.pop()

    def numbers(self, count):
        if self.at + count > len(self.row):
            self.row, self.at = self.generator.random(max(4096, count)), 0
        self.at += count
        return self.row[self.at - count : self.at].copy()

    def choose(self, law):
        return _quantile(law, self.number())


def _quantile(law: Sequence[float], u: float) -> int:
    total = 0.0
    last = 0
    for token, p in enumerate(law):
        if p > 0:
            total += p
            last = token
            if u < total:
                return token
    return last


def streams(count: int, length: int = 61) -> List[List[float]]:
    """Fixed sequences of numbers to continue a script with; the first are near 1/2, 0 and 1."""
    generator = seeded(20260)
    made = [generator.random(length).tolist() for _ in range(max(0, count - 2))]
    low = [0.001 + 0.0007 * i for i in range(length)]
    return [made[0] if made else low, low, [1 - value for value in low]][: min(3, count)] + made[1:]
