"""Strata: a grid over the first numbers of an episode, with two draws in every cell.

Every choice is made by a number, so an episode is a function of the cube of its numbers. The cube
is divided evenly along the numbers that matter, and as much of the result's scatter as comes from
what lies between cells is gone. Two draws a cell show what is left: how often they differ.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Callable, Iterator, List, Tuple

from draftlab.audit.numbers import Drawn, Script

_MOST_PLACES = 8  # At most so many numbers are divided.
_PROBES = 60  # Each of them is drawn again in so many episodes.


class InCell(Drawn):
    """Answers the first numbers within a cell, and the others by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.parts: Tuple[int, ...] = ()
        self.cell: Tuple[int, ...] = ()
        self.place = 0

    def enter(self, parts: Tuple[int, ...], cell: Tuple[int, ...]) -> None:
        """An episode begins in this cell of a grid of so many parts."""
        self.parts, self.cell, self.place = parts, cell, 0

    def number(self):
        value, at = super().number(), self.place
        if at >= len(self.parts):
            return value
        self.place += 1
        return (self.cell[at] + value) / self.parts[at]

    def numbers(self, count):
        values = super().numbers(count)
        for i in range(min(count, len(self.parts) - self.place)):
            values[i] = (self.cell[self.place] + values[i]) / self.parts[self.place]
            self.place += 1
        return values


def influence(episode: Callable, seed: int) -> List[float]:
    """Says of each of the first numbers how often the outcome changes when it is drawn anew."""
    source = Drawn(seed)
    changes = [0] * _MOST_PLACES
    for _ in range(_PROBES):
        stream = [source.number() for _ in range(61)]
        script = Script((), stream)
        outcome = episode(script)
        for place in range(min(_MOST_PLACES, len(script.asked))):
            other = list(stream)
            other[place] = source.number()
            changes[place] += episode(Script((), other)) != outcome
    return [count / _PROBES for count in changes]


@dataclass(frozen=True)
class Grid:
    """Cells of one size: so many parts along each place, and `repeats` cells that coincide."""

    parts: Tuple[int, ...]
    repeats: int

    @property
    def cells(self) -> int:
        return math.prod(self.parts) * self.repeats

    @property
    def divides(self) -> bool:
        return any(count > 1 for count in self.parts)

    def __iter__(self) -> Iterator[Tuple[int, ...]]:
        for _ in range(self.repeats):
            yield from itertools.product(*map(range, self.parts))


def grid(influences: List[float], cells: int) -> Grid:
    """Makes a grid of at most so many cells; the more a number changes, the finer it is divided."""
    parts = [1] * len(influences)
    open_places = {i for i, share in enumerate(influences) if share > 0}
    while open_places:
        place = max(open_places, key=lambda i: (influences[i] / parts[i], -i))
        parts[place] += 1
        if math.prod(parts) > cells:
            parts[place] -= 1
            open_places.remove(place)
    return Grid(tuple(parts), max(1, cells // math.prod(parts)))
