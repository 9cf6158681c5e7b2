"""`dl.audit`: the battery on one sampler."""

import secrets
import time
from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Optional

from draftlab.audit.catch import scripted
from draftlab.audit.episodes import Heart
from draftlab.audit.faults import OutOfTime, SamplerFault, TooLarge, UsageError
from draftlab.audit.judge import Finding, Plan, draw, examine
from draftlab.audit.kept import of_toys, settled
from draftlab.audit.probes import draws_by_itself
from draftlab.audit.report import OUT_OF_TIME, Report, described
from draftlab.audit.sampler import Sampler, sampler_of
from draftlab.audit.sources import sources_of
from draftlab.audit.toys import MOST_DRAFTS, Toy, chains, trees


@dataclass(frozen=True)
class Level:
    """What a battery may spend. Times are the thread's own, so that a busy machine is no excuse."""

    seconds: float  # The time for all toys together.
    runs: int  # At most so many calls are spent on walking one toy.
    detectable: float  # Sampling is to find a total variation of this size.
    sampled: int  # How many toys are drawn from.


LEVELS = {"quick": Level(8.0, 60_000, 0.02, 4), "full": Level(270.0, 600_000, 0.005, 5)}
_FEWEST = 2  # So many toys are drawn from, however slow the sampler is.
_TO_WALK = 0.7  # This share of the time is for walking, where something has to be drawn, too.
_MOST_SHOWN = ("two residual tokens", "reversed", "by context", "whole sequence",
               "zeros of the draft", "temperature 0")


@dataclass(frozen=True)
class Only:
    """What the caller chose of the battery; None: all of it."""

    toy: Optional[str] = None
    drafts: Optional[int] = None


def affordable(sampler: Sampler, toy: Toy, detectable: float, seconds: float) -> int:
    """Counts the toys such as this one that can be drawn from until `detectable` is found."""
    # This takes some ten thousand draws.
    probe = draw(sampler, toy, Plan(0.08, seconds / 4, seed=7))
    if not probe.drawn:
        return 0
    more = max(1.0, probe.drawn.detectable / detectable) ** 2
    return int(seconds / (more * probe.seconds))


def audit(subject, battery: str = "quick", *, seed: Optional[int] = None, hang: float = 5.0,
          seconds: Optional[float] = None, only: Only = Only(), earlier: Optional[Report] = None,
          tell: Callable[[str], None] = lambda text: None) -> Report:
    """Judges a sampler: a function or class, marked by `dl.sampler` or not.

    seed: of what is drawn, and of the random laws; without it each audit has another, which the
    report names. hang: seconds after which a call that has not returned is ended. seconds: instead
    of the battery's own limit, for samplers that are slow. only: a part of the battery. earlier: a
    report of this sampler to go on from, with its battery, its seed and twice its time. tell: is
    told in a sentence, as soon as it is known, that the verdict is `not shown` at best.
    """
    if earlier is not None:
        battery, seed = earlier.battery, earlier.seed
        seconds = 2 * earlier.allowed if seconds is None else seconds
    if battery not in LEVELS:
        raise UsageError(f"battery = {battery!r} must be quick or full")
    level = LEVELS[battery]
    if earlier is not None:
        level = replace(level, runs=int(level.runs * max(1.0, seconds / level.seconds)))
    if seconds is not None:
        level = replace(level, seconds=seconds)
    seed = secrets.randbelow(2**31) + 1 if seed is None else seed
    sampler = sampler_of(subject)
    toys = _chosen(sampler, toys_of(sampler, battery, seed), only)
    look = Look(sampler, toys, level, seed)
    look.tell = tell
    if earlier is not None:
        look.findings = {id(found.toy): found for found in of_toys(earlier, toys)}
    with scripted(*sampler.holders()), Heart(hang):
        look.run()
    report = Report(sampler.name, battery, time.thread_time() - look.began,
                    _by_row(look.in_order()), sampler.published, allowed=level.seconds, seed=seed)
    report.seconds += earlier.seconds if earlier is not None else 0.0
    report.unseen = [(toy, look.unseen[id(toy)]) for toy in toys if id(toy) in look.unseen]
    report.sources = look.sources
    report.declared = [] if sampler.tree else list(range(1, (sampler.drafts or MOST_DRAFTS) + 1))
    return report


