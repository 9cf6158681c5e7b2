"""EAGLE's posterior over a tree of certain drafts (EAGLE-2, EAGLE-3), EAGLE-1's from the branch v1,
and the copies of them in Spec-Bench."""

import torch
from draftlab.census import Code, row

EAGLE = dict(repository="SafeAILab/EAGLE", commit="cb7e0841fe0c206c6ed74a197ad5e2a1f13f5a2b")
BENCH = dict(repository="hemingkx/Spec-Bench", commit="fd2c1cd7d2201ef71db4c5f4e455008f017967bf")
RAW_BONUS = (
    "When all drafts are accepted, the last token is drawn from softmax(logits) without the "
    "logits_processor that shapes the law of every other token. With a temperature other than 1, "
    "or with top-k or top-p, the bonus token therefore follows another law than the rest. "
    "EAGLE's own repository applies the processor there.")


def _chains(code, **fields):
    return dict(code=Code(code, ("evaluate_posterior",)), function="evaluate_posterior",
                takes="logits", **fields)


@row("eagle-2", **EAGLE, **_chains("eagle/model/utils.py"), expected="exact",
     controls=(("ratio inverted", 0), ("test reversed", 0), ("rejected draft kept", 0)),
     not_covered="drawing the bonus from the law returned, which is our draw; the draft's tree")
@row("eagle-1", repository="SafeAILab/EAGLE", commit="4a9cf3a1f6cd4a294e6d30a4e7c77cba246d7ca5",
     **_chains("eagle/model/utils.py"), expected="biased", shown_by="top-k",
     because=RAW_BONUS.replace("own repository", "later version"),
     not_covered="the draft's tree (spec-bench-eagle-1 has its rule)")
@row("spec-bench-eagle-2", **BENCH, **_chains("model/eagle2/utils.py"), expected="biased",
     shown_by="top-k",
     because=RAW_BONUS, not_covered="the draft's tree")
@row("spec-bench-eagle-3", **BENCH, **_chains("model/eagle3/utils.py"), expected="biased",
     shown_by="top-k",
     because=RAW_BONUS, not_covered="the draft's tree")
@row("spec-bench-samd", **BENCH, **_chains("model/samd/tree_model/eagle2/utils.py"),
     expected="biased", shown_by="top-k", because=RAW_BONUS,
     not_covered="the suffix automaton's drafts")
def chain(their):
    class Processor:
        """What a request asked for, in place of transformers' list."""

        def __init__(self, sampling):
            self.sampling = sampling

        def __call__(self, _, scores):
            sampling, row = self.sampling, scores[0] / self.sampling.temperature
            for token, bias in sampling.logit_bias:
                row[token] += bias / sampling.temperature
            law, order = torch.softmax(row, -1).sort(descending=True, stable=True)
            cut = (law.cumsum(-1) - law >= sampling.top_p) & (sampling.top_p < 1)
            cut |= law < sampling.min_p * law[0]
            cut[sampling.top_k or len(row) :] = True
            row[order[cut]] = -torch.inf
            return row[None]

    def verify(target, drawn_from, drafts, sampling):
        greedy, count = sampling.temperature == 0, len(drafts)
        for token, bias in sampling.logit_bias if greedy else ():
            target[:, token] += bias
        candidates = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])[None]
        more = ()
        if "op" in their.evaluate_posterior.__code__.co_varnames:  # EAGLE-1 has laws of drafts.
            laws = drawn_from.exp()
            claimed = torch.cat([torch.ones(1), laws[range(count), drafts]])[None]
            more = (claimed, [law[None] for law in laws], [[0] * (count + 1)], candidates,
                    [[[]] * (count + 1)])
        _, accepted, law = their.evaluate_posterior(
            target[None], candidates, None if greedy else Processor(sampling), *more)
        last = law.argmax() if greedy else torch.multinomial(law, 1)
        return [*map(int, drafts[:accepted]), int(last)]
    return verify


@row("eagle-2-tree", **EAGLE, code=Code("eagle/model/utils.py", ("evaluate_posterior",)),
     function="evaluate_posterior", takes="logits", expected="exact", tree=(2, (2, 0), (1, 0)),
     siblings="top", controls=(("test reversed", 0), ("rejected draft kept", 0)),
     not_covered="other trees than one of five drafts and three levels")
def tree(their):
    def verify(target, drawn_from, drafts, retrieve_indices):
        tokens = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts),
                            torch.tensor([-1])])[retrieve_indices]  # As the drafter pads them.
        best, accepted, law = their.evaluate_posterior(target[retrieve_indices], tokens,
                                                       lambda _, x: x)
        return [*tokens[best, 1 : accepted + 1].tolist(), int(torch.multinomial(law, 1))]
    return verify


@row("spec-bench-eagle-1", **BENCH, code=Code("model/eagle/utils.py", ("evaluate_posterior",)),
     function="evaluate_posterior", takes="logits", expected="exact", tree=(2,),
     siblings="without",
     controls=(("ratio inverted", 0), ("test reversed", 1), ("residual is the target", 2)),
     not_covered="a temperature other than 1 (as spec-bench-eagle-2), deeper trees")
def sampled_tree(their):
    def verify(target, drawn_from, drafts):
        count = len(drafts)
        tokens = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])
        rows = torch.tensor([[0, i + 1] for i in range(count)])
        claimed = torch.ones(count, 2, dtype=target.dtype)
        claimed[:, 1] = drawn_from.exp()[range(count), drafts]
        best, accepted, law = their.evaluate_posterior(
            target[rows], tokens[rows], lambda _, x: x, claimed, [drawn_from[:1].exp()],
            [[0, 0]] * count, tokens[None], [[[], list(range(1, i + 1))] for i in range(count)])
        return [*tokens[rows][best, 1 : accepted + 1].tolist(), int(torch.multinomial(law, 1))]
    return verify
