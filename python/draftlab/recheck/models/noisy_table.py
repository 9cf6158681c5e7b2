"""The toy `noisy-table`: the joint law of `table`, and noisy texts that masked positions show."""

from typing import Optional

import numpy as np

from draftlab.recheck.models.context import Context
from draftlab.recheck.models.table import Table
from draftlab.recheck.record import Settings


class NoisyTable(Table):
    def __init__(self, settings: Settings, section: str):
        super().__init__(settings, "model.noisy-table" if section == "model" else section)
        options = "model.noisy-table" if section == "model" else section
        self.level = settings.number(f"{options}.level", 0.5)

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        known, shown = dict(context.seen), dict(context.shown)
        known.pop(position, None)
        masses = self.joint
        for place in range(self.length):
            chances = np.full(self.vocabulary, self.level / self.vocabulary)
            if place in known:
                chances = np.arange(self.vocabulary) == known[place]
            elif place in shown:
                chances[shown[place]] += 1 - self.level
            else:
                return None
            axes = [1] * self.length
            axes[place] = self.vocabulary
            masses = masses * chances.reshape(axes)
        law = masses.sum(axis=tuple(place for place in range(self.length) if place != position))
        return law / law.sum()
