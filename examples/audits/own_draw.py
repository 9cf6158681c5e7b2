"""The target draws its own token and accepts while it equals the draft (Daliri et al., 2408.07978).

Lossless whatever was drafted; sampled in engines as "exact match at temperature 1". The wrong
variant keeps the draft where the target would have liked it, too.
"""

import numpy as np

import draftlab as dl


@dl.sampler("own-draw", drafts=3)
def own_draw(target, drawn_from, drafts, random):
    tokens = []
    for i, x in enumerate(drafts):
        tokens.append(random.draw(target[i]))
        if tokens[-1] != x:
            return tokens
    return [*tokens, random.draw(target[len(drafts)])]


@dl.sampler("typical-acceptance", drafts=3)
def typical(target, drawn_from, drafts, random):
    """Accepts what is probable enough: fast, and lossy on purpose."""
    for i, x in enumerate(drafts):
        if target[i][x] < 0.3:
            return [*drafts[:i], random.draw(target[i])]
    return [*drafts, random.draw(target[len(drafts)])]


@dl.sampler("always-greedy-replacement", drafts=3)
def greedy_replacement(target, drawn_from, drafts, random):
    """The ratio test is right, the residual's most probable token is taken instead of a draw."""
    for i, x in enumerate(drafts):
        if not random.below(target[i][x] / drawn_from[i][x]):
            return [*drafts[:i], int(np.argmax(np.maximum(target[i] - drawn_from[i], 0)))]
    return [*drafts, random.draw(target[len(drafts)])]
