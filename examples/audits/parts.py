"""What several of the examples need: a residual, an inverse distribution, the plain rule."""

import numpy as np


def residual(p, q):
    """max(0, p - q); p itself where nothing is left, which happens where p is q."""
    left = np.maximum(p - q, 0)
    return left if left.sum() > 0 else p


def inverse(weights, u):
    """The token at which the running sum of the normalised weights passes u."""
    running = np.cumsum(weights)
    return min(int(np.searchsorted(running, u * running[-1], side="right")), len(weights) - 1)


def chain(target, drawn_from, drafts, random):
    """Speculative sampling (Leviathan et al., 2023), as it should be."""
    for i, x in enumerate(drafts):
        p, q = target[i], drawn_from[i]
        if not random.below(p[x] / q[x]):
            return [*drafts[:i], random.draw(residual(p, q))]
    return [*drafts, random.draw(target[len(drafts)])]
