"""Learns the table of table.py from acceptance lengths, with scikit-learn's logistic regression."""

import sys
import warnings
from typing import List, Sequence, Tuple

import numpy as np

from draftlab.audit.faults import Unavailable
from draftlab.simulate.acceptance import Request
from draftlab.simulate.cost import CostSurface
from draftlab.simulate.features import NAMES
from draftlab.simulate.table import Table
from draftlab.simulate.walk import Router, Seen, Step, World, walk

FEWEST = 30  # A depth with fewer accepted or fewer rejected drafts has one chance for all.


def halves(requests: Sequence[Request], seed: int) -> Tuple[List[Request], List[Request]]:
    """The requests to learn from, and the held-out ones: halves of a random order."""
    order = np.random.default_rng(seed).permutation(len(requests))
    middle = len(order) // 2
    return [requests[i] for i in order[:middle]], [requests[i] for i in order[middle:]]


def _any_length(longest: int, drawn: np.random.Generator, a_step: bool) -> Router:
    """Lengths drawn anew each step, or once a request, with spells in which nothing is drafted: a
    table that never saw such spells may tell a router to stay in one for ever."""
    once: dict = {}

    def decide(step: Step) -> np.ndarray:
        if not once:
            once["lengths"] = drawn.integers(1, longest + 1, len(step.world.generated))
            once["idle"] = np.zeros(len(step.world.generated), dtype=bool)
        lengths = drawn.integers(1, longest + 1, len(step.rows)) if a_step \
            else once["lengths"][step.rows]
        idle = once["idle"][step.rows]
        idle ^= drawn.random(len(idle)) < np.where(idle, 0.3, 0.05)
        once["idle"][step.rows] = idle
        return np.where(idle, 0, lengths)

    return decide


def _fit(features: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Intercept and weights of the chance of acceptance."""
    from sklearn.linear_model import LogisticRegression

    if min(accepted.sum(), len(accepted) - accepted.sum()) < FEWEST:
        chance = (accepted.sum() + 0.5) / (len(accepted) + 1)
        return np.array([np.log(chance / (1 - chance)), *np.zeros(features.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of rounds that ended before convergence.
        # Newton's method ends in the same digits on every processor, whose sums differ.
        newton = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10)
        model = newton.fit(features, accepted)
    return np.concatenate([model.intercept_, model.coef_[0]])


def learn(requests: Sequence[Request], proposer: str, cost: CostSurface, depths: int) -> Table:
    """Learns from walks with random lengths, so that every history has been seen."""
    try:
        import sklearn  # noqa: F401
    except ModuleNotFoundError as missing:
        raise Unavailable("draftlab simulate --learn needs scikit-learn, which "
                          f"{sys.executable} does not have: install python3-sklearn, or name "
                          "another interpreter in DRAFTLAB_PYTHON") from missing
    world, seen = World.of(requests, proposer, cost), Seen([], [])
    for a_step in (True, False, True, False):
        drawn = np.random.default_rng(len(seen.truth))
        walk(world, 1, _any_length(min(8, depths), drawn, a_step), seen)
    features, truth = np.concatenate(seen.features), np.concatenate(seen.truth)
    rows = np.zeros((depths, 1 + len(NAMES)))
    for depth in range(1, depths + 1):
        reached = truth >= depth
        rows[depth - 1] = _fit(features[reached], truth[reached] > depth)
    return Table(rows[:, 0], rows[:, 1:])
