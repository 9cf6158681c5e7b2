"""Sampling parameters are admitted and then dropped on the speculative path.

NVIDIA/TensorRT-LLM pull request 17955: parameters that edit the target's logits (an embedding
bias among them) were dropped without a word. sgl-project/sglang issue 10617: a logit bias and
min-p were not applied while drafts were verified; top-p was.
"""

from dataclasses import replace

import numpy as np

import draftlab as dl
from draftlab.audit.sampling import probabilities, softmax
from parts import chain


def verify(target, drawn_from, drafts, random, sampling):
    return chain(probabilities(target, sampling), softmax(drawn_from), drafts, random)


@dl.sampler("dropped-parameters", drafts=2, takes="logits",
            published="NVIDIA/TensorRT-LLM 17955, sgl-project/sglang 10617")
def dropped(target, drawn_from, drafts, random, sampling):
    kept = replace(sampling, logit_bias=(), min_p=0.0)
    return verify(target, drawn_from, drafts, random, kept)


@dl.sampler("dropped-parameters-corrected", drafts=2, takes="logits")
def applied(target, drawn_from, drafts, random, sampling):
    return verify(target, drawn_from, drafts, random, sampling)


@dl.sampler("always-greedy", drafts=2, takes="logits", published="sgl-project/sglang 31214")
def greedy(target, drawn_from, drafts, random, sampling):
    """A device on which the verification fell back to the most probable token."""
    best = [int(np.argmax(row)) for row in target]
    stop = next((i for i, x in enumerate(drafts) if x != best[i]), len(drafts))
    return best[: stop + 1]
