"""Sampling: draws until a bias shows, or until the bias that would have shown is small enough.

The statistic is the total variation T between the law of N draws and the target's. The draws are
two in each of N / 2 cells of one mass (strata.py). Bounds, all of which hold for every N:

- The variance of any event's frequency is at most V = sum over cells of P(its two draws differ) /
  N^2. What is seen of it bounds V from above, since few disagreements are unlikely where V is large
  (the lower tail of a sum of non-negative numbers, Maurer 2003).
- The mean of T under the target is at most m, the lesser of sqrt(K V / 2) for K outcomes and of
  sum sqrt(p (1 - p) / N) / 2, since cells never add variance.
- T leaves its mean upwards by more than t with probability alpha at most: the lesser of
  McDiarmid's t, one draw moving T by 1/N at most, and of Klein and Rio's (2005), which knows V.
- The frequency of the event that differs most leaves its mean downwards by more than s with
  probability 0.01 at most (Bernstein, Hoeffding).

So T > m + t happens to an exact sampler with probability alpha, and a total variation of m + t + s
is found with probability 0.99.
"""

import math
import time
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from draftlab.audit import laws
from draftlab.audit.strata import Grid, InCell, grid, influence
from draftlab.audit.toys import Toy

ALPHA = 1e-6  # The probability that an exact sampler is called biased on one toy.
POWER = 0.99
_FIRST_CELLS = 1024
_MOST_LOOKS = 14
_WORTH_REPORTING = 32768  # A bias is worth printing after so many cells.


@dataclass
class Sampled:
    """What the draws from a toy show."""

    draws: int
    variation: float
    low: float  # The true total variation lies in [low, high] with probability 1 - alpha.
    high: float
    # A total variation of this size would have been found with probability POWER.
    detectable: float
    biased: bool
    # "stratified" where the numbers that the sampler asked for were divided, else "sampled".
    depth: str
    event: Optional[laws.Event] = None
    law: Optional[np.ndarray] = None  # The frequencies; an axis a token.


@dataclass
class Plan:
    """How much is drawn from a toy that cannot be walked."""

    detectable: float  # A total variation of this size is to be found.
    seconds: float
    seed: int


@dataclass
class Bounds:
    """How far the frequencies of two draws in each of `cells` cells may be from what they are of,
    where the two differed in `differed` of the cells."""

    cells: int
    differed: int
    log: float  # The logarithm of 1 / probability that each bound has by itself.

    @property
    def variance(self) -> float:
        """The upper bound of the variance V."""
        most = 0.5 * self.log
        return (math.sqrt(most) + math.sqrt(most + self.differed)) ** 2 / (4 * self.cells**2)

    def mean(self, target: np.ndarray) -> float:
        """The largest mean that T can have under the target."""
        plain = 0.5 * float(np.sqrt(target * (1 - target) / (2 * self.cells)).sum())
        return min(plain, math.sqrt(target.size * self.variance / 2))

    def above(self, mean: float) -> float:
        """The most by which T exceeds its mean."""
        one = 1 / (2 * self.cells)
        known = self.variance + 2 * one * mean
        part = 3 * one * self.log
        klein_rio = (part + math.sqrt(part**2 + 8 * known * self.log)) / 2
        return min(klein_rio, self.hoeffding(self.log))

    def event(self, log: float) -> float:
        """The most by which the frequency of one event leaves its mean in one direction."""
        bernstein = math.sqrt(2 * self.variance * log) + log / (6 * self.cells)
        return min(bernstein, self.hoeffding(log))

    def hoeffding(self, log: float) -> float:
        return math.sqrt(log / (4 * self.cells))


def sample(episode: Callable, toy: Toy, length: int, plan: Plan) -> Sampled:
    """Draws outcomes of `episode` until a verdict or the end of the time."""
    target = laws.joint(toy, (), length)
    until = time.thread_time() + plan.seconds
    random = InCell(plan.seed)
    influences = influence(episode, plan.seed)
    cells, found = _FIRST_CELLS, None
    for _ in range(_MOST_LOOKS):
        began = time.thread_time()
        looked = _look(episode, random, grid(influences, cells), until if found else math.inf)
        if looked is None:
            break
        found = _judge(toy, looked, length, target)
        done = found.draws // 2
        if found.biased and done >= _WORTH_REPORTING:
            break
        if not found.biased and found.detectable <= plan.detectable:
            break
        a_cell = (time.thread_time() - began) / done
        affordable = int(0.9 * (until - time.thread_time()) / a_cell)
        wanted = math.ceil(1.02 * done * (found.detectable / plan.detectable) ** 2)
        cells = wanted if wanted <= 8 * done else 6 * done
        if found.biased:
            cells = max(_WORTH_REPORTING, 2 * done)
        cells = min(cells, affordable)
        if cells <= done:
            break
    return found


@dataclass
class _Look:
    counts: Dict[Tuple[int, ...], int]
    differed: int
    grid: Grid


def _look(episode: Callable, random: InCell, cells: Grid, until: float) -> Optional[_Look]:
    """Two draws in every cell; None where the time ends before."""
    counts: Dict[Tuple[int, ...], int] = {}
    differed = 0
    for done, cell in enumerate(cells):
        random.enter(cells.parts, cell)
        first = episode(random)
        random.enter(cells.parts, cell)
        second = episode(random)
        counts[first] = counts.get(first, 0) + 1
        counts[second] = counts.get(second, 0) + 1
        differed += first != second
        if done % 256 == 255 and time.thread_time() > until:
            return None
    return _Look(counts, differed, cells)


def _judge(toy: Toy, look: _Look, length: int, target: np.ndarray) -> Sampled:
    draws = 2 * look.grid.cells
    found = laws.completed(toy, {one: n / draws for one, n in look.counts.items()}, length)
    variation = laws.total_variation(found, target)
    bounds = Bounds(look.grid.cells, look.differed, math.log(2 * _MOST_LOOKS / ALPHA))
    mean = bounds.mean(target)
    most = mean + bounds.above(mean)
    forbidden = laws.forbidden_event(found, target)
    biased = variation > most or forbidden is not None
    return Sampled(
        draws,
        variation,
        max(0.0, variation - most),
        min(1.0, variation + bounds.event(bounds.log)),
        most + bounds.event(math.log(1 / (1 - POWER))),
        biased,
        "stratified" if look.grid.divides else "sampled",
        _event(found, target) if variation > most else forbidden,
        found,
    )


def _event(found: np.ndarray, target: np.ndarray) -> laws.Event:
    """Of draws, the beginning that is longest in standard errors is shown, not the largest."""
    return laws.first_event(found, target, share=0.5)
