"""One sampler on one toy: which depth applies, and what was found."""

import time
from dataclasses import dataclass, replace
from typing import Callable, Optional, Tuple

import numpy as np

from draftlab.audit import laws, precision
from draftlab.audit.episodes import episode_of, length_of
from draftlab.audit.faults import SamplerFault, TooLarge
from draftlab.audit.sampled import Plan, Sampled, sample
from draftlab.audit.sampler import Sampler
from draftlab.audit.toys import Toy
from draftlab.audit.walk import SELDOM, Budget, Walk, walk

ENUMERATED = 1e-12  # A total variation below this counts as none where the law was enumerated.
BISECTED = 1e-9
_OUTCOMES_DRAWN = 81  # Of a law that is drawn from, the first tokens of so many outcomes.
_ROUNDING = 1e-5  # A difference below this may be that of float32.


@dataclass(frozen=True)
class Rounding:
    """A total variation that the sampler's arithmetic, or that of its inputs, explains."""

    variation: float
    where: str
    gone: bool = True  # Float64 took it away; else it could not be run in float64.

    def __str__(self) -> str:
        if self.gone:
            return (f"numerical, no bias: {self.where} cost TV {self.variation:.2g}, float64 none")
        return (f"differs by TV {self.variation:.2g}, which rounding to float32 explains; its "
                "arithmetic could not be run in float64")


@dataclass
class Finding:
    """What one toy showed."""

    toy: Toy
    verdict: str  # One of "exact", "biased", "not shown" and "crashes".
    depth: str  # One of "enumerated", "bisected", "stratified" and "sampled".
    seconds: float = 0.0
    variation: float = float("nan")
    event: Optional[laws.Event] = None
    runs: int = 0
    drawn: Optional[Sampled] = None
    fault: str = ""
    note: str = ""
    # The law that came out and the target's, of a bias; an axis a token.
    emitted: Optional[np.ndarray] = None
    target: Optional[np.ndarray] = None
    # A token of probability zero that came out, however seldom.
    forbidden: Optional[laws.Event] = None
    races: bool = False  # The winners of races were chosen, and their numbers never drawn.
    rounding: Optional[Rounding] = None
    chance: float = 0.0  # The probability of a fault that only the ends of [0, 1) have.

    @property
    def of_arithmetic(self) -> bool:
        """The rule is right, and a number at an end of [0, 1) accepts what it should not, or ends
        in a fault."""
        if self.verdict == "crashes":
            return self.chance > 0
        return self.verdict == "biased" and self.forbidden is not None and self.variation < SELDOM

    @property
    def rule(self) -> str:
        """The verdict on the rule alone."""
        return "exact" if self.of_arithmetic else self.verdict


def examine(sampler: Sampler, toy: Toy, runs: int, seconds: float) -> Finding:
    """The verdict on a toy whose law takes at most `runs` calls to walk; raises TooLarge."""
    return _timed(toy, lambda: _walked(Walks(sampler, toy, runs, seconds)))


def draw(sampler: Sampler, toy: Toy, plan: Plan) -> Finding:
    """The verdict on a toy that is drawn from."""
    return _timed(toy, lambda: _drawn(sampler, toy, plan))


def _timed(toy: Toy, judge: Callable[[], Finding]) -> Finding:
    began = time.thread_time()
    try:
        with np.errstate(all="ignore"):
            found = judge()
    except SamplerFault as fault:
        found = Finding(toy, "crashes", "", fault=fault.kind, note=fault.what)
    found.seconds = time.thread_time() - began
    return found


def _drawn(sampler, toy, plan) -> Finding:
    length = length_of(sampler, toy, _OUTCOMES_DRAWN)

    def sampled(world):
        return sample(episode_of(sampler, world, length), world, length, plan)

    drawn = sampled(toy)
    if drawn.biased and toy.precision == "bf16":
        again = sampled(replace(toy, precision="rounded", cache={}))
        if not again.biased:
            cost = Rounding(drawn.variation, "bf16 inputs")
            return Finding(toy, "not shown", again.depth, variation=drawn.variation, drawn=again,
                           runs=again.draws, note=str(cost), rounding=cost)
    if not drawn.biased:
        return Finding(toy, "not shown", drawn.depth, variation=drawn.variation, runs=drawn.draws,
                       drawn=drawn)
    found, target = drawn.law, laws.joint(toy, (), length)
    return Finding(toy, "biased", drawn.depth, variation=drawn.variation, event=drawn.event,
                   runs=drawn.draws, drawn=drawn, emitted=found, target=target,
                   forbidden=laws.forbidden_event(found, target))


