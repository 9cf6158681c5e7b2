"""Assisted generation in transformers: its rule, the same with the schedule of draft lengths, and
the rule that Spec-Bench took from an earlier version."""

import types

import torch
from draftlab.census import Code, row

HF = dict(repository="huggingface/transformers", commit="8c59cdb3f81f9f4b8e7b8d05b92d40c2e9413788",
          read_from="zucchini-nlp/transformers")
NOT = "stopping at an end token; processors"
CONTROLS = (("ratio inverted", 0), ("test reversed", 0), ("residual not clipped", 0),
            ("residual is the target", 0))


@row("transformers", **HF, function="_speculative_sampling",
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


@row("transformers-schedule", **HF, function="update_candidate_strategy and _speculative_sampling",
     code=(Code("src/transformers/generation/utils.py", ("_speculative_sampling",)),
           Code("src/transformers/generation/candidate_generator.py",
                ("AssistedCandidateGenerator.update_candidate_strategy",
                 "AssistedCandidateGenerator._calculate_new_tokens"))),
     takes="logits", expected="exact", controls=CONTROLS,
     not_covered=NOT + "; the confidence threshold, which needs sklearn; other tokenizers")
def scheduled(their):
    rule = assisted(their)
    their.is_sklearn_available = lambda: False
    named = types.SimpleNamespace(num_assistant_tokens_schedule="heuristic")

    class Assisted:
        def __init__(self):
            self.assistant_model = types.SimpleNamespace(generation_config=named)
            self.generation_config = types.SimpleNamespace(max_length=99)
            self.num_assistant_tokens, self.main_model_min_length = 1.0, 0

        def verify(self, target, drawn_from, drafts):
            _, most = their._calculate_new_tokens(self, torch.zeros(1, 1))
            count = min(most, len(drafts))
            tokens = rule(target[: count + 1], drawn_from[:count], drafts[:count])
            their.update_candidate_strategy(self, None, target[None, : count + 1],
                                            len(tokens) - 1)
            return tokens
    return Assisted
