"""`dl.audit`: the battery on one sampler."""

import contextlib
import time
from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Tuple

from draftlab.audit.catch import scripted
from draftlab.audit.episodes import Heart
from draftlab.audit.faults import OutOfTime, SamplerFault, TooLarge, UsageError
from draftlab.audit.judge import Finding, Plan, draw, examine
from draftlab.audit.probes import draws_by_itself
from draftlab.audit.report import Report
from draftlab.audit.sampler import Sampler, sampler_of
from draftlab.audit.toys import Toy, chains, trees


@dataclass(frozen=True)
class Level:
    """What a battery may spend. Times are the thread's own, so that a busy machine is no excuse."""

    seconds: float  # The time for all toys together.
    runs: int  # At most so many calls are spent on walking one toy.
    detectable: float  # Sampling is to find a total variation of this size.
    sampled: int  # How many toys are drawn from.


LEVELS = {"quick": Level(8.0, 60_000, 0.02, 4), "full": Level(270.0, 600_000, 0.005, 5)}
_FEWEST = 2  # So many toys are drawn from, however slow the sampler is.
_MOST_DRAWN = ("two residual tokens", "reversed", "by context", "whole sequence",
               "zeros of the draft", "temperature 0")


def affordable(sampler: Sampler, toy: Toy, detectable: float, seconds: float) -> int:
    """Counts the toys such as this one that can be drawn from until `detectable` is found."""
    # This takes some ten thousand draws.
    probe = draw(sampler, toy, Plan(0.08, seconds / 4, seed=7))
    if not probe.drawn:
        return 0
    more = max(1.0, probe.drawn.detectable / detectable) ** 2
    return int(seconds / (more * probe.seconds))


def audit(subject, battery: str = "quick", *, seed: int = 0, hang: float = 5.0,
          seconds: Optional[float] = None) -> Report:
    """Judges a sampler: a function or class, marked by `dl.sampler` or not.

    seed: of what is drawn, and of the random laws of the full battery. hang: seconds after which a
    call that has not returned is ended. seconds: instead of the battery's own limit, for samplers
    that are slow.
    """
    if battery not in LEVELS:
        raise UsageError(f"battery = {battery!r} must be quick or full")
    level = LEVELS[battery]
    if seconds is not None:
        level = replace(level, seconds=seconds)
    sampler = sampler_of(subject)
    began = time.thread_time()
    names = [function.__globals__ for function in sampler.functions()]
    catching = contextlib.nullcontext() if sampler.asks else scripted(*names)
    with catching, Heart(hang):
        findings, hurried = _findings(sampler, battery, level, seed, began)
    return Report(sampler.name, battery, time.thread_time() - began, _by_row(findings),
                  sampler.published, hurried, level.seconds)


def toys_of(sampler: Sampler, battery: str, seed: int = 0) -> List[Toy]:
    """The toys that the sampler is judged on, smallest first; `seed` chooses the random laws of the
    full battery."""
    if sampler.tree:
        nodes, width = 0, 1
        for children in sampler.tree:
            width *= children
            nodes += width
        most = 2 if nodes > 6 else 3 if nodes > 2 or battery == "quick" else 4
        return trees(tuple(range(2, most + 1)))
    toys = chains(sampler.drafts, battery, seed)
    if len(sampler.rows) == 1:
        return toys
    toys = [toy for toy in toys if toy.steps == 1 or toy.drafts == 1]
    if battery == "quick":  # A batch takes several times as long.
        toys = [toy for toy in toys if toy.vocabulary ** (toy.drafts + 1) <= 27]
    some = [toy for toy in toys if toy.name in ("two residual tokens", "by context")
            and toy.vocabulary ** (toy.drafts + 1) <= 9 and toy.steps == 1]
    return toys + [replace(toy, row=row, cache={}) for row in sampler.rows[1:] for toy in some]


def _findings(sampler, battery, level, seed, began) -> Tuple[List[Finding], int]:
    """Of the toys; and how many were drawn from since the time did not suffice to walk them."""
    toys = toys_of(sampler, battery, seed)
    try:
        own = draws_by_itself(sampler, toys[0])
    except SamplerFault as fault:
        return [Finding(toys[0], "crashes", "", fault=fault.kind, note=fault.what)], 0

    def left() -> float:
        return max(0.2, level.seconds - (time.thread_time() - began))

    hurried = 0
    findings: List[Finding] = []
    waiting: List[Toy] = list(toys) if own else []
    for done, toy in enumerate([] if own else toys):
        try:
            findings.append(examine(sampler, toy, level.runs, left()))
        except TooLarge as reason:
            waiting.append(toy)
            hurried += isinstance(reason, OutOfTime)
            if len(waiting) == 3 and len(findings) == 0:
                waiting += toys[done + 1 :]
                break  # Nothing can be walked, so all toys are drawn from.
    chosen = _few(waiting, level.sampled)
    if len(chosen) > _FEWEST:
        chosen = chosen[: max(_FEWEST, affordable(sampler, chosen[0], level.detectable, left()))]
    for done, toy in enumerate(chosen):
        plan = Plan(level.detectable, left() / (len(chosen) - done), seed * 1000 + done)
        findings.append(draw(sampler, toy, plan))
    order = {id(toy): i for i, toy in enumerate(toys)}
    return sorted(findings, key=lambda found: order[id(found.toy)]), hurried


def _few(toys: List[Toy], most: int) -> List[Toy]:
    """Returns the toys that show most of what can only be drawn, since each takes long."""
    small = [toy for toy in toys if toy.vocabulary ** (toy.drafts + 1) <= 27]
    rank = {name: i for i, name in enumerate(_MOST_DRAWN)}
    return sorted(small or toys, key=lambda toy: rank.get(toy.name, len(rank)))[:most]


def _by_row(findings: List[Finding]) -> List[Finding]:
    """A fault that a toy has in one row of the batch and not in another depends on the row."""
    rows: Dict[tuple, List[Finding]] = {}
    for found in findings:
        toy = found.toy
        rows.setdefault((toy.name, toy.vocabulary, toy.drafts, toy.steps), []).append(found)
    made = []
    for found in findings:
        toy = found.toy
        group = rows[toy.name, toy.vocabulary, toy.drafts, toy.steps]
        right = [other for other in group if other.verdict in ("exact", "not shown")]
        if found.verdict in ("biased", "crashes") and right and right[0].toy.row != toy.row:
            what = found.note or f"TV {found.variation:.4g}"
            found = replace(found, verdict="crashes", fault="depends on the batch row",
                            note=f"{what} in row {toy.row}, none in row {right[0].toy.row}")
        made.append(found)
    return made
