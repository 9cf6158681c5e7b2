"""ipex-llm's self-speculative decoding when it samples: its tests and the replacement. The uniform
numbers have the model's type, which is float32 in the first row and bfloat16 in the second."""

import torch
from draftlab.census import Code, Piece, row

IPEX = dict(
    repository="intel-analytics/ipex-llm", commit="69edc8b6f690ccaead62afb93397baba42fa9386",
    function="speculative_generate (its acceptance)",
    code=Code("python/llm/src/ipex_llm/transformers/speculative.py",
              ("multinomial_sample_one_no_sync",), (Piece(
                  "accept", "speculative_generate", "draft_tokens", "output_ids",
                  ("drafted_input_ids", "draft_prob_list", "drafted_n_tokens", "target_probs",
                   "random_probs"), ("output_ids",)),),
              without=(".squeeze((1, 2))",)))  # Torch 1.13 does not know two dimensions there.
CONTROLS = (("ratio inverted", 1), ("test reversed", 0), ("residual is the target", 0))
NOT = "the models and caches; top-k and top-p; when drafting stops, which reads the same numbers"


@row("ipex-llm", **IPEX, expected="exact", controls=CONTROLS, not_covered=NOT)
def full(their):
    def verify(target, drawn_from, drafts):
        count = len(drafts)
        ids = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])[None]
        (tokens,) = their.accept(ids, list(drawn_from), count, target, torch.rand(count))
        return tokens[0].tolist()
    return verify


@row("ipex-llm-bfloat16", **IPEX, expected="biased", shown_by="disjoint",
     because="The uniform numbers of the tests have the model's type. In bfloat16, which the "
     "documentation has for CPUs, torch.rand gives multiples of 1/256 on a CPU. One in 256 is "
     "exactly 0 and passes the test u <= p / q of a token that top-k or top-p forbids, and every "
     "other acceptance below 1 is too probable by up to 1/256. Numbers in float32 would leave "
     "2^-24. The documentation's examples decode greedily, which asks for no numbers.",
     not_covered=NOT + "; other devices, which may make their numbers otherwise")
def short(their):
    def verify(target, drawn_from, drafts):
        count = len(drafts)
        ids = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])[None]
        numbers = torch.rand(count, dtype=torch.bfloat16)
        (tokens,) = their.accept(ids, list(drawn_from), count, target, numbers)
        return tokens[0].tolist()
    return verify
