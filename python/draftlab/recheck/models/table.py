"""The toy `table`: a joint law of few tokens and positions, written down, and what a conditional of
each kind depends on. Every number of it comes from the addressed generator."""

import itertools
import math
from typing import Dict, List, Optional, Tuple, Union

import numpy as np

from draftlab.recheck.models.context import Context, Model, Tokens
from draftlab.recheck.random_numbers import TRAIN, hash_of, normal, uniform
from draftlab.recheck.record import Settings


def _text(tokens: Tokens) -> str:
    return "".join(f" {position}:{token}" for position, token in tokens)


class Table(Model):
    def __init__(self, settings: Settings, section: str):
        options = "model.table" if section == "model" else section

        def number(key: str, default: float) -> float:
            return settings.number(f"{options}.{key}", default)

        self.kind = settings(f"{options}.kind", "ordered")
        self.cache = settings(f"{options}.cache", "causal")
        # These answer some questions as if they were others, which this program does not do.
        self.answers_otherwise = (settings.true(f"{options}.promote") or
                                  settings.true(f"{options}.shifted"))
        self.vocabulary, self.length = int(number("vocabulary", 3)), int(number("length", 5))
        self.seed, self.noise = int(number("seed", 7)), number("noise", 0.8)
        self.concentration = number("concentration", 0.7)
        weights = settings(f"{options}.marginal", "").replace(",", " ").split()
        self.marginal = [float(weight) for weight in weights]
        cells = itertools.product(range(self.vocabulary), repeat=self.length)
        masses = [self._mass(cell, tokens) for cell, tokens in enumerate(cells)]
        self.joint = np.array(masses).reshape((self.vocabulary,) * self.length)
        self._laws: Dict[str, np.ndarray] = {}

    def _mass(self, cell: int, tokens: Tuple[int, ...]) -> float:
        if self.marginal:
            return math.prod(self.marginal[token] for token in tokens)
        return self._gamma(cell)

    def _gamma(self, cell: int) -> float:
        """A gamma variate of shape `concentration` (Marsaglia and Tsang, 2000)."""
        d = self.concentration + 1 - 1 / 3
        c = 1 / math.sqrt(9 * d)
        boost = (1 - uniform(self.seed, 0, cell, TRAIN, 0)) ** (1 / self.concentration)
        for attempt in itertools.count(1, 2):
            x = normal(self.seed, 0, cell, TRAIN, 0, attempt)
            v = (1 + c * x) ** 3
            u = 1 - uniform(self.seed, 0, cell, TRAIN, 0, attempt + 1)
            if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
                return boost * d * v
        raise AssertionError

    def law(self, context: Context, position: int) -> Optional[np.ndarray]:
        if self.answers_otherwise:
            return None
        if self.kind == "ordered":
            key = f"ordered{_text(context.given)} then{_text(context.generated)}"
            return self._answer(key, position, context.seen)
        seen, key = context.seen, "set"
        if self.kind == "views":
            first, end = context.block(position)
            causal = context.causal or end - first == 1
            limit = position if causal else end
            seen = tuple(each for each in seen if each[0] < limit)
            key = "causal" if causal else "set"
            if first > 0 and context.blocks[0] > 1 and self.cache != "causal":
                given = {place for place, _ in context.given}
                beginning = range(*context.block(0))
                if self.cache == "block" or all(place in given for place in beginning):
                    key += f" on {self.cache}"
        return self._answer(key + _text(seen), position, seen)

    def _answer(self, key: str, position: int, seen: Tokens) -> np.ndarray:
        key += f" of {position}"
        if key not in self._laws:
            index: List[Union[int, slice]] = [slice(None)] * self.length
            for place, token in seen:
                index[place] = token
            open_places = [place for place in range(self.length)
                           if isinstance(index[place], slice)]
            axes = tuple(i for i, place in enumerate(open_places) if place != position)
            weights = self.joint[tuple(index)].sum(axis=axes)
            if self.kind != "joint":
                code = hash_of(key)
                weights = weights * [math.exp(self.noise * normal(self.seed, code, token, TRAIN, 0))
                                     for token in range(self.vocabulary)]
            self._laws[key] = weights / weights.sum()
        return self._laws[key]
