"""vLLM's V1 rejection sampler: its Python, and its Triton kernels run by an interpreter of theirs
(draftlab.census.triton)."""

import types

import torch
from draftlab.census import Code, row
from draftlab.census.triton import Kernel, Language

NAMES = ("rejection_sample", "generate_uniform_probs", "sample_recovered_tokens",
         "rejection_random_sample_kernel", "sample_recovered_tokens_kernel")


@row("vllm", repository="vllm-project/vllm", function="rejection_sample",
     commit="7f616c327d24a259dd81605e513c42ce2b9dc204", takes="logits", expected="exact",
     code=Code("vllm/v1/sample/rejection_sampler.py", NAMES), drafts=2,
     controls=(("ratio inverted", 0), ("test reversed", 3), ("residual is the target", 4)),
     not_covered="what a compiler makes of the kernels; greedy and mixed batches; seeded rows")
def v1(their):
    their.tl = Language()
    their.PLACEHOLDER_TOKEN_ID, their.GREEDY_TEMPERATURE = -1, 0
    for name in NAMES[3:]:
        setattr(their, name, Kernel(getattr(their, name), their.tl))

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        their.sample_recovered_tokens_kernel.chosen = {"BLOCK_SIZE": target.shape[1]}
        request = types.SimpleNamespace(all_greedy=False, all_random=True, generators={},
                                        temperature=torch.ones(1))
        bonus = torch.multinomial(torch.softmax(target[-1], -1), 1)[None]
        out = their.rejection_sample(
            torch.as_tensor(drafts), [count], count, torch.tensor([count]),
            drawn_from.exp().contiguous(), target[:count].contiguous(), bonus, request)
        return [token for token in out[0].tolist() if token >= 0]
    return verify
