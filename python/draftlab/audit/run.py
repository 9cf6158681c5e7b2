"""`dl.audit`: the battery on one sampler."""

import contextlib
import time
from dataclasses import replace
from typing import List

from draftlab.audit import laws
from draftlab.audit.catch import scripted
from draftlab.audit.episodes import Heart, length_of
from draftlab.audit.faults import SamplerFault, TooLarge, UsageError
from draftlab.audit.judge import Finding, Plan, draw, examine, law_of
from draftlab.audit.probes import draws_by_itself
from draftlab.audit.report import Report
from draftlab.audit.sampler import Sampler, sampler_of
from draftlab.audit.toys import Toy, chains, trees

# Seconds for all toys together, total variation that sampling is to find.
LEVELS = {"quick": (8.0, 0.02), "full": (240.0, 0.005)}


def audit(subject, battery: str = "quick", *, seed: int = 0, hang: float = 5.0) -> Report:
    """Judges a sampler: a function or class, marked by `dl.sampler` or not.

    hang: seconds after which a call that has not returned is ended.
    """
    if battery not in LEVELS:
        raise UsageError(f"battery = {battery!r} must be quick or full")
    sampler = sampler_of(subject)
    began = time.thread_time()
    names = [function.__globals__ for function in sampler.functions()]
    catching = contextlib.nullcontext() if sampler.asks else scripted(*names)
    with catching, Heart(hang):
        findings = _findings(sampler, battery, seed, began)
    return Report(sampler.name, battery, time.thread_time() - began, findings, sampler.published)


def toys_of(sampler: Sampler, battery: str) -> List[Toy]:
    """The toys that the sampler is judged on, smallest first."""
    if sampler.tree:
        nodes, width = 0, 1
        for children in sampler.tree:
            width *= children
            nodes += width
        most = 2 if nodes > 6 else 3 if nodes > 2 or battery == "quick" else 4
        toys = trees(tuple(range(2, most + 1)))
    else:
        toys = chains(sampler.drafts, battery)
    if len(sampler.rows) > 1:
        some = [toy for toy in toys if toy.name in ("two residual tokens", "by context")]
        toys = toys + [replace(toy, row=row, cache={}) for row in sampler.rows[1:] for toy in some]
    return toys


def _findings(sampler, battery, seed, began) -> List[Finding]:
    seconds, detectable = LEVELS[battery]
    toys = toys_of(sampler, battery)
    try:
        own = draws_by_itself(sampler, toys[0])
    except SamplerFault as fault:
        return [Finding(toys[0], "crashes", "", fault=fault.kind, note=fault.what)]
    findings: List[Finding] = []
    waiting: List[Toy] = _few(toys, battery) if own else []
    walked = [] if own else toys
    for done, toy in enumerate(walked):
        left = max(0.2, seconds - (time.thread_time() - began))
        try:
            found = examine(sampler, toy, min(left, 4 * left / (len(walked) - done)))
        except TooLarge:
            waiting.append(toy)
            if len(waiting) == 3 and len(waiting) > done:
                waiting = waiting[:-1] + walked[done:]
                break  # nothing could be walked: the rest is sampled, too
            continue
        if toy.row and found.verdict in ("biased", "crashes"):
            found = _of_row(sampler, found)
        findings.append(found)
    waiting = waiting if own else _few(waiting, battery)
    for done, toy in enumerate(waiting):
        left = max(0.2, seconds - (time.thread_time() - began))
        plan = Plan(detectable, left / (len(waiting) - done), seed * 1000 + done)
        findings.append(draw(sampler, toy, plan))
    order = {id(toy): i for i, toy in enumerate(toys)}
    return sorted(findings, key=lambda found: order.get(id(found.toy), 0))


def _few(toys: List[Toy], battery: str) -> List[Toy]:
    """Of a sampler that can only be drawn from: the toys that show most, since each takes long."""
    names = ("two residual tokens", "reversed", "zeros of the draft", "by context",
             "whole sequence", "temperature 0")
    kept = [toy for toy in toys if toy.name in names and toy.vocabulary <= 4]
    small = [toy for toy in kept if toy.vocabulary ** (toy.drafts + 1) <= 27 or toy.steps > 1]
    return (small or kept or toys)[: 4 if battery == "quick" else 6]


def _of_row(sampler: Sampler, found: Finding) -> Finding:
    """A fault in another row of the batch that row 0 does not have depends on the row."""
    toy = replace(found.toy, row=0, cache={})
    try:
        first = law_of(sampler, toy, 2.0).law
    except (SamplerFault, TooLarge):
        return found
    length = length_of(sampler, toy)
    variation = laws.total_variation(laws.completed(toy, first, length),
                                     laws.joint(toy, (), length))
    if found.verdict == "biased" and variation > found.variation / 2:
        return found
    what = found.note or f"TV {found.variation:.4g} in row {found.toy.row}, {variation:.1g} in row 0"
    return replace(found, verdict="crashes", fault="depends on the batch row", note=what)
