"""Samplers that draw the target's own token at each place and keep drafts while they agree:
JetSpec, DFlash, mlx-lm."""

import types

import torch
from draftlab.census import Code, Piece, row

NOT = "the models and caches; temperature 0"


@row("jetspec", repository="hao-ai-lab/JetSpec", function="tree_accept", takes="logits",
     commit="2c7b3fae75690dfe9a188a37d7fdfd43ee0e032f", tree=(2, 1), siblings="top",
     code=Code("jetspec/tree/_core/accept.py", ("tree_accept", "_sample_greedy",
                                                "_build_child_maps_cpu")),
     expected="exact", controls=(("test reversed", 1), ("row before", 4)),
     not_covered=NOT + "; the CUDA graph")
def jetspec(their):
    def verify(target, drawn_from, drafts, parents):
        above = torch.tensor([-1, *(parents + 1).tolist()])
        tokens = torch.tensor([0, *map(int, drafts)])
        tree = types.SimpleNamespace(num_nodes=len(tokens), child_maps=None, token_ids=tokens,
                                     parent_indices=above)
        path, _, last = their.tree_accept(tree, target[None], 1.0)
        return [*tokens[path[1:]].tolist(), int(last)]
    return verify


@row("dflash", repository="z-lab/dflash", function="dflash_generate (its acceptance)",
     commit="44947fbf71114e241c96de194f4b382b5dd330d0", takes="logits", expected="exact",
     code=Code("dflash/model.py", ("sample",), (Piece(
         "accept", "dflash_generate", "posterior", "output_ids",
         ("output", "block_output_ids", "output_ids", "start", "temperature"),
         ("output_ids", "acceptance_length")),)),
     controls=(("row before", 1),), not_covered=NOT)
def dflash(their):
    def verify(target, drawn_from, drafts):
        block = torch.tensor([[0, *map(int, drafts)]])
        out, accepted = their.accept(types.SimpleNamespace(logits=target[None]), block,
                                     torch.full((1, len(drafts) + 2), -1), 0, 1.0)
        return out[0, 1 : accepted + 2].tolist()
    return verify


@row("mlx-lm", repository="ml-explore/mlx-lm", function="speculative_generate_step (its loop)",
     commit="d78bf58e217c904ec282ed8da9b947491f78c022", takes="logits", expected="exact",
     code=Code("mlx_lm/generate.py", pieces=(Piece(
         "loop", "speculative_generate_step", "tokens", "ntoks",
         ("_step", "model", "model_cache", "y", "num_draft", "mx", "draft_tokens", "ntoks",
          "max_tokens")),)),
     controls=(("row before", 0), ("row before", 3)),
     not_covered=NOT + "; its sampler, which is the caller's")
def mlx(their):
    def verify(target, drawn_from, drafts):
        def step(*_):
            return torch.multinomial(torch.softmax(target, -1), 1)[:, 0], target
        mx = types.SimpleNamespace(eval=lambda *_: None)
        count = len(drafts)
        return [int(token) for token, _, _ in their.loop(
            step, None, None, None, count, mx, torch.as_tensor(drafts), 0, count + 1)]
    return verify
