"""A draft is accepted where its number is at most p / q, and the number may be 0.

A token that a grammar mask or top-k has cut has p = 0, so that it is accepted where the number is
exactly 0. A float32 number of [0, 1) has 24 bits, and is 0 once in 2^24 tests. That is no rounding:
a token comes out that the target gives no probability at all. Hugging Face's assisted decoding
tests with <=, and so does whoever writes "reject if u > p / q".
"""

import numpy as np

import draftlab as dl
from parts import residual

generator = np.random.default_rng(0)


def verify(target, drawn_from, drafts, accepts):
    for i, x in enumerate(drafts):
        p, q = target[i], drawn_from[i]
        if not accepts(generator.random(dtype=np.float32), p[x] / q[x]):
            rest = residual(p, q)
            return [*drafts[:i], generator.choice(len(rest), p=rest / rest.sum())]
    return [*drafts, generator.choice(len(target[-1]), p=target[-1])]


@dl.sampler("uniform-may-be-zero", drafts=2)
def uniform_may_be_zero(target, drawn_from, drafts):
    return verify(target, drawn_from, drafts, lambda u, ratio: u <= ratio)


@dl.sampler("uniform-may-be-zero-corrected", drafts=2)
def strictly_below(target, drawn_from, drafts):
    return verify(target, drawn_from, drafts, lambda u, ratio: u < ratio)
