"""How soon `draftlab audit --log` sees a bias, and how often it raises a false alarm: prints the
table of docs/results/audits.md.

    python3 examples/audits/log_power.py [ENGINES]

So many engines are simulated for each row, with the bounds that a log is judged by. Each is looked
at after every test of its acceptances, and fifty times at its replacements; an engine counts from
the first look that calls it biased.
"""

import pathlib
import sys
from typing import Callable

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from draftlab.audit import log_sequence  # noqa: E402
from draftlab.audit.log_fit import ALPHA, _DEEP, _distance  # noqa: E402

COUNTS = (1_000, 10_000, 100_000)
BIASES = (0.0, 0.005, 0.02, 0.05, 0.1)
LOOKS = sorted({int(n) for n in np.geomspace(10, COUNTS[-1], 50)} | set(COUNTS))


def acceptance(bias: float, generator: np.random.Generator) -> float:
    """After how many tests an engine that accepts so much too often is called biased."""
    count = COUNTS[-1]
    owed = generator.uniform(0.2, 0.8, count)
    excess = np.cumsum((generator.random(count) < owed + bias) - owed)
    alarms = np.abs(excess) > BOUNDS * np.arange(1, count + 1)
    return float(np.argmax(alarms)) + 1 if alarms.any() else np.inf


def replacement(bias: float, generator: np.random.Generator) -> float:
    """The same of an engine whose replacement comes from another law with this total variation:
    so much of its mass moved from the upper half of the ranks to the lower."""
    ranks = generator.random(COUNTS[-1])
    moved = (ranks >= 0.5) & (generator.random(len(ranks)) < 2 * bias)
    ranks[moved] -= 0.5
    for count in LOOKS:
        distance, bound = _distance(ranks[:count])
        if distance > bound:
            return count
    return np.inf


BOUNDS = np.array([log_sequence.mean_bound(n, ALPHA / (_DEEP + 1))
                   for n in range(1, COUNTS[-1] + 1)])


def row(name: str, simulate: Callable, bias: float, engines: int) -> str:
    """A line of the table."""
    generator = np.random.Generator(np.random.PCG64([7, int(bias * 1000)]))
    first = np.array([simulate(bias, generator) for _ in range(engines)])
    shares = [f"{np.mean(first <= count):.3f}" for count in COUNTS]
    middle = np.median(first)
    median = f"{middle:,.0f}" if np.isfinite(middle) else "not seen"
    return f"| {name} | {bias:g} | " + " | ".join([*shares, median]) + " |"


def main() -> None:
    engines = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    head = " | ".join(f"called biased by {count:,}" for count in COUNTS)
    print(f"| what is biased | by | {head} | median |\n|---|---|" + "---|" * (len(COUNTS) + 1))
    for name, simulate in (("acceptance", acceptance), ("replacement", replacement)):
        for bias in BIASES:
            print(row(name, simulate, bias, engines), flush=True)


if __name__ == "__main__":
    main()
