"""What a request asks for, applied for a sampler whose own code applies a part of it or nothing."""

from dataclasses import replace

import numpy as np
import torch

from draftlab.audit.sampling import Sampling, processed


def shaped(logits: torch.Tensor, sampling: Sampling = Sampling(), *theirs: str,
           **asked: float) -> torch.Tensor:
    """The logits after temperature, top-k and so on, -inf where a token is cut; what `theirs`
    names is left to their code, and `asked` stands in for what `sampling` says."""
    plain = Sampling()
    ours = replace(sampling, **{name: getattr(plain, name) for name in theirs}, **asked)
    with np.errstate(divide="ignore"):
        return torch.from_numpy(processed(logits.detach().double().numpy(), ours))
