"""The law that is handed on as q is not the one that the drafts were drawn from.

huggingface/transformers issue 47932: drafts were drawn from the logits after top-k, or were the
most probable token, and the raw logits went on as q. deepseek-ai/DeepSpec issue 31: drafts were
drawn from a law in bfloat16, and tested with the one in float32.
"""

import numpy as np

import draftlab as dl
from parts import chain


def top(law, k):
    """The law of the k most probable tokens."""
    kept = np.zeros_like(law)
    best = np.argsort(-law, kind="stable")[:k]
    kept[best] = law[best]
    return kept / kept.sum()


def bf16(law):
    """The law after its probabilities are rounded to eight significant bits."""
    scale = 2.0 ** (np.floor(np.log2(np.maximum(law, 2.0**-126))) - 7)
    rounded = np.round(law / scale) * scale
    return rounded / rounded.sum()


class Drafts:
    """Draws drafts from `used(q)`, and says that they came from `claimed(q)`."""

    used = claimed = staticmethod(lambda law: law)

    def draft(self, law, random):
        return random.draw(self.used(law)), self.claimed(law)

    def verify(self, target, drawn_from, drafts, random):
        return chain(target, drawn_from, drafts, random)


@dl.sampler("raw-law-of-top-k-drafts", drafts=2, published="huggingface/transformers 47932")
class RawLawOfTopK(Drafts):
    used = staticmethod(lambda law: top(law, 2))


@dl.sampler("raw-law-of-top-k-drafts-corrected", drafts=2)
class LawOfTopK(RawLawOfTopK):
    claimed = staticmethod(lambda law: top(law, 2))


@dl.sampler("raw-law-of-greedy-drafts", drafts=2, published="huggingface/transformers 47932")
class RawLawOfGreedy(Drafts):
    used = staticmethod(lambda law: top(law, 1))


@dl.sampler("raw-law-of-greedy-drafts-corrected", drafts=2)
class PointMassOfGreedy(RawLawOfGreedy):
    claimed = staticmethod(lambda law: top(law, 1))


@dl.sampler("bf16-drafts-float32-test", drafts=2, published="deepseek-ai/DeepSpec 31")
class RoundedDrafts(Drafts):
    used = staticmethod(bf16)


@dl.sampler("bf16-drafts-float32-test-corrected", drafts=2)
class RoundedDraftsAndTest(RoundedDrafts):
    claimed = staticmethod(bf16)
