"""Bounds that hold for every number of observations at once.

A log that grows may be judged as often as one likes: the probability that an exact engine is ever
called biased, at any of the looks, is at most alpha.
"""

import math

POWER = 0.99
_TIGHTEST = 10_000  # The mixture of bounds on a mean is at its best near so many observations.


def mean_bound(count: int, alpha: float) -> float:
    """The most by which the mean of numbers of expectation 0, each in an interval of length 1 given
    those before, ever is from 0: Robbins' normal mixture."""
    variance, at = count / 4, _TIGHTEST / 4 / (2 * math.log(1 / alpha))
    return math.sqrt((variance + at) * math.log((variance + at) / (at * alpha**2))) / count


def seen(count: int, alpha: float) -> float:
    """A mean of this size would have been seen with probability POWER after so many numbers."""
    return mean_bound(count, alpha) + math.sqrt(math.log(1 / (1 - POWER)) / (2 * count))


def law_bound(count: int, alpha: float) -> float:
    """The most by which the law of numbers ever is from the law that they are drawn from, in
    Kolmogorov's distance (Howard and Ramdas 2022, for laws at all times)."""
    lasting = math.log(1 + math.log(count)) + 0.8 * math.log(1612 / alpha)
    return 0.85 * math.sqrt(lasting / count)


def pairs_bound(count: int, grid: float, alpha: float) -> int:
    """The most pairs of equal numbers that there ever are among numbers on a grid of that size.

    Each doubling of the count has its share of alpha, and pairs only become more.
    """
    doubling = max(0, int(math.log2(max(count, 1))))
    most = 2 ** (doubling + 1)
    share = alpha / ((doubling + 1) * (doubling + 2))
    return _poisson_quantile(most * (most - 1) / 2 / grid, share)


def _poisson_quantile(mean: float, alpha: float) -> int:
    """The smallest count that a Poisson number passes with probability alpha at most."""
    if mean > 500:  # Bernstein's bound.
        log = math.log(1 / alpha)
        return math.ceil(mean + math.sqrt(2 * mean * log) + log)
    term = total = math.exp(-mean)
    count = 0
    while 1 - total > alpha and count < 10_000:
        count += 1
        term *= mean / count
        total += term
    return count
