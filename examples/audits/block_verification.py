"""Block verification (Sun et al., arXiv 2403.10444) and four ways to get it wrong.

A chain of drafts is judged as a whole: w_i is the running ratio, clipped at 1 on each step, h_i the
probability that the block ends at i or later, and the last success counts. The wrong variants are
those that were met in code and reviews: vllm-project/vllm-ascend issue 7807 kept the token-wise
residual, and a reviewer asked to stop at the first rejection.
"""

import numpy as np

import draftlab as dl


def weights(target, drawn_from, drafts, clip=True):
    """w_0 .. w_k."""
    w = [1.0]
    for i, x in enumerate(drafts):
        ratio = w[-1] * target[i][x] / drawn_from[i][x]
        w.append(min(1.0, ratio) if clip else ratio)
    return w


def success(w, target, drawn_from, i):
    """h_i, for i drafts out of len(w) - 1."""
    if i == len(w) - 1:
        return min(1.0, w[i])
    rest = np.maximum(w[i] * target[i] - drawn_from[i], 0).sum()
    whole = rest + 1 - w[i]
    return 1.0 if whole <= 0 else rest / whole


def replacement(w, p, q):
    """max(0, w p - q); p where nothing but rounding is left, which a right test never meets."""
    left = np.maximum(w * p - q, 0)
    return left if left.sum() > 1e-12 else p


def verify(target, drawn_from, drafts, random, clip=True, residual="block", test="block",
           stop="last"):
    k = len(drafts)
    w = weights(target, drawn_from, drafts, clip)
    accepted = 0
    for i in range(1, k + 1):
        h = success(w, target, drawn_from, i) if test == "block" else min(1.0, w[i])
        if random.below(h):
            accepted = i
        elif stop == "first":
            break
    if accepted == k:
        return [*drafts, random.draw(target[k])]
    weight = min(1.0, w[accepted]) if residual == "block" else 1.0
    law = replacement(weight, target[accepted], drawn_from[accepted])
    return [*drafts[:accepted], random.draw(law)]


@dl.sampler("block-verification", drafts=3)
def block(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random)


@dl.sampler("block-with-token-residual", drafts=3, published="vllm-project/vllm-ascend 7807")
def token_residual(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, residual="token")


@dl.sampler("block-with-ratio-test", drafts=3)
def ratio_test(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, test="ratio")


@dl.sampler("block-not-clipped", drafts=3)
def not_clipped(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, clip=False)


@dl.sampler("block-stops-at-first-rejection", drafts=3, published="a review in "
            "vllm-project/vllm-ascend 7808 asked for it")
def first_rejection(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, stop="first")
