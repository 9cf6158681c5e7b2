"""An unmasker that learned from traces which drafts are worth committing (learn.py)."""

import json
import pathlib

import numpy as np

import draftlab as dl


def gaps(positions, known):
    """How far each position lies behind the last one before it that holds a token."""
    before = np.searchsorted(known, positions) - 1
    return positions - np.where(before >= 0, known[before], -1)


@dl.unmasker("learned-order")
class LearnedOrder:
    """Drafts that a better decoder keeps, as a table of its traces tells by entropy and gap."""

    sure: float = dl.option(0.9, low=0, high=1, help="So probably a step's commits are all kept.")
    most: int = dl.option(0, low=0, high=4096, help="Drafts a step at most; 0: all that are sure.")
    drawn: bool = dl.option(False, help="Rank by the drawn token's probability (lossy: a control).")
    learned: str = dl.option("", help="What learn.py wrote; empty: the file beside this one.")

    def __init__(self):
        file = self.learned or pathlib.Path(__file__).with_name("learned.json")
        learned = json.loads(pathlib.Path(file).read_text())
        self.entropies, self.gaps = learned["entropies"], learned["gaps"]
        self.kept, self.due = np.array(learned["kept"]), np.array(learned["due"])

    def ranked(self, step, proposal):
        """The drafts in the order learned, and how probably so many of them are all kept."""
        numbers = proposal.numbers()
        entropy = numbers["entropy"]
        if self.drawn:
            entropy = -np.log(np.maximum(numbers["probability"], 1e-300))
        positions = np.array([node.position for node in proposal.nodes])
        known = np.flatnonzero(np.asarray(step.canvas.tokens) >= 0)
        cells = (np.searchsorted(self.entropies, entropy),
                 np.searchsorted(self.gaps, gaps(positions, known)))
        order = np.lexsort((positions, entropy, -self.due[cells]))
        return [proposal.nodes[i] for i in order], np.cumprod(self.kept[cells][order])

    def choose(self, step, proposal):
        drafts, kept = self.ranked(step, proposal)
        count = max(1, int(np.sum(kept > self.sure)))
        count = min(count, self.most or count)
        return [dl.Commit(node.position, node.token) for node in drafts[:count]]

    def preview(self, step, proposal):
        return int(np.sum(self.ranked(step, proposal)[1] > self.sure))
