"""Five lines for an engine: batched samplers in the shapes that engines document.

`padded` is the shape of a sampler that returns [B, K + 1] filled up with -1 and is given the bonus
tokens; `ragged` has all drafts in a row with running sums and asks for the bonus itself; the wrong
one tests all requests with the first one's numbers, and so depends on the batch row.
"""

import numpy as np

import draftlab as dl
from parts import inverse, residual


def rejection_sample(drafts, counts, draft_probs, target_probs, bonus, uniforms, last):
    """Padded in, padded out; `uniforms` [B, K + 1] and `last` [B] are given."""
    out = np.full((len(drafts), drafts.shape[1] + 1), -1)
    for row, count in enumerate(counts):
        for i in range(count):
            x, p, q = drafts[row, i], target_probs[row, i], draft_probs[row, i]
            if uniforms[row, i] >= p[x] / q[x]:
                out[row, i] = inverse(residual(p, q), last[row])
                break
            out[row, i] = x
        else:
            out[row, count] = bonus[row, 0]
    return out


@dl.engine("padded", drafts=2)
def padded(call):
    return rejection_sample(call.drafts, call.counts, call.draft_probs, call.target_probs,
                            call.bonus, call.uniforms(), call.final_uniforms())


@dl.engine("padded-one-row-of-numbers", drafts=2)
def one_row_of_numbers(call):
    """All requests are tested with the first one's numbers, which only the first may use."""
    uniforms = np.repeat(call.uniforms()[:1], call.batch, axis=0)
    return rejection_sample(call.drafts, call.counts, call.draft_probs, call.target_probs,
                            call.bonus, uniforms, call.final_uniforms())


@dl.engine("ragged", drafts=2)
def ragged(call):
    """Logits, drafts in a row, temperature 0 for greedy requests; the bonus is not given."""
    logits, offsets = call.flat_target_logits, call.offsets
    tokens, counts = [], []
    for row in range(call.batch):
        start, end = offsets[row], offsets[row + 1]
        laws = np.exp(logits[start + row : end + row + 1])
        made = []
        for i, x in enumerate(call.flat_drafts[start:end]):
            p, q = laws[i], call.flat_draft_probs[start + i]
            if call.temperature[row] == 0:
                accept, instead = x == np.argmax(p), int(np.argmax(p))
            else:
                accept = call.random.below(p[x] / q[x])
                instead = None if accept else call.random.draw(residual(p, q))
            made.append(int(x) if accept else instead)
            if not accept:
                break
        else:
            made.append(call.random.draw(laws[end - start]))
        tokens += made
        counts.append(len(made))
    return np.array(tokens), np.array(counts)