def _chosen(sampler: Sampler, toys: List[Toy], only: Only) -> List[Toy]:
    """Those of the toys that the caller asked for; refuses what no toy has."""
    named = [toy for toy in toys if only.toy in (None, toy.name)]
    if not named:
        names = ", ".join(dict.fromkeys(f"'{toy.name}'" for toy in toys))
        raise UsageError(f"no toy '{only.toy}' for sampler '{sampler.name}'; it has {names}")
    chosen = [toy for toy in named if only.drafts in (None, toy.drafts)]
    if not chosen:
        if sampler.tree:
            raise UsageError(f"sampler '{sampler.name}' verifies a tree, which has no k to choose")
        counts = ", ".join(str(k) for k in sorted({toy.drafts for toy in named}))
        raise UsageError(f"k = {only.drafts} must be one of {counts} for sampler "
                         f"'{sampler.name}'" + (f" and toy '{only.toy}'" if only.toy else ""))
    return chosen


def toys_of(sampler: Sampler, battery: str, seed: int = 0) -> List[Toy]:
    """The toys that the sampler is judged on, smallest first; `seed` chooses the random laws."""
    if sampler.tree:
        nodes, width = 0, 1
        for children in sampler.tree:
            width = sum(children) if isinstance(children, tuple) else width * children
            nodes += width
        most = 2 if nodes > 6 else 3 if nodes > 2 or battery == "quick" else 4
        return trees(tuple(range(2, most + 1)), seed)
    toys = [replace(toy, cuts=sampler.cuts, cache={})
            for toy in chains(sampler.drafts, battery, seed)]
    if len(sampler.rows) == 1:
        return toys
    toys = [toy for toy in toys if toy.steps == 1 or toy.drafts == 1]
    if battery == "quick":  # A batch takes several times as long.
        toys = [toy for toy in toys if toy.first or toy.vocabulary ** (toy.drafts + 1) <= 27]
    some = [toy for toy in toys if toy.name in ("two residual tokens", "by context")
            and toy.vocabulary ** (toy.drafts + 1) <= 9 and toy.steps == 1]
    return toys + [replace(toy, row=row, first=False, cache={})
                   for row in sampler.rows[1:] for toy in some]


def by_breadth(toys: List[Toy]) -> List[Toy]:
    """The order in which toys are looked at: one for every number of drafts, with laws that depend
    on the context; then those that show most; then the others, the smallest first."""
    rank = {name: i for i, name in enumerate(_MOST_SHOWN)}
    return sorted(toys, key=lambda toy: (not toy.first, toy.row > 0,
                                         rank.get(toy.name, len(rank))))


