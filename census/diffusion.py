"""Authors' loops for masked models and n-grams: ASSD's rejection loop, S2D2's verification in the
loop for LLaDA2, Lookahead's verification of n-grams."""

import types

import torch
from draftlab.census import Code, Piece, row

NOT = "the models and their attention masks"


@row("assd", repository="gabeguo/any-order-speculative-decoding", function="(its rejection loop)",
     commit="83a444d70f42f4988d9db8d6bdc255fc13274714", expected="exact",
     code=Code("speculative_decoding.py", pieces=(Piece(
         "reject", "speculative_decoding", "i", "modified_dist",
         ("n", "k", "print_steps", "order_to_pos", "sample", "ngram_model", "gt_probs",
          "pred_probs", "r_atol", "new_sequence", "mask_token", "context_ngram", "seqlen", "eps",
          "vocab_size"), ("i",)),), without=(".cuda()",)),
     controls=(("ratio inverted", 0), ("test reversed", 0), ("residual is the target", 1)),
     not_covered=NOT + "; tempered ratios; its n-gram drafts")
def assd(their):
    their.update_context_ngram = lambda **_: None

    def verify(target, drawn_from, drafts):
        count, size = len(drafts), target.shape[1]
        target, drawn_from = target.float(), drawn_from.float()
        sequence = torch.full((1, count), size)
        (last,) = their.reject(0, count, False, torch.arange(count),
                               torch.as_tensor(drafts)[None], True, target, drawn_from, 0.0,
                               sequence, size, None, count, 0.0, size)
        return sequence[0, : last + 1].tolist()
    return verify


@row("s2d2", repository="phymhan/S2D2", function="(its rejection sampling for LLaDA2)",
     commit="279500ab623fae72307ea899412d291c6ff00c30", takes="logits", expected="exact",
     code=Code("LLaDA2/generate_utils.py", ("_reject_resample_from_delta",), (Piece(
         "reject", "generate_ssd_policy", "draft_tokens", "update_tokens",
         ("x0", "span_rel_t", "x0_p", "q_probs", "ssd_ratio_tempering_factor", "span_rel",
          "cur_x", "transfer_index", "update_tokens", "logits", "temperature", "top_k", "top_p",
          "decoded_this_step", "record_decoding_order"),
         ("update_rel", "update_tokens")),)),
     controls=(("ratio inverted", 2), ("test reversed", 1), ("residual is the target", 0)),
     not_covered=NOT + "; tempered ratios; top-k and top-p; its routing policies")
def s2d2(their):
    their._probs_from_logits = lambda logits, **_: torch.softmax(logits, -1)

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        span = torch.arange(count)
        x0 = torch.as_tensor(drafts)[None]
        p = drawn_from.exp()[span, x0[0]][None]
        update = torch.zeros_like(x0)
        chosen, tokens = their.reject(
            x0, span, p, torch.softmax(target[:count], -1), 1.0, span.tolist(), x0,
            torch.zeros(1, count, dtype=torch.bool), update, drawn_from[None], 1.0, None, None,
            0, False)
        return tokens[0, : len(chosen)].tolist()
    return verify


@row("lookahead", repository="hao-ai-lab/LookaheadDecoding", takes="logits",
     commit="eed010da9c7b1867912675d480feec5629e0c2d0", function="jacobi_sample_multilevel",
     code=Code("lade/decoding.py", pieces=(Piece(
         "verify", "jacobi_sample_multilevel", "idx_in_ngram", "idx_in_ngram",
         ("GUESS_SIZE", "guess_indices", "guess_tokens", "probs_next", "guess_probs", "hits"),
         ("hits",)),)),
     expected="exact", controls=(("test reversed", 1), ("rejected draft kept", 0)),
     not_covered=NOT + "; several n-grams at once; the pool that n-grams come from")
def lookahead(their):
    def verify(target, drawn_from, drafts):
        laws = torch.softmax(target, -1)
        (tokens,) = their.verify(len(drafts), [0], [int(token) for token in drafts],
                                 laws[0].clone(), laws[1:].clone(), [])
        return tokens
    return verify
