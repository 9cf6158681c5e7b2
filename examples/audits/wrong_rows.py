"""The target's rows are one off: each draft is judged by the law of the position before it.

NVIDIA/TensorRT-LLM pull request 15098: the verification of dynamic trees was handed a wrong slice
of the logits. The faults of a slice show only where laws depend on the context.
"""

import numpy as np

import draftlab as dl
from parts import chain


@dl.sampler("wrong-rows", drafts=3, published="NVIDIA/TensorRT-LLM 15098")
def wrong_rows(target, drawn_from, drafts, random):
    return chain(np.concatenate([target[:1], target[:-1]]), drawn_from, drafts, random)


@dl.sampler("wrong-rows-corrected", drafts=3)
def right_rows(target, drawn_from, drafts, random):
    return chain(target, drawn_from, drafts, random)
