"""Races of exponential clocks: what a decided one says of a second one among the same clocks."""

import math
from dataclasses import dataclass
from typing import Dict, List


class Entangled(BaseException):
    """Numbers of a decided race are used in a way whose law is not known in closed form.

    It passes through a sampler's `except Exception`.
    """


@dataclass
class Race:
    """A race that was decided: the rate of each cell's clock, and the cell that rang first."""

    rates: Dict[int, float]
    winner: int


def second_law(first: Race, rates: Dict[int, float]) -> Dict[int, float]:
    """The law of the winner of a race with other `rates` among the clocks of a decided one.

    The first race ended at a time m, exponential with the sum of its rates and independent of the
    winner. Every other of its clocks is at m plus an exponential number that is as new. So in the
    second race clock i starts at m a_i / b_i and rings at rate b_i from then on, the first winner
    rings at m a_w / b_w exactly, and clocks that were not in the first race start at 0.
    """
    whole = sum(first.rates.values())
    starts = {cell: first.rates.get(cell, 0.0) / rate for cell, rate in rates.items()}
    end = starts.pop(first.winner, math.inf)
    law = dict.fromkeys(rates, 0.0)
    hazard = rate = last = 0.0  # The hazard grows by `rate` for each unit of time / m.

    def survives(hazard):
        return whole / (whole + hazard)

    running: List[int] = []
    for start, cell in sorted((start, cell) for cell, start in starts.items()) + [(end, None)]:
        stop = min(start, end)
        if running:
            later = hazard + rate * (stop - last)
            passed = survives(hazard) - (survives(later) if later < math.inf else 0.0)
            for one in running:
                law[one] += passed * rates[one] / rate
            hazard = later
        last = stop
        if cell is None or start >= end:
            break
        running.append(cell)
        rate += rates[cell]
    if end < math.inf:
        law[first.winner] = survives(hazard)
    return law