class Look:
    """Goes through the toys, broad before deep, and keeps account of what was not looked at."""

    def __init__(self, sampler: Sampler, toys: List[Toy], level: Level, seed: int):
        self.sampler, self.toys, self.level, self.seed = sampler, toys, level, seed
        self.began = time.thread_time()
        self.findings: Dict[int, Finding] = {}
        self.unseen: Dict[int, str] = {}
        self.sources: List[str] = []  # What it draws from where the audit cannot answer.
        self.tell: Callable[[str], None] = lambda text: None
        self.told = False

    def in_order(self) -> List[Finding]:
        """The findings, of the smallest toy first."""
        return [self.findings[id(toy)] for toy in self.toys if id(toy) in self.findings]

    def left(self, share: float = 1.0) -> float:
        """Seconds that remain of a share of the time."""
        return share * self.level.seconds - (time.thread_time() - self.began)

    def run(self) -> None:
        order = [toy for toy in by_breadth(self.toys) if not self._is_settled(toy)]
        for toy in [toy for toy in order if toy.first] or order[:1]:
            try:
                if draws_by_itself(self.sampler, toy) and not self.sources:
                    self.sources = sources_of(self.sampler, toy)
                    self.not_shown("it draws from " + ", ".join(self.sources))
            except SamplerFault as fault:
                self.findings[id(toy)] = Finding(toy, "crashes", "", fault=fault.kind,
                                                 note=fault.what)
                self.unseen = {id(other): "the sampler crashed before" for other in order
                               if other is not toy}
                return
        waiting = order if self.sources else self.walk(order)
        self.confirm()
        if waiting:
            self.draw(waiting)

    def _is_settled(self, toy: Toy) -> bool:
        return id(toy) in self.findings and settled(self.findings[id(toy)])

    def not_shown(self, why: str) -> None:
        """Says once, as soon as it is known, why the verdict will be `not shown` at best."""
        if not self.told:
            self.told = True
            self.tell(f"{self.sampler.name}: will be not shown at best, since {why}; --continue "
                      "FILE keeps what is walked and goes on from it")

    def walk(self, order: List[Toy]) -> List[Toy]:
        """Walks what can be walked; returns the others, with what was out of time last."""
        large: List[Toy] = []
        late: List[Toy] = []
        for place, toy in enumerate(order):
            others = sum(other.first for other in order[place:]) + 1
            seconds = self.left(_TO_WALK) / (others if toy.first else 2)
            self._try(toy, seconds, large, late)
            if len(large) >= 3 and not any(map(self._is_settled, self.toys)):
                return order  # Nothing can be walked.
        again, late = late, []
        for place, toy in enumerate(again):
            self._try(toy, self.left(1.0 if not large else _TO_WALK) / (len(again) - place), large,
                      late)
        return by_breadth(large + late)

    def _try(self, toy: Toy, seconds: float, large: List[Toy], late: List[Toy]) -> None:
        if seconds <= 0:
            late.append(toy)
            return
        try:
            self.findings[id(toy)] = examine(self.sampler, toy, self.level.runs, seconds)
        except OutOfTime:
            late.append(toy)
            self.not_shown(f"{described(toy)} was not walked in its share of "
                           f"{self.level.seconds:g} s, unless some are left in the end")
        except TooLarge as reason:
            large.append(toy)
            self.not_shown(f"{described(toy)} cannot be walked: {reason}")

    def confirm(self) -> None:
        """Draws plain numbers for one of the toys whose races were chosen, of the largest bias if
        there is one: a sampler may take the stand-in for its numbers (noise.py) otherwise."""
        raced = [found for found in self.in_order() if found.races]
        if not raced:
            return
        found = max(raced, key=lambda one: (one.verdict == "biased" and one.variation,
                                            one.toy.first))
        again = draw(self.sampler, found.toy, Plan(0.05, 0.1 * self.level.seconds, self.seed))
        if again.verdict == "not shown" and not (
                found.verdict == "biased" and found.variation > again.drawn.detectable):
            return
        if again.verdict != found.verdict:
            again.note = "its numbers were drawn: walked with races as choices it is " \
                         f"{found.verdict}, which is not its law"
            self.findings[id(found.toy)] = again

    def draw(self, waiting: List[Toy]) -> None:
        """Draws from one toy for every number of drafts, and from as many more as there is time
        for."""
        small = [toy for toy in waiting if toy.vocabulary ** (toy.drafts + 1) <= 27 or toy.first]
        order = small or waiting
        must = max(_FEWEST, sum(toy.first for toy in order))
        chosen = order[: max(must, self.level.sampled)]
        if len(chosen) > must:
            chosen = chosen[: max(must, affordable(self.sampler, chosen[0], self.level.detectable,
                                                   max(0.2, self.left())))]
        for done, toy in enumerate(chosen):
            plan = Plan(self.level.detectable, max(0.2, self.left()) / (len(chosen) - done),
                        self.seed * 1000 + done)
            self.findings[id(toy)] = draw(self.sampler, toy, plan)
        late = self.left() < 0.02 * self.level.seconds
        why = OUT_OF_TIME if late else "cannot be walked, and others were drawn from"
        self.unseen.update({id(toy): why for toy in waiting if id(toy) not in self.findings})


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
