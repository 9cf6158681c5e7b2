"""TensorRT-LLM's verification where the draft is another model: rejection sampling of a chain, and
the tree whose drafts are kept while they agree with the target's own draws."""

import types

import torch
from draftlab.census import Code, row

AT = dict(repository="NVIDIA/TensorRT-LLM", commit="00be09f78ecf0691f2b8e15dea518d1d6468679e",
          takes="logits", expected="exact")
PATH = "tensorrt_llm/_torch/pyexecutor/sampler/two_model_spec_dec.py"
HANDLER = "TwoModelSpecDecHandler._process_draft_tokens_"
NOT = "the law of the drafts, which its sampler makes anew; batches; stopping; one-model rules"


def _request(their, drafts, **fields):
    """One request, and the handler that verifies it; what is committed is in `tokens`."""
    tokens = []
    their.cast, their.prefer_pinned = (lambda _, value: value), (lambda: False)
    their.DEFAULT_BEAM_IDX = 0
    their.handle_stop_criteria = lambda *_, **__: False
    their.get_draft_token_length = lambda request: len(request.py_draft_tokens)
    their.add_token = lambda request, drawn, step, **_: tokens.append(drawn(step))
    handler = types.SimpleNamespace(_sampler=types.SimpleNamespace(
        get_generator=lambda _: torch.Generator(), max_seq_len=99,
        finish_if_reason=lambda *_, **__: False))
    made = types.SimpleNamespace(
        py_draft_tokens=[int(token) for token in drafts], seq_slot=0, py_seq_slot=0,
        add_new_token=lambda token, _: tokens.append(token), **fields)
    return handler, made, tokens


@row("tensorrt-llm", **AT, function="_process_draft_tokens_rejection_sampling", not_covered=NOT,
     code=Code(PATH, ("get_rejected_indices", "sample_rejected", HANDLER + "rejection_sampling"),
               without=(", dtype=torch.int32",)),  # Old versions of torch index by int64 alone.
     controls=(("ratio inverted", 0), ("test reversed", 0), ("residual is the target", 0)))
def chain(their):
    their._request_strategy = lambda *_, **__: None
    their.sample = lambda _, logits, **__: (None, torch.softmax(logits, -1), None)

    def verify(target, drawn_from, drafts):
        laws = torch.softmax(target, -1)
        handler, made, tokens = _request(their, drafts, py_draft_logits=drawn_from,
                                         py_target_probs=laws)
        their._process_draft_tokens_rejection_sampling(
            handler, made, lambda step: int(torch.multinomial(laws[step], 1)),
            torch.zeros(len(drafts) + 1, 1, 1, dtype=torch.long))
        return tokens
    return verify


@row("tensorrt-llm-tree", **AT, function="_process_draft_tokens_tree", tree=(2, (2, 0)),
     siblings="top", code=Code(PATH, (HANDLER + "tree",)), not_covered=NOT + "; other trees",
     controls=(("row before", 4), ("row before", 6)))
def tree(their):
    def verify(target, drawn_from, drafts, retrieve_indices):
        drawn = torch.multinomial(torch.softmax(target, -1), 1)
        handler, made, tokens = _request(their, drafts)
        manager = types.SimpleNamespace(get_eagle_paths=lambda _: retrieve_indices,
                                        max_total_draft_tokens=len(drafts))
        their._process_draft_tokens_tree(handler, made, drawn[:, None], lambda i: int(drawn[i]),
                                         None, manager)
        return tokens
    return verify
