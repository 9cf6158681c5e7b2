"""Batches as the simulator of SpecDecode-Bench runs them: one request, copied B times.

All copies commit the same tokens, so a batch goes in lock-step. What its rules are is told in
docs/GPU.md; they are kept even where they could be better, so that its numbers can be met.
"""

import random
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy as np

from draftlab.simulate.acceptance import Request
from draftlab.simulate.cost import CostSurface

SEED, SAMPLED = 42, 300  # The authors' seed, and how many requests they sample.


@dataclass(frozen=True)
class Setting:
    """One simulation: `drafted` tokens a step, or None for as many as will be accepted.

    A step of a lookup that accepts nothing has a draft with probability `match`.
    """

    cost: CostSurface
    proposer: str
    batch: int
    drafted: Optional[int]
    match: float = 1.0


def plain_seconds(cost: CostSurface, batch: int, prompt: int, generated: int) -> float:
    """The seconds of `batch` copies of a request without drafts."""
    steps = generated - 1
    cached = batch * (prompt + 1 + np.arange(steps))
    return float(cost.prefill(batch * prompt)
                 + np.sum(cost.target.seconds(cached, batch) + cost.engine))


def _step(setting: Setting, request: Request, made: int, drawn: random.Random) -> Tuple[float, int]:
    """The mean seconds over the copies of the step behind `made` tokens, and what it commits."""
    cost, batch = setting.cost, setting.batch
    lengths = request.lengths[setting.proposer]
    possible = int(lengths[made - 1])
    rows = possible if setting.drafted is None else setting.drafted + 1
    cached = batch * (request.prompt + made)
    drafting = batch
    if setting.match < 1 and setting.drafted is not None and possible == 1:
        drafting = sum(drawn.random() < setting.match for _ in range(batch))
    target = cost.target.seconds(cached, drafting * rows + batch - drafting)
    commits = min(possible, rows)
    # Their loop charges a copy's draft after the caches of the copies before it have changed.
    change = commits if made + commits < len(lengths) else -(request.prompt + made)
    seen = cached + change * (batch - 1) / 2
    draft = cost.draft(setting.proposer).seconds(target, seen, rows) * drafting / batch
    if rows == 1 and not cost.draft(setting.proposer).always:
        draft = 0.0
    return float(target + draft + cost.engine), commits


def drafted_seconds(setting: Setting, request: Request, drawn: random.Random) -> float:
    """The seconds of the copies of a request with drafts."""
    seconds = float(setting.cost.prefill(setting.batch * request.prompt))
    made = 1
    while made < request.generated(setting.proposer):
        more, commits = _step(setting, request, made, drawn)
        seconds += more
        made += commits
    return seconds


def speedup(setting: Setting, requests: Sequence[Request]) -> float:
    """The mean throughput of sampled requests with drafts over that without."""
    drawn = random.Random(SEED)
    sample: List[Request] = drawn.sample(list(requests), min(SAMPLED, len(requests)))
    with_drafts, without = [], []
    for request in sample:
        tokens = request.generated(setting.proposer)
        with_drafts.append(tokens / drafted_seconds(setting, request, drawn))
        without.append(tokens / plain_seconds(setting.cost, setting.batch, request.prompt, tokens))
    return float(np.mean(with_drafts) / np.mean(without))
