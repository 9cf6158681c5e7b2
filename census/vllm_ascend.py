"""vllm-ascend's rejection sampler in PyTorch, which runs where Triton does not: the test of each
token, block verification (an option), and drafts of n-grams, which are certain."""

import torch
from draftlab.census import Code, row

PATH = "vllm_ascend/sample/rejection_sampler.py"
AT = dict(repository="vllm-project/vllm-ascend", commit="182b75ea84ff13ece27b57391331ef8935410aea")
TOKEN = ("rejection_random_sample_pytorch", "sample_recovered_tokens_pytorch")
BLOCK = ("rejection_random_sample_block_verify_pytorch",
         "sample_recovered_tokens_blockwise_pytorch")
NOT = "the Triton and NPU kernels; greedy rows; top-k candidates; entropy verification"
PINNED = (", pin_memory=True",)


def _fields(names):
    return dict(code=Code(PATH, names, without=PINNED), function=names[0], not_covered=NOT)


@row("vllm-ascend", **AT, **_fields(TOKEN), expected="exact",
     controls=(("ratio inverted", 1), ("test reversed", 5), ("residual is the target", 3)))
@row("vllm-ascend-ngram", **AT, **_fields(TOKEN), expected="exact",
     controls=(("ratio inverted", 1), ("test reversed", 5)))
@row("vllm-ascend-block", **AT, **_fields(BLOCK), claim="opt-in", drafts=3, expected="biased",
     because="Block verification (Sun et al., 2024) keeps a running product of ratios that is "
     "clipped after each draft, min(1, pi * p / q), and accepts a prefix with one new number a "
     "draft at a probability that contains the residual masses. Here each ratio is clipped by "
     "itself before the product is taken, and the test compares it with a product of uniform "
     "numbers. The option applies from three drafts on.")
def random_rows(their):
    their.PLACEHOLDER_TOKEN_ID = -1
    test, replace = (getattr(their, name) for name in vars(their) if name.endswith("_pytorch"))

    def verify(target, drawn_from, drafts):
        count, size = len(drafts), target.shape[1]
        target, drawn_from = target.float(), drawn_from.float()
        total, drafts = torch.tensor([count]), torch.as_tensor(drafts)
        certain = bool((drawn_from.max(1).values == 1).all())
        draft_probs = None if certain else drawn_from
        recovered, out = torch.arange(size + 1, size + count + 1), torch.full((1, count + 1), -1)
        test(out, total, drafts, draft_probs, target[:count], torch.tensor([size]), recovered,
             torch.rand(count, dtype=torch.float64), torch.tensor([False]), count, size, certain)
        *kept, last = [token for token in out[0].tolist() if token >= 0]
        if last == size:  # It stands for the bonus, and what is above it for a replacement.
            return [*kept, int(torch.multinomial(target[-1], 1))]
        if last > size:
            race = torch.empty(1, size, dtype=target.dtype).exponential_()
            replace(recovered, total, drafts, draft_probs, target[:count], race, size, certain)
            last = int(recovered[last - size - 1])
        return [*kept, last]
    return verify
