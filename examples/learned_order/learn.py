"""Counts what a decoder did with its drafts: learn.py TRACE FILE

The trace has texts that were decoded one token a step. In every step each masked position was
drafted; the text kept that draft or took another token there, in one of the next few steps or much
later. FILE gets the shares of drafts that were kept, and of those that were kept and soon
committed, by the entropy of their law and by how far they lie from the text before them.
"""

import json
import sys

import numpy as np
from learned_order import gaps

from draftlab import Trace

SOON = 8  # Steps.
GAPS = [1, 2, 4, 8, 16, 32]  # The last distances of all groups but one.
GROUPS = 8  # Of entropies, as many drafts in each.


def examples(trace):
    """Yields of each step's drafts the entropies, the gaps, which the text kept, and which soon."""
    for sample in trace:
        text, turns = {}, {}
        for turn, step in enumerate(sample["steps"]):
            for token in step["tokens"]:
                text[token["position"]], turns[token["position"]] = token["id"], turn
        known = np.ones(sample["length"], dtype=bool)
        known[list(text)] = False
        for turn, step in enumerate(sample["steps"]):
            positions = np.array([draft["position"] for draft in step["drafts"]])
            kept = np.array([draft["id"] == text[draft["position"]] for draft in step["drafts"]])
            soon = np.array([turns[position] < turn + SOON for position in positions])
            yield ([draft["entropy"] for draft in step["drafts"]],
                   gaps(positions, np.flatnonzero(known)), kept, kept & soon)
            known[[token["position"] for token in step["tokens"]]] = True


def shares(cells, those):
    """The share of those in each cell, as if one more of each kind had been seen."""
    counts = np.zeros((2, GROUPS, len(GAPS) + 1))
    np.add.at(counts, (those.astype(int), *cells), 1)
    return ((counts[1] + 1) / (counts.sum(0) + 2)).round(4).tolist()


def main(trace, file):
    entropy, gap, kept, due = map(np.concatenate, zip(*examples(Trace(trace))))
    entropies = np.quantile(entropy, np.arange(1, GROUPS) / GROUPS)
    cells = np.searchsorted(entropies, entropy), np.searchsorted(GAPS, gap)
    learned = {"entropies": entropies.round(4).tolist(), "gaps": GAPS,
               "kept": shares(cells, kept), "due": shares(cells, due)}
    with open(file, "w") as out:
        json.dump(learned, out)
        out.write("\n")
    print(f"{len(kept)} drafts: {kept.mean():.3f} were kept, {due.mean():.3f} within {SOON} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