@dataclass
class Walks:
    """Walks a sampler's law on a toy, as often as a verdict needs."""

    sampler: Sampler
    toy: Toy
    runs: int
    seconds: float
    noise: bool = True  # Races are choices.

    def law(self, toy: Toy, points: int = 12) -> Tuple[Walk, np.ndarray]:
        """The walk, and the law of the whole length. A sampler that breaks on noise that was not
        drawn yet (`noise.py`) gets plain arrays instead."""
        length = length_of(self.sampler, toy)
        episode, budget = episode_of(self.sampler, toy), Budget(self.runs, self.seconds)
        try:
            walked = walk(episode, budget, points, self.noise)
        except SamplerFault:
            if not self.noise:
                raise
            self.noise = False
            walked = walk(episode, budget, points, noise=False)
        return walked, laws.completed(toy, walked.law, length)

    def variation(self, toy: Toy) -> float:
        """The total variation to the target."""
        found = self.law(toy)[1]
        return laws.total_variation(found, laws.joint(toy, (), found.ndim))


def _walked(walks: Walks) -> Finding:
    toy = walks.toy
    walked, found = walks.law(toy)
    target = laws.joint(toy, (), found.ndim)
    tolerance = (BISECTED if walked.numbers else ENUMERATED) + walked.dropped
    variation, passes = laws.total_variation(found, target), laws.forbidden_event(found, target)
    rounding = _rounding(walks, variation, tolerance) if not passes else None
    explained = (rounding and rounding.gone) or (passes and variation < SELDOM)
    if walked.numbers and variation > tolerance and not explained:
        walked, found = _finer(walks, found, target, tolerance)
        variation = laws.total_variation(found, target)
        passes = laws.forbidden_event(found, target)
        rounding = _rounding(walks, variation, tolerance) if not passes else None
    made = Finding(toy, "exact", "bisected" if walked.numbers else "enumerated",
                   variation=variation, runs=walked.runs, races=walked.races,
                   forbidden=passes)
    if variation > tolerance and not passes:
        made.rounding = rounding
        made.note = str(made.rounding) if made.rounding else ""
        made.verdict = ("biased" if made.rounding is None else
                        "exact" if made.rounding.gone else "not shown")
    if made.forbidden or made.verdict == "biased":
        made.verdict, made.emitted, made.target = "biased", found, target
        made.event = made.forbidden if variation <= _ROUNDING and made.forbidden else \
            laws.first_event(found, target)
    if walked.chance and made.verdict == "exact":
        made.verdict, made.fault, made.chance = "crashes", walked.fault.kind, walked.chance
        made.note = f"{walked.fault.what}; with probability {walked.chance:.2g}, where a number " \
            "is at an end of [0, 1)"
    return made


def _finer(walks: Walks, found, target, tolerance) -> Tuple[Walk, np.ndarray]:
    """The law on finer grids: a cell that the first grid missed would look like a bias."""
    walks.runs *= 8
    for points in (89, 181):
        before, (walked, found) = found, walks.law(walks.toy, points)
        agree = laws.total_variation(found, before) <= BISECTED
        if agree or laws.total_variation(found, target) <= tolerance:
            return walked, found
    raise TooLarge("the uniforms have borders that are too close to find")


def _rounding(walks: Walks, variation: float, tolerance: float) -> Optional[Rounding]:
    """What float64 makes go away: then it is arithmetic and no bias. None where it stays."""
    if variation <= tolerance:
        return None
    plain = walks.toy
    if plain.precision == "bf16":
        plain = replace(plain, precision="rounded", cache={})
        if walks.variation(plain) <= tolerance:
            return Rounding(variation, "bf16 inputs")
    elif variation > _ROUNDING:
        return None
    with precision.float64():
        if walks.variation(plain) <= tolerance:
            return Rounding(variation, "its own arithmetic")
    if variation <= _ROUNDING / 10:
        return Rounding(variation, "its own arithmetic", gone=False)
    return None
