"""Every verdict: how probably each draft is accepted, the random number that decided, and the walk
over the decisions."""

from typing import List

import numpy as np

from draftlab.recheck.acceptance import probability
from draftlab.recheck.agreement import Agreement, close
from draftlab.recheck.random_numbers import ACCEPT, uniform
from draftlab.recheck.record import STOPS, Sample, Settings, Step

# A uniform this near to the probability was decided by digits that a float32 does not have.
_TIE = 2.0 ** -22
# These walk from the root along what was accepted; a position is tried at one node.
_WALKS = ("chain", "k-seq", "own-draw")


def _judged(step: Step) -> List[int]:
    """The drafts that were tested: reached, and not the target's own draws."""
    return [draft for draft in range(int(step.row["exact"]), step.drafted)
            if step.drafts["accepted"][draft] != -1]


def _probabilities(sample: Sample, step: Step, found: Agreement) -> None:
    settings = sample.settings
    for draft in _judged(step):
        accept = float(step.drafts["accept"][draft])
        if np.isnan(accept):
            found.cannot("acceptances that noise which is shared decides (decode.noise)")
            continue
        bounds = probability(settings, step, draft)
        if bounds is None or np.isnan(bounds).any():
            rule = settings("acceptance") if settings("verifier") == "chain" else ""
            found.cannot(f"acceptances of {settings('verifier')} {rule}".rstrip())
            continue
        low, high = bounds
        found.tell("acceptance probabilities", close(accept, low, high, 1e-6, 1e-12),
                   f"{step.where}: draft {draft} is accepted with {accept:.9g}, and {low:.9g} to "
                   f"{high:.9g} follow from p and q", bounded=low < high)
        accepted = bool(step.drafts["accepted"][draft])
        if accept in (0, 1) and settings("verifier") not in ("orders", "block"):
            found.tell("certain verdicts", accepted == (accept == 1),
                       f"{step.where}: draft {draft} passes with probability {accept:g}, and is "
                       f"{'accepted' if accepted else 'rejected'}")


def _numbers(sample: Sample, step: Step, found: Agreement) -> None:
    """Which random number decided: the one at its address, below the probability or not."""
    settings, drafts = sample.settings, step.drafts
    verifier = settings("verifier")
    if verifier == "density" and settings("verifier.density.mode") == "reflection":
        found.cannot("couplings of reverse steps, each of which has a number of its own")
        return
    if verifier not in ("chain", "k-seq", "density", "density-published"):
        return
    attempts: dict = {}
    for draft in _judged(step):
        position = int(drafts["position"][draft])
        attempt = attempts.get(position, 0)
        attempts[position] = attempt + 1
        accept = float(drafts["accept"][draft])
        number = uniform(int(settings("run.seed", "1")), sample.sequence, position, ACCEPT,
                         int(step.row["step"]), attempt)
        tie = 0 < accept < 1 and abs(number - accept) <= _TIE
        accepted = bool(drafts["accepted"][draft])
        found.tell("random numbers of verdicts", tie or (number < accept) == accepted,
                   f"{step.where}: draft {draft} is {'accepted' if accepted else 'rejected'} with "
                   f"probability {accept:.9g}, and the number at its address is {number:.9g}",
                   tie=tie)


def _walk(sample: Sample, step: Step, found: Agreement) -> None:
    """What the verdicts commit: the accepted path, and what replaces the first that failed."""
    drafts, settings = step.drafts, sample.settings
    judged = _judged(step)
    path = [draft for draft in range(step.drafted) if drafts["accepted"][draft] == 1]
    taken = step.sources("accepted")
    committed = list(zip(step.tokens["position"][taken], step.tokens["id"][taken]))
    walked = [(drafts["position"][draft], drafts["id"][draft]) for draft in path]
    found.tell("accepted paths", committed == walked, f"{step.where}: drafts {path} are accepted, "
               f"and {len(committed)} tokens are committed as such")
    if settings(f"verifier.{settings('verifier')}.context") == "parallel":
        return  # Each draft is judged given the committed state alone.
    depths = drafts["depth"][path].tolist()
    # A tree of mixed order may take a later draft and leave out one before it.
    if settings("verifier") != "tree" or settings("verifier.tree.shape") != "mix-order":
        found.tell("paths without a gap", depths == list(range(len(path))),
                   f"{step.where}: the accepted drafts have depths {depths}")
    if settings("verifier") not in _WALKS or step.row["stop"] == STOPS["end_of_text"]:
        return
    tried: dict = {}
    for draft in judged:
        tried.setdefault(int(drafts["position"][draft]), []).append(bool(drafts["accepted"][draft]))
    fails = [position for position, outcomes in tried.items() if not any(outcomes)]
    once = all(sum(outcomes) <= 1 for outcomes in tried.values())
    if settings("verifier") != "own-draw":  # It says of every sibling whether it was drawn.
        once = once and all(not any(outcomes[:-1]) for outcomes in tried.values())
    found.tell("walks that end at the first failure", once and len(fails) <= 1,
               f"{step.where}: no draft passes at positions {fails}")
    found.tell("reasons to stop", (step.row["stop"] == STOPS["wrong_token"]) == bool(fails),
               f"{step.where}: stop is {step.row['stop']}, and {len(fails)} positions failed")
    _replacement(settings, step, fails, found)


def _replacement(settings: Settings, step: Step, fails: List[int], found: Agreement) -> None:
    replaced = step.sources("resampled")
    positions = step.tokens["position"][replaced].tolist()
    found.tell("replacements stand where the walk failed", set(positions) <= set(fails) and
               len(positions) <= 1, f"{step.where}: replaced at {positions}, failed at {fails}")
    lossless = (settings("verifier") == "chain" and settings("acceptance") == "speculative" and
                settings("acceptance.speculative.gamma", "1") == "1" and
                settings("acceptance.speculative.epsilon", "0") == "0" and
                settings("acceptance.speculative.resample", "true") == "true")
    if not lossless or len(positions) != 1:
        return
    # Where p < q, max(p - q, 0) leaves nothing of the rejected token.
    at = step.drafts["position"] == positions[0]
    rejected = step.drafts["id"][at & (step.drafts["accepted"] == 0)].tolist()
    token = int(step.tokens["id"][replaced][0])
    found.tell("residuals without the rejected token", token not in rejected,
               f"{step.where}: token {token} was rejected at {positions[0]} and replaces itself")


def check_verdicts(sample: Sample, found: Agreement) -> None:
    for step in sample.steps:
        if step.is_choice:
            found.cannot("steps that chose between whole texts")
            continue
        if not step.row["verified"] or step.row["routed"] == -1 or step.drafted == 0:
            continue
        _probabilities(sample, step, found)
        _numbers(sample, step, found)
        _walk(sample, step, found)
