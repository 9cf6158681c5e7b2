"""K-SEQ (SpecTr, arXiv 2310.15141): k independent drafts, all tested against the same p / rho.

Any rho at or above the smallest one is exact; below it the residual would be negative, and what
is clipped away is bias.
"""

import numpy as np

import draftlab as dl


def accepted(p, q, rho):
    return float(np.minimum(q, p / rho).sum())


def smallest_rho(p, q, k):
    """The solution of 1 - (1 - b(rho))^k = rho b(rho) in [1, k]."""
    low, high = 1.0, float(k)
    for _ in range(60):
        middle = (low + high) / 2
        b = accepted(p, q, middle)
        low, high = (middle, high) if 1 - (1 - b) ** k > middle * b else (low, middle)
    return high


def verify(target, drawn_from, drafts, random, rho_of):
    p, q, k = target[0], drawn_from[0], len(drafts)
    rho = rho_of(p, q, k)
    for child, x in enumerate(drafts):
        if random.below(p[x] / (rho * q[x])):
            return [x, random.draw(target[child + 1])]
    b = accepted(p, q, rho)
    taken = (1 - (1 - b) ** k) / b if b > 0 else 0.0
    left = np.maximum(p - np.minimum(q, p / rho) * taken, 0)
    return [random.draw(left if left.sum() > 1e-15 else p)]


@dl.sampler("k-seq", tree=(2,))
def k_seq(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, smallest_rho)


@dl.sampler("k-seq-rho-is-k", tree=(2,))
def k_seq_safe(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, lambda p, q, k: float(k))


@dl.sampler("k-seq-rho-too-small", tree=(2,))
def k_seq_greedy(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, lambda p, q, k: 1.0)
