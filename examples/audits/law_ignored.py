"""q is taken to be 1 for drafts that were drawn from q.

SafeAILab/EAGLE issue 329, as the brief of this project reports it (283 asks the same): the test
uses p alone and a rejection only strikes the draft out. That is right for drafts that are certain
(the most probable ones, as EAGLE drafts them) and wrong for drafts that were drawn.
"""

import draftlab as dl
from parts import chain


def verify(target, drawn_from, drafts, random):
    for i, x in enumerate(drafts):
        p = target[i]
        if not random.below(p[x]):
            rest = p.copy()
            rest[x] = 0
            return [*drafts[:i], random.draw(rest)]
    return [*drafts, random.draw(target[len(drafts)])]


@dl.sampler("law-ignored", drafts=3, published="SafeAILab/EAGLE 329")
def law_ignored(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random)


@dl.sampler("law-ignored-corrected", drafts=3)
def law_used(target, drawn_from, drafts, random):
    return chain(target, drawn_from, drafts, random)


@dl.sampler("certain-drafts", tree=(1, 1), siblings="top")
def certain_drafts(target, drawn_from, drafts, random):
    """The same rule for the drafts that it is meant for."""
    return verify(target, drawn_from, drafts, random)
