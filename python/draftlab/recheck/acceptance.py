"""The probability with which each judged draft is accepted, from the two laws' values at it.

Each function returns (low, high), equal where the probability follows from what is recorded, None
where nothing does. A trace has the laws at the drafted token only. So rules that read whole laws
(the entropy of typical acceptance, K-SEQ's rho) are held to what p and q alone imply.
"""

import math
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from draftlab.recheck.record import Settings, Step

Bounds = Optional[Tuple[float, float]]
# Whether the draft of that index passes, from the settings of the arm.
Rule = Callable[[Settings, Step, int], Bounds]


def _exactly(value: float) -> Bounds:
    return (value, value)


def _at(step: Step, column: str, draft: int) -> float:
    return float(step.drafts[column][draft])


def _ratio(p: float, q: float) -> float:
    return 1.0 if p >= q else p / q


def speculative(settings: Settings, step: Step, draft: int) -> Bounds:
    """min(1, (p / q)^gamma + epsilon): Leviathan et al., 2023; ASSD, Algorithm 1."""
    gamma = settings.number("acceptance.speculative.gamma", 1)
    epsilon = settings.number("acceptance.speculative.epsilon", 0)
    ratio = _ratio(_at(step, "p", draft), _at(step, "q", draft))
    return _exactly(1.0 if ratio == 1 else min(1.0, ratio ** gamma + epsilon))


def _among_best(k: float) -> Rule:
    """At most k tokens have more than 1 / (k + 1), whatever the temperature above 0."""
    def rule(settings: Settings, step: Step, draft: int) -> Bounds:
        p = _at(step, "p", draft)
        if settings.number("decode.temperature", 1) == 0:
            return _exactly(p) if k == 1 else ((1, 1) if p == 1 else (0, 1))
        return (1, 1) if p > 1 / (k + 1) else (0, 1)
    return rule


def top_k(settings: Settings, step: Step, draft: int) -> Bounds:
    """Blockwise parallel decoding, Sec. 5.1."""
    return _among_best(settings.number("acceptance.top-k.k", 2))(settings, step, draft)


def distance(settings: Settings, step: Step, draft: int) -> Bounds:
    """Blockwise parallel decoding, Sec. 5.2: the best token itself has distance 0."""
    low, _ = _among_best(1)(settings, step, draft) or (0, 1)
    return (low, 1)


def typical(settings: Settings, step: Step, draft: int) -> Bounds:
    """Medusa: accepted above min(epsilon, delta exp(-H)), and H is at most ln V."""
    p = _at(step, "p", draft)
    epsilon = settings.number("acceptance.typical.epsilon", 0.09)
    delta = settings.number("acceptance.typical.delta", 0.3)
    if p > min(epsilon, delta):
        return (1, 1)
    # The entropy of a law that gives p to a token is at most that of p and an even rest.
    rest = 1 - p
    entropy = -sum(x * math.log(x) for x in (p,) if x > 0)
    if rest > 0:
        entropy += rest * math.log(max(settings.vocabulary - 1, 1) / rest)
    return (0, 0) if p <= min(epsilon, delta * math.exp(-entropy)) else (0, 1)


RULES: Dict[str, Rule] = {"speculative": speculative, "exact-match": _among_best(1),
                          "top-k": top_k, "distance": distance, "typical": typical}


def _densities(settings: Settings, step: Step, draft: int) -> Bounds:
    """min(1, p / q) of densities (CSpD, Eq. 3), for the modes whose test is that quotient."""
    if settings("verifier.density.mode", "k-split") == "reflection":
        return (0, 1)
    log_p, log_q = _at(step, "log_p", draft), _at(step, "log_q", draft)
    # Both are rounded to float32, and their difference is what counts.
    room = 2.0 ** -23 * (abs(log_p) + abs(log_q)) + 1e-6
    gamma = settings.number("acceptance.speculative.gamma", 1)
    epsilon = settings.number("acceptance.speculative.epsilon", 0)
    low, high = (min(1.0, math.exp(min(0.0, gamma * (log_p - log_q + side))) + epsilon)
                 for side in (-room, room))
    return (low, high)


def _own(settings: Settings, step: Step, draft: int) -> Bounds:
    """The target draws for itself, and the draft passes as probably as it is drawn."""
    return _exactly(_at(step, "p", draft))


def _of_tree(settings: Settings, step: Step, draft: int) -> Bounds:
    """A node's own choice is the draft with probability p where it chose the draft's position, and
    never elsewhere (SSD, Sec. 3.2.3)."""
    accept = _at(step, "accept", draft)
    if settings("verifier.tree.draws", "own") != "own":
        return (0, 1)
    return (0, 0) if accept == 0 else _own(settings, step, draft)


def _k_seq(settings: Settings, step: Step, draft: int) -> Bounds:
    """min(1, p / (rho q)), with rho between 1 and the number of drafts (SpecTr)."""
    p, q = _at(step, "p", draft), _at(step, "q", draft)
    drafts = step.drafts
    siblings = int(np.sum((drafts["depth"] == drafts["depth"][draft]) &
                          (drafts["position"] == drafts["position"][draft])))
    rho = settings.number("verifier.k-seq.rho", 0)
    if rho > 0 or siblings == 1:
        return _exactly(_ratio(p, max(rho, 1.0) * q))
    return (_ratio(p, siblings * q), _ratio(p, q))


def _block(settings: Settings, step: Step, draft: int) -> Bounds:
    """Along one path the weight of a draft is min(1, w p / q), with w that of the draft before it
    (Sun et al., 2025, Algorithm 2)."""
    depth = step.drafts["depth"]
    if len(set(depth.tolist())) != len(depth):
        return (0, 1)
    weight = 1.0
    for before in range(int(step.row["exact"]), draft + 1):
        weight = min(1.0, weight * _at(step, "p", before) / _at(step, "q", before))
    return _exactly(weight)


def _orders(settings: Settings, step: Step, draft: int) -> Bounds:
    """sigma-GPT: the first draft of an order sees what it was drawn from, and passes."""
    bounds = RULES.get(settings("acceptance"), lambda *_: (0, 1))(settings, step, draft)
    return (1, 1) if _at(step, "accept", draft) == 1 else bounds


VERIFIERS: Dict[str, Rule] = {"density": _densities, "own-draw": _own, "in-place": _own,
                              "tree": _of_tree, "k-seq": _k_seq, "block": _block,
                              "orders": _orders}


def probability(settings: Settings, step: Step, draft: int) -> Bounds:
    """What follows for a draft that was judged; None where the rule is not known here."""
    verifier = settings("verifier")
    if verifier in VERIFIERS:
        return VERIFIERS[verifier](settings, step, draft)
    if verifier != "chain":
        return None
    if step.drafts["depth"][draft] < settings.number("verifier.chain.minimum_block", 0):
        return (1, 1)
    rule = RULES.get(settings("acceptance"))
    return rule(settings, step, draft) if rule else None
