"""The number that rejected a draft also chooses its replacement.

vllm-project/vllm-ascend pull request 16370: the residual was drawn by inverse distribution
function at the very number of the acceptance test. After a rejection that number lies above the
ratio, so the last tokens of the residual come too often. Acceptance itself stays right.
"""

import draftlab as dl
from parts import inverse, residual


def verify(target, drawn_from, drafts, random, shared):
    for i, x in enumerate(drafts):
        p, q = target[i], drawn_from[i]
        u = random.uniform()
        if u >= p[x] / q[x]:
            return [*drafts[:i], inverse(residual(p, q), u if shared else random.uniform())]
    return [*drafts, inverse(target[len(drafts)], random.uniform())]


@dl.sampler("shared-uniform", drafts=3, published="vllm-project/vllm-ascend 16370")
def shared_uniform(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, shared=True)


@dl.sampler("shared-uniform-corrected", drafts=3)
def separate_uniforms(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random, shared=False)
