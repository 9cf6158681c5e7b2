"""ReDrafter's acceptance for a temperature above 0: with the drafts of its own beam search, and the
rule by itself over one chain that was drawn."""

import types

import torch
from draftlab.census import Code, row

AT = dict(repository="apple/ml-recurrent-drafter", takes="logits", claim="not stated",
          commit="bd8586bb9bbfa761644c36f932a0cd1eb3f1cdf9")
RULE = Code("recurrent_drafting/recurrent_drafting.py",
            ("_choose_from_candidates", "_prepare_next_input", "_select_one_per_row"))
NOT = "the models and caches; its own top-k; batches"


@row("redrafter-rule", **AT, code=RULE, function="_choose_from_candidates", expected="exact",
     controls=(("residual is the target", 0), ("residual is the target", 2),
               ("residual not clipped", 0)),
     not_covered=NOT + "; its drafts (redrafter)")
def rule(their):
    their.dist = torch.distributions

    def verify(target, drawn_from, drafts):
        drafts = torch.as_tensor(drafts)
        beams = torch.cat([torch.zeros(1, dtype=torch.long), drafts])[None, None]
        laws = target.log_softmax(-1)[None, None], drawn_from[None, None]
        count, beam = their._choose_from_candidates(beams, *laws)
        _, last = their._prepare_next_input(laws[1], laws[0], laws[0], beam, count)
        return [*drafts[: int(count)].tolist(), int(last)]
    return verify


@row("redrafter", **AT, function="beam_search_candidates and _choose_from_candidates", drafts=1,
     code=(RULE, Code("recurrent_drafting/modeling_drafter.py",
                      ("Drafter.beam_search_candidates", "_gather_beams", "_add_decoding_dim"),
                      needs=("BeamShape",))), expected="biased", shown_by="two tokens",
     because="Drafts are the most probable continuations that a beam search finds, and the longest "
     "accepted one of several beams is kept, but each is verified as if it had been drawn from the "
     "drafter's law: accepted with probability min(1, p / q), and replaced from max(p - q, 0). The "
     "repository says so itself: its README names the distribution at a temperature above 0 as a "
     "known issue, and its issue 6 gives the reason. Greedy decoding is not concerned.",
     not_covered=NOT + "; more than one draft a beam; more than two beams")
def beams(their):
    their.dist, their.LOG_0, their.LOG_1 = torch.distributions, -50000.0, 0.0

    def verify(target, drawn_from, drafts):
        nothing = torch.zeros(1, 1, dtype=target.dtype)
        drafter = types.SimpleNamespace(
            config=types.SimpleNamespace(rnn=False),
            compute_logits=lambda x: drawn_from[:1].expand(1, 2, -1).clamp(min=their.LOG_0))

        def embeddings(tokens):
            return nothing[0].expand(*tokens.shape, 1)

        embeddings.num_embeddings = target.shape[1]
        found, q = their.beam_search_candidates(drafter, nothing, torch.tensor([0]), embeddings,
                                                types.SimpleNamespace(width=2, length=2))
        p = target.log_softmax(-1).expand(1, 2, 2, -1)
        count, beam = their._choose_from_candidates(found, p, q)
        if count:  # The token after it is another call's: here only its own law is judged.
            return [int(found[0, beam, 1])]
        return [int(their._prepare_next_input(q, p, p, beam, count)[1])]
    return verify
