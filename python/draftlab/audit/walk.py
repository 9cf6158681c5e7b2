"""The exact law of an episode: every choice enumerated, every uniform divided where it matters.

An episode is a function of a `Numbers` that returns an outcome. Choices (`below`, `draw`) are
enumerated. A uniform is bisected: the answers to a set of continuations are compared at points of
[0, 1), and where they differ the border is found by bisection to 2^-37. A border may matter only
where a later number is rare: where what follows beside a later border depends on the numbers
before, that continuation joins the set, and the walk begins anew. Between two borders nothing may
change; where something does, the uniform is no threshold (a product of two numbers), and
`TooLarge` tells the caller to sample. The ends of [0, 1), 0 and the last double
before 1, are played by themselves: a token that comes out there alone has probability 2^-53. A
fault there is an outcome, too, whose probability is known; anywhere else it ends the walk.
"""

import time
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Tuple

from draftlab.audit.faults import OutOfTime, SamplerFault, TooLarge
from draftlab.audit.numbers import Script, streams
from draftlab.audit.races import Entangled

# A branch of less mass than this is dropped, and the mass is reported.
SMALLEST_MASS = 1e-14
_WIDTH = 2.0**-37
# A number of [0, 1) is the first or the last that a double has there with this probability.
_TICK = 2.0**-53
_ENDS = (0.0, 1.0 - _TICK)
_STREAMS = streams(4)
_FRESH = streams(7)[4:]
_REMEMBERED = 12  # So many borders are tried where another is looked for.
_AGAIN = 24  # About so many episodes are played again in the end.
_NEAR = 2.0**-31  # Whether a border stays is tested so far beside it.
SELDOM = 1e-6  # So near to an end of [0, 1), a number comes of the arithmetic's resolution.
# The other numbers are put at these places of their cells, and at the last ones where a cell is not
# so narrow that they would be within what a border is known to.
_PARTS = ((0.11, 0.83, 0.37), (0.92, 0.06, 0.58), (1e-6, 1 - 1e-6, 1e-6),
          (1 - 1e-6, 1e-6, 1 - 1e-6))
_NARROW = 1e-4
_MOST_STREAMS = 12  # Continuations of a walk; it is begun anew for each beyond the first four.


@dataclass
class Walk:
    """A law, and what it took to find it."""

    law: Dict[Tuple, float] = field(default_factory=dict)
    runs: int = 0
    numbers: bool = False  # If uniforms were asked, the law is exact to about 1e-10 only.
    dropped: float = 0.0
    races: bool = False  # If the winner of a race was chosen, its numbers were never drawn.
    # A fault at the ends of [0, 1) alone, and its probability.
    fault: Optional[SamplerFault] = None
    chance: float = 0.0


class Another(Exception):
    """A continuation under which a number has a border that the others do not show."""

    def __init__(self, stream: List[float]):
        super().__init__()
        self.stream = stream


