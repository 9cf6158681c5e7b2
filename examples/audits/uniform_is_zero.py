"""The number of the acceptance test is 0, so that every draft passes.

vllm-project/vllm-ascend pull request 13766: a device without 64-bit random numbers was given the
constant 0, and 0 is below every ratio. The output is then the draft's.
"""

import draftlab as dl
from parts import inverse, residual


def verify(target, drawn_from, drafts, number, random):
    for i, x in enumerate(drafts):
        p, q = target[i], drawn_from[i]
        if number() >= p[x] / q[x]:
            return [*drafts[:i], inverse(residual(p, q), random.uniform())]
    return [*drafts, inverse(target[len(drafts)], random.uniform())]


@dl.sampler("uniform-is-zero", drafts=3, published="vllm-project/vllm-ascend 13766")
def uniform_is_zero(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, lambda: 0.0, random)


@dl.sampler("uniform-is-zero-corrected", drafts=3)
def uniform_is_drawn(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random.uniform, random)
