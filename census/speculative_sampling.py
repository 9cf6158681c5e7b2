"""Assisted generation's rule in transformers (as a copy of version 4.47.1 has it), and the one
that Spec-Bench took from an earlier version."""

import torch
from draftlab.census import Code, row

NOT = "assisted decoding's schedules of draft lengths; stopping at an end token; processors"
CONTROLS = (("ratio inverted", 0), ("test reversed", 0), ("residual not clipped", 0),
            ("residual is the target", 0))


@row("transformers", repository="F4biian/transformers-v4.47.1-and-internal-states",
     commit="85110f3bfa1c644f13b55e0cd8a3b41352436e66", function="_speculative_sampling",
     code=Code("src/transformers/generation/utils.py", ("_speculative_sampling",)),
     takes="logits", expected="exact", controls=CONTROLS, not_covered=NOT)
@row("spec-bench-sps", repository="hemingkx/Spec-Bench", function="_speculative_sampling",
     commit="fd2c1cd7d2201ef71db4c5f4e455008f017967bf", takes="logits", expected="exact",
     code=Code("model/sps/decoding.py", ("_speculative_sampling",)), controls=CONTROLS,
     not_covered=NOT)
def assisted(their):
    # torch before 2.0 squeezes one axis a call, where this code names two.
    class Squeezable(torch.Tensor):
        def squeeze(self, *axes):
            for axis in sorted(axes, reverse=True):
                self = torch.Tensor.squeeze(self, axis)
            return self

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        names = their._speculative_sampling.__code__.co_varnames
        last = {"last_assistant_token_is_eos": False, "is_done_candidate": False,
                "max_matches": count}
        rest = [last[name] for name in names if name in last]
        tokens, _ = their._speculative_sampling(
            torch.as_tensor(drafts)[None], drawn_from[None].as_subclass(Squeezable), count,
            target[None].as_subclass(Squeezable), *rest)
        return tokens[0].tolist()
    return verify
