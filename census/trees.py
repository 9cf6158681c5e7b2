"""Sequoia's trees: children drawn without replacement, and SpecInfer's with."""

import types

import torch
from draftlab.census import Code, row

AT = dict(repository="Infini-AI-Lab/Sequoia", commit="0ff3ff71475ca148f2dfb7545e0de5caf5c67b39",
          takes="logits", tree=(2,), expected="exact")
NOT = "the CUDA graphs; how drafts are drawn; top-p; deeper trees; float16"


@row("sequoia", **AT, siblings="without", function="SpecTree.accept_step",
     code=(Code("Tree/SpecTree.py", ("SpecTree.accept_step",)),
           Code("utils.py", ("get_residual",))), not_covered=NOT,
     controls=(("test reversed", 0), ("residual not clipped", 0), ("residual is the target", 5)))
@row("specinfer", **AT, siblings="iid", function="SpecInferTree.accept_step",
     code=(Code("Tree/SpecInferTree.py", ("SpecInferTree.accept_step",)),
           Code("utils.py", ("get_residual",))), not_covered=NOT,
     controls=(("test reversed", 0), ("residual not clipped", 0), ("residual is the target", 5)))
def sequoia(their):
    their.softmax = torch.softmax

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        nodes = torch.cat([torch.zeros(1, dtype=torch.long), torch.as_tensor(drafts)])
        tree = types.SimpleNamespace(
            target_logits=torch.softmax(target, -1), ground_truth_len=1, temperature=1.0,
            draft_logits=drawn_from[:1].clone(), tokens=nodes, dtype=target.dtype,
            Successors=[list(range(1, count + 1))] + [[]] * count,
            r=torch.rand(count + 1, dtype=target.dtype), residual_graph=their.get_residual)
        tree.draft_logits = torch.cat([tree.draft_logits] * (count + 1))
        at, law = their.accept_step(tree, 0)
        tokens = [] if at < 0 else [int(nodes[at])]
        law = law if at < 0 else their.accept_step(tree, at)[1]
        return [*tokens, int(torch.multinomial(law, 1))]
    return verify
