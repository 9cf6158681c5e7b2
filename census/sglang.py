"""SGLang's rejection sampling of chains, a Triton kernel that is run by an interpreter of ours
(draftlab.census.triton). Its sampling of trees is a CUDA kernel without a reference in Python."""

import torch
from draftlab.census import Code, row
from draftlab.census.triton import Kernel, Language

KERNEL = "speculative_sampling_classic_kernel"
NAMES = (KERNEL, "chain_speculative_sampling_triton")


@row("sglang", repository="sgl-project/sglang", function=NAMES[1], expected="exact",
     commit="8905cbd42f4a27dbecad6487cd3904278756fef8", read_from="Muqi1029/sglang",
     code=Code("python/sglang/kernels/ops/speculative/reject_sampling.py", NAMES),
     controls=(("test reversed", 1), ("residual is the target", 1), ("residual not clipped", 1)),
     not_covered="what a compiler makes of the kernel; batches; tree sampling in CUDA; filters")
def chain(their):
    their.tl = Language()
    setattr(their, KERNEL, Kernel(getattr(their, KERNEL), their.tl))

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        slots = torch.arange(count + 1)[None]
        tokens = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])[None]
        out, accepted = torch.full((count + 1,), -1), torch.zeros(1, dtype=torch.long)
        their.chain_speculative_sampling_triton(
            out, torch.full_like(slots, -1), accepted, tokens, slots, None, None,
            torch.rand(1, count + 1, dtype=target.dtype), torch.rand(1, dtype=target.dtype),
            target[None], drawn_from[None], 1.0, 1.0, True)
        return out[: int(accepted) + 1].tolist()
    return verify
