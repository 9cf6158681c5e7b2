"""The draft and its replacement are drawn with one vector of Gumbel noise.

vllm-project/vllm pull requests 47386 and 54282: with probabilistic drafts, the noise of the draft
at a position and that of the residual's draw at the same position had one key. That the rejected
token won says that the other tokens' noise was small, and most of all that of the draft's next
choices. A report on a build with the fault (local-inference-lab/vllm pull request 653) has
10 / 60 / 30 % become 10.16 / 63.04 / 26.80 % in 131,072 draws; it does not say what q was. With
q = (0.55, 0.25, 0.20), the toy `two residual tokens`, the law is 10 / 63.10 / 26.90 %.
"""

import numpy as np

import draftlab as dl
from parts import residual


def race(weights, noise):
    """The Gumbel-max draw from `weights`, as a race of exponentials."""
    with np.errstate(divide="ignore"):
        return int(np.argmin(noise / np.asarray(weights)))


class GumbelDrafts:
    """Drafts by a race, and verifies by the ratio test."""

    shared = False

    def __init__(self):
        self.noise = []

    def draft(self, law, random):
        self.noise.append(random.exponential(len(law)))
        return race(law, self.noise[-1])

    def verify(self, target, drawn_from, drafts, random):
        noise, self.noise = self.noise, []
        for i, x in enumerate(drafts):
            p, q = target[i], drawn_from[i]
            if random.uniform() >= p[x] / q[x]:
                again = noise[i] if self.shared else random.exponential(len(p))
                return [*drafts[:i], race(residual(p, q), again)]
        return [*drafts, race(target[-1], random.exponential(len(target[-1])))]


@dl.sampler("shared-gumbel-noise", drafts=1, published="10 / 60 / 30 % became 10.16 / 63.04 / "
            "26.80 % (vllm-project/vllm 47386 and 54282)")
class SharedNoise(GumbelDrafts):
    shared = True


@dl.sampler("shared-gumbel-noise-corrected", drafts=1)
class SeparateNoise(GumbelDrafts):
    pass
