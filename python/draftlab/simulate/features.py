"""What is known of a sequence before a step: numbers that a router can read.

Nothing here looks at the tokens that are to come. `Known` is the state of many sequences at once,
an entry of each array for each of them.
"""

from dataclasses import dataclass
from typing import List

import numpy as np

from draftlab.simulate.acceptance import Request

LOOK_BACK = 24  # Older lookups are no longer followed.

NAMES = ("last_commits", "commits_before", "commits_before_that", "all_accepted",
         "all_accepted_drafted", "all_accepted_commits", "fast_mean", "slow_mean", "mean",
         "steps_without_drafts", "generated", "prompt", "lookup_alive", "lookup_depth")


def lookups_alive(request: Request, length: int) -> np.ndarray:
    """For each position how many tokens ago the oldest lookup began that was right until now.

    A lookup costs no forward, so it can be made at every position; whether its tokens came is known
    as soon as they are there. NaN where the lengths of lookups are not known.
    """
    if "ngram" not in request.lengths:
        return np.full(length, np.nan)
    accepted = request.lengths["ngram"]
    last_right = np.arange(len(accepted)) + accepted - 1
    alive = np.zeros(length)
    for at in range(1, min(length, len(accepted))):
        first = max(0, at - LOOK_BACK)
        right = np.nonzero(last_right[first:at] >= at)[0]
        alive[at] = at - first - right[0] if len(right) else 0
    return alive


@dataclass
class Known:
    """The sequences' histories, by steps that drafted."""

    made: np.ndarray      # Tokens generated.
    commits: np.ndarray   # [sequences, 3]: what the last three drafting steps committed; 0: none.
    full: np.ndarray      # Whether all drafts of the last one were accepted.
    drafted: np.ndarray   # What the last one drafted.
    fast: np.ndarray      # Running mean of commits, the last one with weight 0.3.
    slow: np.ndarray      # The same with weight 0.1.
    sums: np.ndarray      # [sequences, 2]: commits and steps that drafted.
    idle: np.ndarray      # Steps since the last that drafted.

    @staticmethod
    def at_begin(sequences: int) -> "Known":
        def zeros(*shape: int) -> np.ndarray:
            return np.zeros((sequences, *shape))

        return Known(made=np.ones(sequences, dtype=int), commits=zeros(3), full=zeros(),
                     drafted=zeros(), fast=zeros() + 2, slow=zeros() + 2,
                     sums=zeros(2) + (4.0, 2.0), idle=zeros())

    def observe(self, who: np.ndarray, drafted: np.ndarray, commits: np.ndarray) -> None:
        """Takes in a step of the sequences `who`."""
        self.made[who] += commits
        did = drafted > 0
        at, count = who[did], commits[did].astype(float)
        self.commits[at, 1:] = self.commits[at, :2]
        self.commits[at, 0] = count
        self.full[at] = count == drafted[did] + 1
        self.drafted[at] = drafted[did]
        self.fast[at] += 0.3 * (count - self.fast[at])
        self.slow[at] += 0.1 * (count - self.slow[at])
        self.sums[at] += np.stack([count, np.ones_like(count)], axis=1)
        self.idle[at] = 0
        self.idle[who[~did]] += 1

    def features(self, who: np.ndarray, prompt: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """[who, NAMES]; `prompt` and `alive` belong to `who`."""
        # What the last steps did says less the longer nothing was drafted since.
        fades = 0.5 ** self.idle[who]
        logs = np.log1p(self.commits[who]) * fades[:, None]
        full = self.full[who] * fades
        columns: List[np.ndarray] = [
            logs[:, 0], logs[:, 1], logs[:, 2], full, full * np.log1p(self.drafted[who]),
            full * logs[:, 0], self.fast[who] / 4, self.slow[who] / 4,
            self.sums[who, 0] / self.sums[who, 1] / 4, np.minimum(self.idle[who], 8) / 8,
            np.log(self.made[who]) / 4, np.log1p(prompt) / 4, alive > 0, np.log1p(alive)]
        return np.stack(columns, axis=1).astype(float)
