"""Continuous batching: different requests share the steps of one engine, and arrive over time.

A step reads the prompts of requests that just got one of the engine's slots, and verifies one draft
of every other. A request that ends frees its slot and its cache at once. The draft of a step is one
call of the drafter for all that draft, as deep as the longest draft.
"""

from collections import deque
from dataclasses import dataclass
from typing import Deque, Dict, List, Optional, Sequence

import numpy as np

from draftlab.simulate.features import Known
from draftlab.simulate.table import Table
from draftlab.simulate.walk import World


@dataclass(frozen=True)
class Load:
    """Which requests come, and when: Poisson arrivals of requests drawn with replacement."""

    world: World
    who: np.ndarray        # A row of the world for each arrival.
    times: np.ndarray      # Seconds.
    slots: int

    @staticmethod
    def poisson(world: World, a_second: float, requests: int, slots: int) -> "Load":
        drawn = np.random.default_rng(1)
        who = drawn.integers(0, len(world.generated), requests)
        return Load(world, who, np.cumsum(drawn.exponential(1 / a_second, requests)), slots)


@dataclass(frozen=True)
class Policy:
    """How a step drafts: `fixed` tokens each, by goodput of a table, or an oracle's length."""

    fixed: Optional[int] = None
    table: Optional[Table] = None

    def choose(self, engine: "Engine", rows: np.ndarray) -> np.ndarray:
        truth = engine.truth(rows)
        if self.fixed is not None:
            return np.full(len(rows), self.fixed)
        if self.table is None:
            return truth - 1
        return engine.shared_goodput(rows, self.table.survival(engine.features(rows)))


class Engine:
    """The state of one simulation. Arrays have an entry for each arrival of the load."""

    def __init__(self, load: Load) -> None:
        self.load, self.world, self.clock = load, load.world, 0.0
        self.known = Known.at_begin(len(load.who))
        self.prompt = load.world.prompt[load.who]
        self.generated = load.world.generated[load.who]
        self.finished = np.full(len(load.who), np.nan)
        self.running: List[int] = []
        self.waiting: Deque[int] = deque(range(len(load.who)))
        # Seconds of steps, and those seconds times the sequences in the step.
        self.busy, self.shared = 0.0, 0.0

    def truth(self, rows: np.ndarray) -> np.ndarray:
        return self.world.lengths[self.load.who[rows], self.known.made[rows] - 1]

    def features(self, rows: np.ndarray) -> np.ndarray:
        alive = self.world.alive[self.load.who[rows], self.known.made[rows] - 1]
        return self.known.features(rows, self.prompt[rows], alive)

    def seconds(self, rows: np.ndarray, drafted: np.ndarray, prompts: int) -> float:
        """A step that verifies `rows` and reads so many tokens of prompts."""
        cost, cached = self.world.cost, self.prompt[rows] + self.known.made[rows]
        target = cost.target.seconds(cached.sum(), drafted.sum() + len(rows) + prompts)
        draft, did = 0.0, drafted > 0
        if did.any():
            draft = cost.draft(self.world.proposer).seconds(target, cached[did].sum(),
                                                            drafted.max() + 1)
        return float(target + draft + cost.engine)

    def shared_goodput(self, rows: np.ndarray, survival: np.ndarray) -> np.ndarray:
        """The lengths that maximise the step's expected tokens a second. A draft is worth the
        chance that it is committed, so drafts join in the order of their chances."""
        order = np.argsort(-survival, axis=None, kind="stable")
        tokens = len(rows) + np.concatenate([[0.0], np.cumsum(survival.flat[order])])
        none = np.zeros(len(rows), dtype=int)
        one = none.copy()
        one[0] = 1
        row = self.world.cost.target.row
        seconds = self.seconds(rows, one, 0) + row * (np.arange(len(tokens)) - 1)
        seconds[0] = self.seconds(rows, none, 0)
        best = int(np.argmax(tokens / seconds))
        drafted = none
        np.add.at(drafted, order[:best] // survival.shape[1], 1)
        return drafted

    def admit(self) -> List[int]:
        """The requests that get a slot now; the clock goes on where nothing else is to be done."""
        if not self.running and self.waiting:
            self.clock = max(self.clock, float(self.load.times[self.waiting[0]]))
        new: List[int] = []
        while (self.waiting and len(self.running) + len(new) < self.load.slots
               and self.load.times[self.waiting[0]] <= self.clock):
            new.append(self.waiting.popleft())
        return new

    def step(self, policy: Policy) -> None:
        new, rows = self.admit(), np.array(self.running, dtype=int)
        drafted = policy.choose(self, rows) if len(rows) else rows
        commits = np.minimum(self.truth(rows), drafted + 1) if len(rows) else rows
        seconds = self.seconds(rows, drafted, int(self.prompt[new].sum()))
        self.clock += seconds
        self.busy += seconds
        self.shared += seconds * (len(rows) + len(new))
        if len(rows):
            self.known.observe(rows, drafted, commits)
        self.running += new  # The step that reads a prompt commits its first token.
        for at in [at for at in self.running if self.known.made[at] >= self.generated[at]]:
            self.finished[at] = self.clock
            self.running.remove(at)


def simulate(load: Load, policy: Policy) -> Dict[str, float]:
    """Serves all requests of the load."""
    engine = Engine(load)
    while engine.waiting or engine.running:
        engine.step(policy)
    took = engine.finished - load.times
    each = took / engine.generated
    return {"tokens": float(engine.generated.sum() / (engine.clock - load.times[0])),
            "latency": float(took.mean()), "late": float(np.percentile(took, 90)),
            "each": float(each.mean()), "batch": engine.shared / engine.busy}


def arrival_rows(world: World, table: Optional[Table], rates: Sequence[float],
                 fixed: Sequence[int], slots: int, requests: int) -> List[Dict[str, str]]:
    """A row for each rate and policy."""
    rows = []
    for rate in rates:
        load = Load.poisson(world, rate, requests, slots)
        policies = [(f"always {k}", Policy(fixed=k)) for k in fixed]
        if table is not None:
            policies.append(("learned", Policy(table=table)))
        for name, policy in [*policies, ("oracle length", Policy())]:
            got = simulate(load, policy)
            rows.append({"requests a second": f"{rate:g}", "drafts": name,
                         "tokens a second": f"{got['tokens']:.0f}",
                         "seconds a request": f"{got['latency']:.2f}",
                         "nine of ten within": f"{got['late']:.2f}",
                         "ms a token": f"{1000 * got['each']:.2f}",
                         "mean batch": f"{got['batch']:.1f}"})
    return rows
