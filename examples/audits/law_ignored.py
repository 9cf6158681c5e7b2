"""q is taken to be 1 for drafts that were drawn from q.

SafeAILab/EAGLE issues 183, 283 and, as the brief of this project reports it, 329. The test uses p
alone, and a rejection strikes the draft out of p. That looks wrong and is exact, whatever the
drafts were drawn from: given the draft x, token x comes out with p(x) and any other token y with
(1 - p(x)) p(y) / (1 - p(x)). It only accepts less than it could. What is wrong is to ignore q in
the test and to use it in the residual, or to strike nothing out.
"""

import draftlab as dl
from parts import chain, residual


def verify(target, drawn_from, drafts, random):
    for i, x in enumerate(drafts):
        p = target[i]
        if not random.below(p[x]):
            rest = p.copy()
            rest[x] = 0
            return [*drafts[:i], random.draw(rest)]
    return [*drafts, random.draw(target[len(drafts)])]


@dl.sampler("law-ignored", drafts=3, published="SafeAILab/EAGLE 183, 283, 329")
def law_ignored(target, drawn_from, drafts, random):
    return verify(target, drawn_from, drafts, random)


@dl.sampler("law-ignored-in-the-test", drafts=3)
def ignored_in_the_test(target, drawn_from, drafts, random):
    for i, x in enumerate(drafts):
        if not random.below(target[i][x]):
            return [*drafts[:i], random.draw(residual(target[i], drawn_from[i]))]
    return [*drafts, random.draw(target[len(drafts)])]


@dl.sampler("law-ignored-nothing-struck-out", drafts=3)
def nothing_struck_out(target, drawn_from, drafts, random):
    for i, x in enumerate(drafts):
        if not random.below(target[i][x]):
            return [*drafts[:i], random.draw(target[i])]
    return [*drafts, random.draw(target[len(drafts)])]


@dl.sampler("law-ignored-corrected", drafts=3)
def law_used(target, drawn_from, drafts, random):
    return chain(target, drawn_from, drafts, random)
