"""DeepSpec's verification in its evaluator."""

import types

import torch
from draftlab.census import Code, row


@row("deepspec", repository="deepseek-ai/DeepSpec", function="verify_draft_tokens",
     commit="afdfa7c9382a3341a3e6f17756dd816da79f132c", takes="logits", expected="exact",
     code=(Code("deepspec/eval/base_evaluator.py", ("verify_draft_tokens",)),
           Code("deepspec/utils/sampling.py", ("logits_to_probs", "gather_token_probs",
                                               "sample_from_probs", "sample_residual"))),
     controls=(("ratio inverted", 0), ("test reversed", 6), ("residual is the target", 0)),
     not_covered="the draft models; stopping at an end token")
def evaluator(their):
    their.VerificationResult = types.SimpleNamespace

    def verify(target, drawn_from, drafts):
        proposal = types.SimpleNamespace(
            draft_token_count=len(drafts), draft_probs=drawn_from.exp()[None],
            verify_input_ids=torch.tensor([[0, *map(int, drafts)]]))
        done = their.verify_draft_tokens(
            target_model=lambda **_: types.SimpleNamespace(logits=target[None]),
            proposal=proposal, position_ids=torch.arange(len(drafts) + 1)[None], start=0,
            past_key_values_target=None, temperature=1.0, max_proposal_tokens=len(drafts))
        return [*map(int, drafts[: done.accepted_draft_tokens]), int(done.next_token)]
    return verify
