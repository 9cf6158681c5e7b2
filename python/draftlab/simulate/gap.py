"""How much of the gap between the best fixed length and the oracle a router closes.

A speed-up is the mean throughput over the requests, over that without drafts. Its interval comes
from resampled requests; all rows of a batch take the same resamples.
"""

from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence, Tuple

import numpy as np

from draftlab.simulate import routers
from draftlab.simulate.table import Table
from draftlab.simulate.walk import World, walk

DEEPEST = 12  # The longest fixed draft that is compared.


@dataclass(frozen=True)
class Judge:
    """Speed-ups of a batch, on the requests and on resamples of them."""

    tokens: np.ndarray
    plain: np.ndarray
    picks: np.ndarray  # [resamples, requests]

    @staticmethod
    def of(world: World, batch: int, resamples: int) -> "Judge":
        requests = len(world.generated)
        picks = np.random.default_rng(1).integers(0, requests, (resamples, requests))
        return Judge(world.generated, world.plain(batch), picks)

    def speedup(self, seconds: np.ndarray) -> float:
        return float(np.mean(self.tokens / seconds) / np.mean(self.tokens / self.plain))

    def resampled(self, seconds: np.ndarray) -> np.ndarray:
        return (np.mean((self.tokens / seconds)[self.picks], axis=1)
                / np.mean((self.tokens / self.plain)[self.picks], axis=1))

    def interval(self, of: Callable[..., np.ndarray], *seconds: np.ndarray) -> Tuple[float, float]:
        """The middle 95 % of a function of resampled speed-ups."""
        low, high = np.percentile(of(*map(self.resampled, seconds)), [2.5, 97.5])
        return float(low), float(high)


def closed(best: np.ndarray, router: np.ndarray, oracle: np.ndarray) -> np.ndarray:
    """The share of the gap that is closed, of speed-ups."""
    return (router - best) / (oracle - best)


@dataclass(frozen=True)
class Ends:
    """What a batch's gap lies between. The best fixed length is chosen by these requests
    themselves, so no router has it easier."""

    judge: Judge
    drafted: int
    best: np.ndarray      # Seconds with the best fixed length.
    oracle: np.ndarray    # Seconds with the published oracle.

    @staticmethod
    def of(world: World, batch: int, resamples: int) -> "Ends":
        judge = Judge.of(world, batch, resamples)
        fixed = [routers.fixed_seconds(world, batch, k) for k in range(DEEPEST + 1)]
        drafted = int(np.argmax([judge.speedup(seconds) for seconds in fixed]))
        return Ends(judge, drafted, fixed[drafted], routers.published_oracle(world, batch))

    def closed(self, seconds: np.ndarray) -> Tuple[float, Tuple[float, float]]:
        three = (self.best, seconds, self.oracle)
        value = closed(*(np.array(self.judge.speedup(s)) for s in three))
        return float(value), self.judge.interval(closed, *three)


def _span(interval: Tuple[float, float], digits: int) -> str:
    return f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def router_rows(world: World, table: Table, batches: Sequence[int],
                resamples: int) -> List[Dict[str, str]]:
    """A row for each batch: best fixed length, routers, oracles."""
    rows = []
    for batch in batches:
        ends = Ends.of(world, batch, resamples)
        judge = ends.judge
        mean = walk(world, batch, routers.running_mean(DEEPEST))
        learned = walk(world, batch, routers.goodput(table))
        share, interval = ends.closed(learned)
        ahead = judge.interval(lambda a, b: a / b - 1, learned, ends.best)
        regret = judge.interval(lambda a, b: 1 - a / b, learned, ends.oracle)
        regret_now = 1 - judge.speedup(learned) / judge.speedup(ends.oracle)
        rows.append({
            "batch": str(batch), "best fixed": f"{judge.speedup(ends.best):.3f} ({ends.drafted})",
            "running mean": f"{judge.speedup(mean):.3f}",
            "learned": f"{judge.speedup(learned):.3f}",
            "oracle length": f"{judge.speedup(ends.oracle):.3f}",
            "best possible": f"{judge.speedup(routers.best_possible(world, batch)):.3f}",
            "learned over best fixed, %": _span((100 * ahead[0], 100 * ahead[1]), 1),
            "gap closed": f"{share:.3f} {_span(interval, 3)}",
            "regret": f"{regret_now:.3f} {_span(regret, 3)}"})
    return rows


def bound_rows(world: World, table: Table, batch: int, resamples: int) -> List[Dict[str, str]]:
    """What a router would close if an oracle told it more than the table's features."""
    ends = Ends.of(world, batch, resamples)
    rows = []

    def add(what: str, seconds: np.ndarray) -> None:
        share, interval = ends.closed(seconds)
        rows.append({"batch": str(batch), "what the router knows before the step": what,
                     "speed-up": f"{ends.judge.speedup(seconds):.3f}",
                     "gap closed": f"{share:.3f} {_span(interval, 3)}"})

    add(f"nothing: always {ends.drafted}", ends.best)
    add("the table's features", walk(world, batch, routers.goodput(table)))
    for right in (0.1, 0.25, 0.5, 0.75, 0.9):
        add(f"features, and a length that is right with chance {right:g}",
            walk(world, batch, routers.misled(table, right, seed=1)))
    for told in (2, 3, 4, 6):
        what = "whether the first draft is accepted" if told == 2 else \
            f"how many of the first {told - 1} drafts are accepted"
        add(f"features, and {what}", walk(world, batch, routers.goodput(table, told)))
    add("the length (oracle as published)", ends.oracle)
    add("all lengths to come (the best possible)", routers.best_possible(world, batch))
    return rows
