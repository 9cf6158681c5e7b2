"""Walks many requests at once, each as a batch of B copies of it, with a router of draft lengths.

A batch of copies is in lock-step, so one sequence stands for it, and only its cost knows B.
"""

from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence

import numpy as np

from draftlab.simulate.acceptance import Request
from draftlab.simulate.batches import plain_seconds
from draftlab.simulate.cost import CostSurface
from draftlab.simulate.features import Known, lookups_alive


@dataclass(frozen=True)
class World:
    """The requests as arrays, and what a batch of each costs."""

    cost: CostSurface
    proposer: str
    lengths: np.ndarray    # [requests, positions]: what a step there would commit.
    alive: np.ndarray      # [requests, positions]: features.lookups_alive.
    generated: np.ndarray
    prompt: np.ndarray

    @staticmethod
    def of(requests: Sequence[Request], proposer: str, cost: CostSurface) -> "World":
        generated = np.array([r.generated(proposer) for r in requests])
        shape = (len(requests), int(generated.max()))
        lengths, alive = np.ones(shape, dtype=int), np.zeros(shape)
        for row, request in enumerate(requests):
            lengths[row, : generated[row]] = request.lengths[proposer]
            alive[row] = np.nan_to_num(lookups_alive(request, shape[1]))
        return World(cost, proposer, lengths, alive, generated,
                     np.array([r.prompt for r in requests]))

    def plain(self, batch: int) -> np.ndarray:
        return np.array([plain_seconds(self.cost, batch, int(p), int(n))
                         for p, n in zip(self.prompt, self.generated)])

    def step_seconds(self, batch: int, rows: np.ndarray, made: np.ndarray,
                     drafted: np.ndarray) -> np.ndarray:
        """The seconds of a step of the requests `rows`, each with `batch` copies."""
        return self.cost.step(self.proposer, batch, batch * (self.prompt[rows] + made), drafted)


@dataclass(frozen=True)
class Step:
    """What a router sees of the requests that take a step; `truth` is for oracles alone."""

    world: World
    batch: int
    rows: np.ndarray      # Which requests.
    made: np.ndarray
    features: np.ndarray  # [rows, features.NAMES]
    truth: np.ndarray


Router = Callable[[Step], np.ndarray]  # How many tokens each of the requests drafts.


@dataclass
class Seen:
    """Features, truth and request of every step of a walk."""

    features: List[np.ndarray]
    truth: List[np.ndarray]


def walk(world: World, batch: int, router: Router, seen: Optional[Seen] = None) -> np.ndarray:
    """The seconds of a batch of each request."""
    known = Known.at_begin(len(world.generated))
    seconds = np.asarray(world.cost.prefill(batch * world.prompt), dtype=float)
    while True:
        rows = np.nonzero(known.made < world.generated)[0]
        if len(rows) == 0:
            return seconds
        made = known.made[rows].copy()
        truth = world.lengths[rows, made - 1]
        features = known.features(rows, world.prompt[rows], world.alive[rows, made - 1])
        drafted = np.asarray(router(Step(world, batch, rows, made, features, truth)))
        if seen is not None:
            seen.features.append(features)
            seen.truth.append(truth)
        seconds[rows] += world.step_seconds(batch, rows, made, drafted)
        known.observe(rows, drafted, np.minimum(truth, drafted + 1))
