"""Acceptances that change the law on purpose, or match a filtered draw: Medusa's typical
acceptance, Hydra's, and REST's nucleus."""

import torch
from draftlab.census import Code, row

BECAUSE = ("Typical acceptance keeps a draft whose probability is above a threshold that depends "
           "on the entropy; it is meant to change the law. The table says by how much on a toy.")
NOT = "trees; drafts of the heads, which are the toy's here"


@row("medusa-typical", repository="FasterDecoding/Medusa", function="evaluate_posterior",
     commit="e2a5d20c048a9b0a4092e6933c34313687422518", takes="logits",
     code=Code("medusa/model/utils.py", ("evaluate_posterior",)), claim="lossy by design",
     expected="biased", because=BECAUSE, not_covered=NOT)
@row("hydra-typical", repository="hemingkx/Spec-Bench", function="evaluate_posterior",
     commit="fd2c1cd7d2201ef71db4c5f4e455008f017967bf", takes="logits",
     code=Code("model/hydra/utils.py", ("evaluate_posterior",)), claim="lossy by design",
     expected="biased", because=BECAUSE, not_covered=NOT)
def typical(their):
    def verify(target, drawn_from, drafts):
        candidates = torch.tensor([[0, *map(int, drafts)]])
        more = (torch.tensor(len(drafts)),) \
            if "max_accepts" in their.evaluate_posterior.__code__.co_varnames else ()
        _, accepted = their.evaluate_posterior(target[None], candidates, 1.0, 0.3, 0.09, *more)
        last = torch.multinomial(torch.softmax(target[accepted], -1), 1)
        return [*map(int, drafts[:accepted]), int(last)]
    return verify


@row("rest", repository="FasterDecoding/REST", function="evaluate_posterior", takes="logits",
     commit="50a5fc197382ed8df5b3e946dad2f8337511b541", claim="not stated", expected="biased",
     code=Code("rest/model/utils.py", ("evaluate_posterior", "get_nucleus_posterior_mask")),
     because="A draft is kept where it equals a token drawn from the nucleus, and where it does "
     "not, that token is thrown away: the next one is drawn anew from the whole nucleus, so the "
     "rejected draft gets a second chance and is too likely. Emitting the token that was drawn "
     "would be exact.", not_covered=NOT + "; the datastore")
def rest(their):
    def verify(target, drawn_from, drafts):
        candidates = torch.tensor([[0, *map(int, drafts)]])
        whole = 0.999999  # The nucleus is everything, so the law owed is the target's.
        _, accepted = their.evaluate_posterior(target[None], candidates, 1.0, whole)
        last = torch.multinomial(torch.softmax(target[accepted], -1), 1)
        return [*map(int, drafts[:accepted]), int(last)]
    return verify
