"""One sampler on one toy: which depth applies, and what was found."""

import time
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from draftlab.audit import laws, precision
from draftlab.audit.episodes import episode_of, length_of
from draftlab.audit.faults import SamplerFault, TooLarge
from draftlab.audit.sampled import Sampled, sample
from draftlab.audit.sampler import Sampler
from draftlab.audit.toys import Toy
from draftlab.audit.walk import Walk, walk

ENUMERATED = 1e-12  # the total variation of an enumerated law that counts as none
BISECTED = 1e-9
_ROUNDING = 1e-5  # below it, a difference may be that of float32
_MOST_RUNS = 2_000_000


@dataclass
class Budget:
    """What an audit may spend."""

    walk_seconds: float  # on walking one toy
    draw_seconds: float  # on drawing from one toy
    detectable: float  # total variation that sampling is to find
    seed: int


@dataclass
class Finding:
    """What one toy showed."""

    toy: Toy
    verdict: str  # exact, biased, not shown, crashes
    depth: str  # enumerated, bisected, sampled
    seconds: float = 0.0
    variation: float = float("nan")
    event: Optional[laws.Event] = None
    runs: int = 0
    drawn: Optional[Sampled] = None
    fault: str = ""
    note: str = ""


def examine(sampler: Sampler, toy: Toy, budget: Budget, own_numbers: bool) -> Finding:
    """The verdict on one toy. `own_numbers`: it draws by itself where nobody can catch it."""
    began = time.thread_time()
    try:
        with np.errstate(all="ignore"):
            found = _examine(sampler, toy, budget, own_numbers)
    except SamplerFault as fault:
        found = Finding(toy, "crashes", "", fault=fault.kind, note=fault.what)
    found.seconds = time.thread_time() - began
    return found


def _examine(sampler, toy, budget, own_numbers) -> Finding:
    if not own_numbers:
        try:
            return _walked(sampler, toy, budget)
        except TooLarge:
            pass
    drawn = sample(episode_of(sampler, toy), toy, length_of(sampler, toy), budget.detectable,
                   budget.draw_seconds, budget.seed)
    verdict = "biased" if drawn.biased else "not shown"
    if drawn.biased and toy.precision == "bf16":
        plain = replace(toy, precision="rounded", cache={})
        again = sample(episode_of(sampler, plain), plain, length_of(sampler, plain),
                       budget.detectable, budget.draw_seconds, budget.seed)
        if not again.biased:
            return Finding(toy, "not shown", "sampled", variation=drawn.variation, drawn=again,
                           runs=again.draws, note=_numerical(drawn.variation, "bf16 inputs"))
    return Finding(toy, verdict, "sampled", variation=drawn.variation, event=drawn.event,
                   runs=drawn.draws, drawn=drawn)


def law_of(sampler: Sampler, toy: Toy, budget: Budget, points: int = 16) -> Walk:
    """The law of what the sampler emits, walked."""
    return walk(episode_of(sampler, toy), _MOST_RUNS, budget.walk_seconds, points)


def _walked(sampler, toy, budget) -> Finding:
    walked = law_of(sampler, toy, budget)
    length = length_of(sampler, toy)
    target = laws.joint(toy, (), length)
    found = laws.completed(toy, walked.law, length)
    variation = laws.total_variation(found, target)
    tolerance = (BISECTED if walked.numbers else ENUMERATED) + walked.dropped
    depth = "bisected" if walked.numbers else "enumerated"
    if variation <= tolerance:
        return Finding(toy, "exact", depth, variation=variation, runs=walked.runs)
    if walked.numbers:  # a cell that the grid missed would look like a bias
        finer = law_of(sampler, toy, budget, points=89)
        again = laws.completed(toy, finer.law, length)
        if laws.total_variation(found, again) > BISECTED:
            raise TooLarge("the uniforms have borders that are too close to find")
    rounding = _rounding(sampler, toy, budget, variation, tolerance)
    if rounding:
        verdict = "exact" if rounding.startswith("numerical") else "not shown"
        return Finding(toy, verdict, depth, variation=variation, runs=walked.runs, note=rounding)
    return Finding(toy, "biased", depth, variation=variation, runs=walked.runs,
                   event=laws.first_event(found, target))


def _rounding(sampler, toy, budget, variation, tolerance) -> str:
    """Says so where float64 makes the difference go away: then it is arithmetic and no bias."""
    plain = toy
    if toy.precision == "bf16":
        plain = replace(toy, precision="rounded", cache={})
        if _variation(sampler, plain, budget) <= tolerance:
            return _numerical(variation, "bf16 inputs")
    if variation > _ROUNDING and toy.precision != "bf16":
        return ""
    with precision.float64():
        if _variation(sampler, plain, budget) <= tolerance:
            return _numerical(variation, "its own arithmetic")
    if variation <= _ROUNDING / 10:
        return (f"differs by TV {variation:.2g}, which rounding to float32 explains; its "
                "arithmetic could not be run in float64")
    return ""


def _variation(sampler, toy, budget) -> float:
    length = length_of(sampler, toy)
    found = laws.completed(toy, law_of(sampler, toy, budget).law, length)
    return laws.total_variation(found, laws.joint(toy, (), length))


def _numerical(variation: float, where: str) -> str:
    return f"numerical, no bias: {where} cost TV {variation:.2g}, float64 none"