class Walker:
    """Walks one episode."""

    def __init__(self, episode: Callable, budget: "Budget", points: int, noise: bool):
        self.episode = episode
        self.most_runs = budget.runs
        self.deadline = time.thread_time() + budget.seconds
        self.noise = noise
        self.grid = [(i + 0.5) / points for i in range(points)]
        self.walk = Walk()
        self.leaves: List[Tuple[List, Tuple]] = []
        self.known: List[float] = []  # The borders that were found last: many come again.
        self.streams = [list(stream) for stream in _STREAMS]

    def play(self, prefix, stream=_STREAMS[0]):
        self.walk.runs += 1
        if self.walk.runs > self.most_runs:
            raise TooLarge(f"the law has more than {self.most_runs} branches")
        if self.walk.runs % 256 == 0 and time.thread_time() > self.deadline:
            raise OutOfTime("the law takes too long to enumerate")
        script = Script(prefix, stream, self.noise)
        try:
            outcome = self.episode(script)
        except Entangled as reason:
            raise TooLarge(str(reason)) from None
        except SamplerFault as fault:
            if not any(map(_at_an_end, prefix)):
                raise
            self.walk.fault = fault
            outcome = (fault.kind,)
        if script.entangled:
            raise TooLarge("the noise of a race is used again")
        self.walk.races |= script.cells is not None and bool(script.cells.races)
        return outcome, script

    def run(self) -> Walk:
        while True:
            try:
                return self.once()
            except Another as more:
                if len(self.streams) == _MOST_STREAMS:
                    raise TooLarge("the border of one number depends on another") from None
                self.streams.append(more.stream)
                self.walk, self.leaves = Walk(runs=self.walk.runs), []

    def once(self) -> Walk:
        # A prefix of answers, the cell of each number in it (None for a choice), its mass.
        stack: List[Tuple[List, List, float]] = [([], [], 1.0)]
        law = self.walk.law
        while stack:
            prefix, spans, mass = stack.pop()
            at_an_end = any(span is not None and span[1] == 0 for span in spans)
            least = SMALLEST_MASS * (_TICK if at_an_end else 1.0)
            outcome, script = self.play(prefix)
            for at in range(len(prefix), len(script.asked)):
                known = script.asked[at]
                before = script.values[:at]
                spans = spans + [None] * (at - len(spans))
                if known is None:
                    self.walk.numbers = True
                    for start, width in self.cells(before, spans):
                        stack.append((before + [start + width / 2], spans + [(start, width)],
                                      mass * width))
                    if not at_an_end:
                        stack += [(before + [u], spans + [(u, 0.0)], mass * _TICK)
                                  for u in self.lone_ends(before)]
                    break
                for value, p in enumerate(known):
                    if value == script.values[at] or p == 0:
                        continue
                    if mass * p < least:
                        self.walk.dropped += mass * p
                    else:
                        stack.append((before + [value], spans + [None], mass * p))
                mass *= known[script.values[at]]
                if mass < least:
                    self.walk.dropped += mass
                    break
            else:
                if isinstance(outcome[0], str):
                    self.walk.chance += mass
                else:
                    law[outcome] = law.get(outcome, 0.0) + mass
                self.leaves.append((script.values, outcome))
        self.play_again()
        return self.walk

    def play_again(self) -> None:
        """Raises SamplerFault where numbers that were played before give another outcome now."""
        for values, outcome in self.leaves[:: max(1, len(self.leaves) // _AGAIN)]:
            later = self.play(values)[0]
            if later != outcome:
                raise SamplerFault(
                    "state leaks", f"the same drafts and the same numbers gave {list(outcome)} "
                    f"and, {self.walk.runs:,} calls later at most, {list(later)}: it keeps state "
                    "between calls, or draws numbers that the audit does not see")

    def lone_ends(self, before) -> List[float]:
        """The ends of [0, 1) at which another answer is given than beside them."""
        return [end for end in _ENDS
                if self.signature(before, end) != self.signature(before, abs(end - 2.0**-40))]

    def answer(self, before, u, stream):
        """Returns what follows the number `u`: the outcome, and every law asked on the way."""
        outcome, script = self.play(before + [u], stream)
        later = script.asked[len(before) + 1 :]
        laws = tuple(None if law is None else tuple(round(p, 11) for p in law) for law in later)
        return outcome, laws

    def signature(self, before, u, against=None):
        against = self.streams if against is None else against
        first = self.answer(before, u, against[0])
        if not first[1]:  # Nothing is asked after u, so no continuation can differ.
            return (first,) * len(against)
        return (first,) + tuple(self.answer(before, u, stream) for stream in against[1:])

    def cells(self, before, spans) -> List[Tuple[float, float]]:
        """(start, width) of each part of [0, 1) in which the next number makes no difference.

        Every point of the grid is compared under one continuation, every third under all.
        """
        points = [2.0**-40] + self.grid + [1 - 2.0**-40]
        known = []
        for i, u in enumerate(points):
            whole = i % 3 == 0 or i == len(points) - 1
            against = self.streams if whole else self.streams[:1]
            known.append((u, self.signature(before, u, against)))
        borders: List[Tuple[float, List[float]]] = []
        coarse = [pair for pair in known if len(pair[1]) > 1]
        for pairs in (known, coarse):
            for (low, at_low), (high, at_high) in zip(pairs, pairs[1:]):
                if not any(low < border < high for border, _ in borders):
                    self.divide(before, low, at_low, high, at_high, borders)
        self.check_borders(before, spans, borders)
        edges = [0.0] + sorted(border for border, _ in borders) + [1.0]
        cells = [(a, b - a) for a, b in zip(edges, edges[1:]) if b > a]
        for start, width in cells:
            if width > 1e-6 and len({self.signature(before, start + width * part, _FRESH)
                                     for part in (0.03, 0.47, 0.96)}) > 1:
                raise TooLarge("a number is more than a threshold")
        return cells

    def check_borders(self, before, spans, borders) -> None:
        """Raises Another where what follows beside a border changes when the numbers before move
        within their cells."""
        if not any(spans):
            return
        for border, stream in borders:
            for near in (max(border - _NEAR, 0.0), min(border + _NEAR, 1.0 - _NEAR)):
                here = self.answer(before, near, stream)
                for parts in _PARTS:
                    moved = [value if span is None else _within(span, parts[i % len(parts)])
                             for i, (value, span) in enumerate(zip(before, spans))]
                    if self.answer(moved, near, stream) != here:
                        raise Another(self.stream_of(before + [near], stream))

    def stream_of(self, prefix, stream) -> List[float]:
        """A continuation that gives these answers."""
        script = self.play(prefix, stream)[1]
        made = list(stream)
        for at, (value, law) in enumerate(zip(prefix, script.asked)):
            made[at % len(made)] = value if law is None else sum(law[:value]) + law[value] / 2
        return made

    def divide(self, before, low, at_low, high, at_high, borders) -> None:
        """Appends the borders between two points at which the answers differ."""
        differ = [i for i, (one, other) in enumerate(zip(at_low, at_high)) if one != other]
        if not differ:
            return
        if len(borders) > 40:
            raise TooLarge("a number is more than a threshold")
        stream = self.streams[differ[0]]
        left, right = low, high
        at_left = at_low[differ[0]]
        guesses = [side for border in self.known for side in (border - 0.4 * _WIDTH,
                                                              border + 0.4 * _WIDTH)]
        while right - left > _WIDTH:
            guesses = [guess for guess in guesses if left < guess < right]
            middle = guesses.pop() if guesses else (left + right) / 2
            if self.answer(before, middle, stream) == at_left:
                left = middle
            else:
                right = middle
        borders.append(((left + right) / 2, stream))
        self.known = [(left + right) / 2, *self.known[: _REMEMBERED - 1]]
        self.divide(before, low, at_low, left, self.signature(before, left), borders)
        self.divide(before, right, self.signature(before, right), high, at_high, borders)


def _within(span, part: float) -> float:
    """A number of a cell, so far behind its beginning."""
    start, width = span
    return start + width * (part if width > _NARROW else 0.5)


def _at_an_end(value) -> bool:
    """Whether an answer is a number that is so near to 0 or 1; choices are whole numbers."""
    return isinstance(value, float) and not SELDOM < value < 1 - SELDOM


@dataclass
class Budget:
    """What walking one law may take."""

    runs: int
    seconds: float


def walk(episode: Callable, budget: Budget, points: int = 12, noise: bool = True) -> Walk:
    """The law of `episode`; raises TooLarge where it cannot be walked within the budget.

    noise: arrays of numbers are drawn when somebody looks at them, and the winners of races are
    choices; without it they are arrays of numpy from the start.
    """
    return Walker(episode, budget, points, noise).run()
