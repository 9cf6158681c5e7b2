"""Whole decoding loops with models of our own, which answer what the audit asks: gpt-fast,
Speculative-Decoding (romsto), LLMSpeculativeSampling (feifeibear), LayerSkip, TriForce."""

import types

import torch
from draftlab.census import Code, Piece, row, shaped

NOT = "the models and caches"


@row("gpt-fast", repository="pytorch-labs/gpt-fast", function="speculative_decode",
     commit="32971d3129541c5bfb4f715abc33d1c5f408d204", takes="logits", expected="exact",
     code=Code("generate.py", ("speculative_decode", "logits_to_probs",
                               "multinomial_sample_one_no_sync")),
     controls=(("ratio inverted", 0), ("test reversed", 0), ("residual is the target", 0)),
     cuts="both", not_covered=NOT)
def gpt_fast(their):
    def verify(target, drawn_from, drafts, sampling):
        target = shaped(target, sampling, "temperature", "top_k")
        drafts = torch.as_tensor(drafts)
        their.decode_n_tokens = lambda *_, **__: (list(drafts.split(1)),
                                                  list(drawn_from.exp()))
        their.model_forward = lambda *_: target[None]
        return their.speculative_decode(
            None, None, torch.tensor([0]), 0, len(drafts), temperature=sampling.temperature,
            top_k=sampling.top_k or None).tolist()
    return verify


@row("romsto", repository="romsto/Speculative-Decoding", function="speculative_generate",
     commit="db7db67604359d0380c330c240c276ec1f85ba65", expected="exact", takes="logits",
     code=(Code("sampling/speculative_decoding.py", ("speculative_generate", "max_fn"),
                needs=("GreedyProcessor",)),
           Code("utils/logits_processor.py", (), (
               Piece("top_k", "TopKProcessor._process", "top_k", "logits", ("self", "logits"),
                     ("logits",)),
               Piece("top_p", "NucleusProcessor._process", "sorted_logits", "logits",
                     ("self", "logits"), ("logits",))))),
     controls=(("ratio inverted", 0), ("test reversed", 1), ("residual is the target", 7)),
     cuts="both", not_covered=NOT)
def romsto(their):
    def verify(target, drawn_from, drafts, sampling):
        target = shaped(target, sampling, "top_k", "top_p")
        count, queue = len(drafts), [int(token) for token in drafts]

        class Done(Exception):
            """The second round has begun; its context is what the first one committed."""

        class Processor:
            def __call__(self, logits):
                if not queue and sampling.top_k:  # What was drafted from is cut already.
                    (logits,) = their.top_k(sampling, logits)
                if not queue and sampling.top_p < 1:
                    (logits,) = their.top_p(sampling, logits)
                return torch.softmax(logits, -1)

            def sample(self, law):
                return torch.tensor([[queue.pop(0)]]) if queue else torch.multinomial(law, 1)

        class Model(types.SimpleNamespace):
            def __call__(self, input_ids, **_):
                if self.rows is drawn_from and not queue:
                    raise Done(input_ids[0, 1:].tolist())
                return types.SimpleNamespace(logits=self.rows[None, : input_ids.shape[1]],
                                             past_key_values=None)

        config = types.SimpleNamespace(vocab_size=target.shape[1], max_position_embeddings=99)
        models = [Model(rows=rows, device="cpu", config=config) for rows in (drawn_from, target)]
        try:
            their.speculative_generate([0], *models, None, count, Processor(), 2 * count + 2, -2,
                                       -1, first_target=False)
        except Done as done:
            return done.args[0]
    return verify


@row("feifeibear", repository="feifeibear/LLMSpeculativeSampling",
     commit="59a209d37b2e463459057a784f8bd31c1136a58b", function="speculative_sampling",
     code=(Code("sampling/speculative_sampling.py", ("speculative_sampling",)),
           Code("sampling/utils.py", ("sample", "max_fn", "norm_logits", "top_k_top_p_filter"))),
     controls=(("ratio inverted", 0), ("test reversed", 1), ("residual is the target", 6)),
     takes="logits", cuts="both", expected="exact",
     not_covered=NOT + "; token 0, for which sample() raises RuntimeError")
