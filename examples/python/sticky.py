"""The smallest model: a token repeats the nearest known one to its left with probability `stay`."""

import numpy as np

import draftlab as dl


@dl.model("sticky-py")
class Sticky(dl.Model):
    """A token repeats its left neighbour with probability `stay`."""

    stay: float = dl.option(0.7, low=0.01, high=0.99, help="Probability of a repetition.")
    vocabulary, mask = 4, 3  # tokens are 0, 1, 2; the mask is none
    view = "bidirectional"  # the row of an asked position answers it

    def logits(self, ids, allowed, positions, asked):
        made = np.zeros((len(asked[0]), self.vocabulary), dtype=np.float32)
        for law, row, position in zip(made, *asked):
            seen = ids[row, :position][allowed[row, position, :position]]
            known = seen[seen != self.mask]
            if known.size:
                law[known[-1]] = np.log(2 * self.stay / (1 - self.stay))
        return made
