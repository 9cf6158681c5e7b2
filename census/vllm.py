"""vLLM's V1 rejection sampler: its Python, and its Triton kernels run by an interpreter of theirs
(draftlab.census.triton)."""

import types

import torch
from draftlab.census import Code, row
from draftlab.census.triton import Kernel, Language

NAMES = ("rejection_sample", "generate_uniform_probs", "sample_recovered_tokens",
         "rejection_random_sample_kernel", "sample_recovered_tokens_kernel",
         "rejection_greedy_sample_kernel")
AT = dict(repository="vllm-project/vllm", commit="7f616c327d24a259dd81605e513c42ce2b9dc204",
          read_from="neuralmagic/vllm", function="rejection_sample", expected="exact",
          code=Code("vllm/v1/sample/rejection_sampler.py", NAMES))
NOT = "what a compiler makes of the kernels; seeded rows"


def _run(their):
    their.tl = Language()
    their.PLACEHOLDER_TOKEN_ID, their.GREEDY_TEMPERATURE = -1, 0
    for name in NAMES[3:]:
        setattr(their, name, Kernel(getattr(their, name), their.tl))


@row("vllm", **AT, takes="logits", drafts=2,
     controls=(("ratio inverted", 0), ("test reversed", 3), ("residual is the target", 4)),
     not_covered=NOT + "; batches (vllm-batch)")
def v1(their):
    _run(their)

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        their.sample_recovered_tokens_kernel.chosen = {"BLOCK_SIZE": target.shape[1]}
        request = types.SimpleNamespace(all_greedy=False, all_random=True, generators={},
                                        temperature=torch.ones(1))
        bonus = torch.tensor([[target.shape[1]]])  # It is drawn where it comes out.
        out = their.rejection_sample(
            torch.as_tensor(drafts), [count], count, torch.tensor([count]),
            drawn_from.exp().contiguous(), target[:count].contiguous(), bonus, request)
        *kept, last = [token for token in out[0].tolist() if token >= 0]
        return [*kept, int(torch.multinomial(torch.softmax(target[-1], -1), 1))
                if last == target.shape[1] else last]
    return verify


@row("vllm-batch", **AT, drafts=1, batch=4,
     controls=(("test reversed", 3), ("residual is the target", 0), ("residual is the target", 4)),
     not_covered=NOT + "; more than one draft of the request that is judged")
def batch(their):
    """Four requests a call, of which greedy ones are among others. The second control begins
    each request but the first where it ends: `req_idx - 1` becomes `req_idx`."""
    _run(their)

    def verify(call):
        their.sample_recovered_tokens_kernel.chosen = {"BLOCK_SIZE": call.vocabulary}
        request = types.SimpleNamespace(all_greedy=False, all_random=False, generators={},
                                        temperature=call.temperature)
        return their.rejection_sample(
            call.flat_drafts, call.counts.tolist(), call.most, call.cumulative,
            call.flat_draft_probs, call.flat_target_probs.log(), call.bonus, request).numpy()
    return verify