def feifeibear(their):
    def verify(target, drawn_from, drafts, sampling):
        def padded(rows):  # No law has anything of a token 0, which this code refuses.
            rows = torch.cat([torch.full((len(rows), 1), -torch.inf, dtype=rows.dtype), rows], 1)
            if rows.shape[0] == len(drafts) + 1:
                top_p = sampling.top_p if sampling.top_p < 1 else 0
                return their.norm_logits(rows, 1, sampling.top_k, top_p)[None]
            return torch.softmax(rows, -1)[None]

        target = shaped(target, sampling, "top_k", "top_p")

        def cache(model, *_):
            made = types.SimpleNamespace(generate=lambda x, _: ids)
            made.rollback = lambda end: setattr(made, "_prob_history", padded(model.rows[:end]))
            made.rollback(None)
            return made

        ids = torch.tensor([[0, *(int(token) + 1 for token in drafts)]])
        their.KVCacheModel = cache
        models = [types.SimpleNamespace(rows=rows, device="cpu") for rows in (drawn_from, target)]
        out = their.speculative_sampling(ids[:, :1], *models, 1, len(drafts))
        return (out[0, 1:] - 1).tolist()
    return verify


@row("layerskip", repository="facebookresearch/LayerSkip", function="single_step_speculation",
     commit="f42c66965545747d42e27d4beab86b5c17956566", takes="logits", expected="exact",
     code=(Code("self_speculation/self_speculation_generator.py",
                ("SelfSpeculativeGenerationStrategy.single_step_speculation", "max_fn")),
           Code("self_speculation/llama_model_utils.py", ("decode_next_token",
                                                          "top_k_top_p_filtering"))),
     controls=(("ratio inverted", 0), ("test reversed", 1), ("residual is the target", 1)),
     cuts="both", not_covered=NOT + "; the filters of transformers, which it calls")
def layerskip(their):
    warpers = types.SimpleNamespace(
        TopKLogitsWarper=lambda top_k, **_: lambda _, x: shaped(x, top_k=top_k),
        TopPLogitsWarper=lambda top_p, **_: lambda _, x: shaped(x, top_p=top_p))
    their.transformers = types.SimpleNamespace(
        generation=types.SimpleNamespace(logits_process=warpers))

    def verify(target, drawn_from, drafts, sampling):
        target = shaped(target, sampling, "temperature", "top_k", "top_p")
        queue, own = [int(token) for token in drafts], their.decode_next_token.__wrapped__ \
            if hasattr(their.decode_next_token, "__wrapped__") else their.decode_next_token

        def decode(logits, token_idx=None, **named):
            if token_idx is not None:  # A draft is what was drawn.
                token = queue.pop(0)
                return torch.tensor(token), torch.softmax(logits[:, -1], -1)
            return own(logits=logits, **named)

        decode.__wrapped__ = own
        their.decode_next_token = decode
        their.crop_past_key_values = lambda past, _: past
        rows = iter(drawn_from)

        def answer(logits):
            return types.SimpleNamespace(logits=logits, past_key_values=None,
                                         exit_query_cache=None)

        their.forward_early = lambda *_: answer(next(rows)[None, None])
        their.forward_remainder = lambda *_: answer(target[None].clone())
        out = their.single_step_speculation(
            None, None, torch.tensor([[0]]), [0], [], len(drafts), None, [-1], 0, 1,
            sample=sampling.temperature > 0, temperature=sampling.temperature,
            top_k=sampling.top_k, top_p=sampling.top_p)
        return list(out[1])
    return verify


@row("triforce-middle", repository="Infini-AI-Lab/TriForce", function="Middle_Spec", drafts=1,
     commit="164c8c0131cf49951eefdea89a3fbcccb8ca326b", expected="biased",
     code=(Code("utils/decoding.py", ("Middle_Spec",)), Code("utils/sampling.py", ("sample",))),
     because="When the retrieval model rejects a token of the small draft, its replacement is "
     "drawn from the retrieval model's whole law and not from the residual max(p - q, 0). The "
     "tokens therefore do not follow that law, but it is the one that the outer level divides by "
     "as the law they were drawn from, so what the target accepts is biased as well.",
     not_covered=NOT + "; the outer level, which divides by the law judged here")
def triforce(their):
    def verify(target, drawn_from, drafts):
        queue = [int(token) for token in drafts]
        their.sample = lambda law: (torch.tensor([queue.pop(0)]) if queue else
                                    torch.multinomial(law, 1))
        engine = types.SimpleNamespace(
            engine=types.SimpleNamespace(model=types.SimpleNamespace(device="cpu"),
                                         kv_cache=types.SimpleNamespace(seq_len=0)),
            graph_draft_inference=lambda **_: drawn_from[0],
            graph_verify=lambda **_: target)
        return their.Middle_Spec(torch.tensor([[0]]), engine, 1, False, None)[0][1:]
    return verify
