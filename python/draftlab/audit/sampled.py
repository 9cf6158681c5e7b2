"""Sampling: draws until a bias shows, or until the bias that would have shown is small enough.

The statistic is the total variation T between the law of the draws and the target's. One draw
moves it by at most 1/N, so (McDiarmid) it leaves its mean by more than t with probability at most
exp(-2 N t^2), on either side; under the target its mean is at most m = sum sqrt(p (1 - p) / N) / 2,
and its mean is never less than the true total variation. So T > m + t(alpha) happens to an exact
sampler with probability alpha, and a total variation of m + t(alpha) + t(0.01) is found with
probability 0.99. Nothing is asymptotic.
"""

import math
import time
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from draftlab.audit import laws
from draftlab.audit.numbers import Drawn
from draftlab.audit.toys import Toy

ALPHA = 1e-6  # of calling an exact sampler biased, a toy
POWER = 0.99
_FIRST_LOOK = 2048
_MOST_LOOKS = 14
_WORTH_REPORTING = 65536  # draws after which the probabilities of a bias are worth printing


@dataclass
class Sampled:
    """What draws say."""

    draws: int
    variation: float
    low: float  # of an interval for the true total variation, at 1 - alpha
    high: float
    detectable: float  # the total variation that would have been found with probability POWER
    biased: bool
    event: Optional[laws.Event] = None


def _spread(draws: int, alpha: float) -> float:
    return math.sqrt(math.log(1 / alpha) / (2 * draws))


def _mean_if_exact(target: np.ndarray, draws: int) -> float:
    return 0.5 * float(np.sqrt(target * (1 - target) / draws).sum())


def draws_for(target: np.ndarray, detectable: float) -> int:
    """How many draws find a total variation of `detectable` with probability POWER."""
    root = (_mean_if_exact(target, 1) + _spread(1, ALPHA / _MOST_LOOKS) + _spread(1, 1 - POWER))
    return math.ceil((root / detectable) ** 2)


def sample(episode: Callable, toy: Toy, length: int, detectable: float, seconds: float,
           seed: int) -> Sampled:
    """Draws outcomes of `episode` until a verdict or the end of the time."""
    target = laws.joint(toy, (), length)
    wanted = draws_for(target, detectable)
    until = time.thread_time() + seconds
    random = Drawn(seed)
    counts: Dict[Tuple[int, ...], int] = {}
    draws, look = 0, _FIRST_LOOK
    while True:
        stop = min(look, wanted)
        while draws < stop:
            for _ in range(min(256, stop - draws)):
                outcome = episode(random)
                counts[outcome] = counts.get(outcome, 0) + 1
                draws += 1
            if time.thread_time() > until:
                break
        result = _judge(toy, counts, draws, length, target)
        enough = draws >= (min(wanted, _WORTH_REPORTING) if result.biased else wanted)
        if enough or time.thread_time() > until:
            return result
        look *= 2


def _judge(toy, counts, draws, length, target) -> Sampled:
    found = laws.completed(toy, {tokens: n / draws for tokens, n in counts.items()}, length)
    variation = laws.total_variation(found, target)
    alpha = ALPHA / _MOST_LOOKS
    mean, spread = _mean_if_exact(target, draws), _spread(draws, alpha)
    impossible = float(found[target == 0].sum()) > 1e-9
    biased = variation > mean + spread or impossible
    return Sampled(draws, variation, max(0.0, variation - mean - spread),
                   min(1.0, variation + spread), mean + spread + _spread(draws, 1 - POWER), biased,
                   _event(found, target) if biased else None)


def _event(found: np.ndarray, target: np.ndarray) -> laws.Event:
    """Of draws, the beginning that is longest in standard errors is shown, not the largest."""
    return laws.first_event(found, target, share=0.5)
