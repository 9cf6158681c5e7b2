"""A block is accepted up to the last draft whose product of ratios is at least a product of
uniforms.

vllm-project/vllm-ascend (commit 182b75e) verifies blocks of three drafts or more so: each ratio
p / q is clipped at 1 by itself, the clipped ratios are multiplied up, and so is one uniform a
draft. The replacement is drawn from max(0, w p - q), where w is the running ratio that is clipped
on each step, and by a race of exponentials. One draft is judged rightly: the product is then one
uniform, and one threshold. With two, the tests of a chain share numbers: that the first product was
small makes the second small, and a small number accepts what its own ratio would have rejected.
(The engine compares with >=, which has the fault of uniform_may_be_zero.py besides; the rule here
compares strictly.)

Corrected, draft i is tested with a number of its own, against the probability that the block ends
there or later (Sun et al., arXiv 2403.10444), and a race decides the rest.
"""

import numpy as np

import draftlab as dl
from block_verification import replacement, success, weights


def race(law, random):
    """The token whose clock rings first, where its rate is its probability."""
    with np.errstate(divide="ignore"):
        return int(np.argmax(law / random.exponential(len(law))))


def finish(accepted, target, drawn_from, drafts, random):
    k = len(drafts)
    if accepted == k:
        return [*drafts, race(target[k], random)]
    w = weights(target, drawn_from, drafts)[accepted]
    left = replacement(w, target[accepted], drawn_from[accepted])
    return [*drafts[:accepted], race(left, random)]


@dl.sampler("product-of-uniforms", drafts=3, published="vllm-project/vllm-ascend at 182b75e")
def product_of_uniforms(target, drawn_from, drafts, random):
    rows = np.arange(len(drafts))
    ratios = np.minimum(target[rows, drafts] / drawn_from[rows, drafts], 1)
    passed = np.cumprod(ratios) > np.cumprod(random.uniform(len(drafts)))
    accepted = int(np.flatnonzero(passed)[-1]) + 1 if passed.any() else 0
    return finish(accepted, target, drawn_from, drafts, random)


@dl.sampler("product-of-uniforms-corrected", drafts=3)
def number_of_its_own(target, drawn_from, drafts, random):
    w = weights(target, drawn_from, drafts)
    tests = [success(w, target, drawn_from, i + 1) for i in range(len(drafts))]
    passed = np.array(tests) > random.uniform(len(drafts))
    accepted = int(np.flatnonzero(passed)[-1]) + 1 if passed.any() else 0
    return finish(accepted, target, drawn_from, drafts, random)
