"""What a conditional law depends on, and who answers it."""

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

# (position, token) in an order that matters where it says so.
Tokens = Tuple[Tuple[int, int], ...]


@dataclass(frozen=True)
class Context:
    """A state, and what is drafted on it."""

    # The given tokens, by position.
    given: Tokens
    # What was committed and then drafted, in that order.
    committed: Tokens
    drafted: Tokens
    length: int
    # Whether a position sees what precedes it alone, or all of its block.
    causal: bool
    # Which block each position belongs to: (size, offset of the first one); size 0 is one block.
    blocks: Tuple[int, int] = (0, 0)
    # What masked positions show to a model that reads a random canvas, as far as it was recorded.
    shown: Tokens = ()

    @property
    def generated(self) -> Tokens:
        return self.committed + self.drafted

    @property
    def seen(self) -> Tokens:
        """All tokens, by position."""
        return tuple(sorted(self.given + self.generated))

    def block(self, position: int) -> Tuple[int, int]:
        """The first position of a position's block, and its end."""
        size, offset = self.blocks
        if size == 0:
            return 0, self.length
        first = (position - offset) // size * size + offset
        return max(first, 0), min(first + size, self.length)


class Model:
    """Answers laws at temperature 1, the mask token left out."""

    # How far a probability may be off: sums of a network in float32 are rounded in another order.
    relative = 1e-6

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        """The law of a masked position; None where this program does not know the question."""
        raise NotImplementedError
