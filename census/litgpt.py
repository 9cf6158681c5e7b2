"""litgpt's speculative decoding, whose two models are the toy's laws: its rule, and a request of
temperature 0."""

import torch
from draftlab.census import Code, row

LITGPT = dict(repository="Lightning-AI/litgpt", function="speculative_decoding", takes="logits",
              commit="26857050fe3ff627cd714fe92f5838f51a3d5efa",
              code=(Code("litgpt/generate/speculative_decoding.py",
                         ("sample", "speculative_decoding")),
                    Code("litgpt/generate/base.py", ("sample_top_p",))))
NOT = "the models and caches; draws of compiled code; top-k; top-p, with which sample() raises " \
    "RuntimeError once a draft was rejected"


@row("litgpt", **LITGPT, expected="exact",
     controls=(("ratio inverted", 1), ("test reversed", 7), ("test reversed", 8),
               ("residual not clipped", 0), ("residual is the target", 1)),
     not_covered=NOT + "; temperature 0 (litgpt-greedy)")
def litgpt(their):
    def verify(target, drawn_from, drafts):
        # It draws the drafts, then a token of each row of the target that nobody reads.
        known = [torch.tensor([int(token)]) for token in drafts] + [torch.tensor([0])] * len(target)
        rows = iter(drawn_from)
        their.multinomial_num_samples_1 = (
            lambda law: known.pop(0) if known else torch.multinomial(law, 1))
        tokens = their.speculative_decoding(
            lambda **_: next(rows, target[0])[None, None], lambda **_: target[None],
            torch.tensor([0]), torch.tensor([0]), 1, len(drafts))
        return tokens.tolist()
    return verify


@row("litgpt-greedy", **LITGPT, expected="biased", shown_by="temperature 0",
     because="At temperature 0, sample() returns the most probable token together with "
     "softmax(logits), and the two softmax laws are compared as at temperature 1. A draft that is "
     "not the target's most probable token is therefore accepted with probability "
     "min(1, p / q), where greedy decoding would reject it. If sample() returned the point mass "
     "that it draws from, the same test would be exact.",
     not_covered=NOT)
def greedy(their):
    own = their.sample

    def verify(target, drawn_from, drafts, sampling):
        queue, unread, rows = [int(token) for token in drafts], [0] * len(target), iter(drawn_from)
        for token, bias in sampling.logit_bias:
            target[:, token] += bias
        law = target.softmax(-1)
        target[law < sampling.min_p * law.max(-1, keepdim=True).values] = -torch.inf

        def sample(logits, **options):
            if queue:  # A draft is what was drawn, and its law the one that it was drawn from.
                return torch.tensor([queue.pop(0)]), logits[0, -1].exp()
            return own(logits, **options)

        their.sample = sample
        their.multinomial_num_samples_1 = (
            lambda law: torch.tensor([unread.pop()]) if unread else torch.multinomial(law, 1))
        tokens = their.speculative_decoding(
            lambda **_: next(rows, target[0])[None, None], lambda **_: target[None],
            torch.tensor([0]), torch.tensor([0]), 1, len(drafts),
            temperature=sampling.temperature, top_k=sampling.top_k or None, top_p=sampling.top_p)
        return tokens.tolist()
    return verify
