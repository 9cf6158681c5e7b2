"""The battery: small worlds in which the law of the next token is known.

A toy says, for every context of tokens, the target's law and the law that drafts are drawn from.
The laws are fixed tables or depend on the context by a hash, and hold the cases that samplers get
wrong: ties, zeros, point masses, equal laws, disjoint laws, small residuals.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Callable, Dict, List, Optional, Tuple

import numpy as np

from draftlab.audit.generator import seeded
from draftlab.audit.sampling import Sampling, probabilities

Context = Tuple[int, ...]
MOST_DRAFTS = 5  # The battery drafts so many tokens for a sampler that takes any number.


@dataclass
class Toy:
    """One world. `target` and `draft` make a law of a context; `drafts` is the number drafted."""

    name: str
    vocabulary: int
    drafts: int
    target_logits: Callable[[Context], np.ndarray]
    draft_logits: Callable[[Context], np.ndarray]
    # The temperature shapes the target and the draft alike, a logit bias the target alone; top-k,
    # top-p and min-p cut tokens off what `cuts` names: the "target", the "draft" or "both".
    sampling: Sampling = field(default_factory=Sampling)
    cuts: str = "target"
    steps: int = 1  # The sampler is called once, or as often as a whole sequence takes.
    precision: str = "float64"
    row: int = 0  # The toy's row in the batch with which an engine's sampler is called.
    first: bool = False  # It is looked at before others: the first of its number of drafts.
    cache: Dict = field(default_factory=dict, repr=False)

    def target(self, context: Context) -> np.ndarray:
        """The law of the token after `context`, after temperature, top-k and so on."""
        known = self.cache.get((0, context))
        return self._law(0, context) if known is None else known

    def draft(self, context: Context) -> np.ndarray:
        """The law that the draft after `context` is drawn from."""
        known = self.cache.get((1, context))
        return self._law(1, context) if known is None else known

    def _law(self, which: int, context: Context) -> np.ndarray:
        logits = (self.target_logits, self.draft_logits)[which]
        law = probabilities(logits(context), self.of_drafts if which else self.owed)
        law = law if self.precision == "float64" else round_to_bf16(law)
        law = law / law.sum()
        law.setflags(write=False)
        self.cache[which, context] = law
        return law

    def before_greedy(self, context: Context) -> np.ndarray:
        """The target's law; at temperature 0 that of temperature 1, of which the most probable
        token is owed."""
        if self.sampling.temperature > 0:
            return self.target(context)
        return probabilities(self.target_logits(context), replace(self.owed, temperature=1.0))

    @property
    def owed(self) -> Sampling:
        """What shapes the target's law."""
        return self.sampling.uncut() if self.cuts == "draft" else self.sampling

    @property
    def of_drafts(self) -> Sampling:
        """What shapes the law of drafts."""
        plain = replace(self.sampling, logit_bias=())
        return plain.uncut() if self.cuts == "target" else plain

    def draw_draft(self, context: Context, random) -> int:
        """A draft after `context`."""
        key = ("draft", context)
        if key not in self.cache:
            self.cache[key] = tuple(self.draft(context).tolist())
        return random.draw(self.cache[key])

    def described(self) -> str:
        """The laws of the empty context, in words."""
        sampling = "" if self.sampling.plain else f" {self.sampling}"
        if self.vocabulary > 8:
            return f"V {self.vocabulary}{sampling}"
        rows = [" ".join(f"{p:.4g}" for p in law) for law in (self.target(()), self.draft(()))]
        return f"p ({rows[0]}) q ({rows[1]}){sampling}"


def round_to_bf16(values) -> np.ndarray:
    """Rounds to the 8 significant bits of bfloat16, to even, as float64."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & 0xFFFF0000).view(np.float32).astype(np.float64)


def _log(law) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(law, dtype=np.float64))


def _fixed(law) -> Callable[[Context], np.ndarray]:
    logits = _log(law)
    return lambda context: logits


def _hashed(vocabulary: int, *salt: int, zeros: int = 0) -> Callable[[Context], np.ndarray]:
    """A law that depends on the whole context; `zeros` tokens have none of it."""

    def logits(context: Context) -> np.ndarray:
        generator = seeded(*salt, len(context), *context)
        weights = generator.integers(1, 17, vocabulary).astype(np.float64)
        if zeros:
            weights[generator.permutation(vocabulary)[:zeros]] = 0
        return _log(weights / weights.sum())

    return logits


_TOP_P, _MIN_P = 0.6, 0.5


def _without_ties(vocabulary: int, *salt: int) -> Callable[[Context], np.ndarray]:
    """A law that depends on the whole context, with no tie and no token at a filter's border: there
    two correct filters may keep different tokens."""

    def clear(law: np.ndarray) -> bool:
        falling = -np.sort(-law)
        gaps = [np.diff(falling), falling.cumsum() - _TOP_P, falling - _MIN_P * falling[0]]
        return bool(min(np.abs(gap).min() for gap in gaps) > 1e-9)

    def logits(context: Context) -> np.ndarray:
        tries = (_hashed(vocabulary, *salt, *more)(context)
                 for more in itertools.chain([()], zip(itertools.count(1))))
        return next(found for found in tries if clear(np.exp(found)))

    return logits


def _named() -> List[Tuple[str, List[float], List[float]]]:
    third = 1 / 3
    return [
        ("two tokens", [third, 2 * third], [2 * third, third]),
        ("one residual token", [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]),
        ("two residual tokens", [0.1, 0.6, 0.3], [0.55, 0.25, 0.2]),
        ("reversed", [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]),
        ("draft is the target", [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        ("ties", [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]),
        ("zeros of the target", [0.0, 0.7, 0.3], [0.5, 0.2, 0.3]),
        ("zeros of the draft", [0.4, 0.4, 0.2], [0.9, 0.1, 0.0]),
        ("disjoint", [0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]),
        ("draft is certain", [0.5, 0.3, 0.2], [0.0, 1.0, 0.0]),
        ("target is certain", [0.0, 1.0, 0.0], [0.3, 0.4, 0.3]),
        ("both are certain", [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    ]


def chains(most: Optional[int], level: str, seed: int = 0) -> List[Toy]:
    """The toys for chains of up to `most` drafts, the smallest first; `seed` makes random laws."""
    most = MOST_DRAFTS if most is None else most
    toys = [Toy(name, len(p), 1, _fixed(p), _fixed(q)) for name, p, q in _named()]
    toys.append(Toy("wide", 32, 1, _hashed(32, 1, zeros=24), _hashed(32, 2, zeros=26)))
    deep = {2: [2, 4], 3: [3]} if level == "full" else {2: [2]}
    sizes = [(drafts, 3 if drafts <= 2 else 2, True) for drafts in range(1, most + 1)]
    sizes += [(k, size, False) for k, more in deep.items() if k <= most for size in more]
    for drafts, size, first in sizes:
        toys.append(Toy("by context", size, drafts, _hashed(size, 11), _hashed(size, 12),
                        first=first))
    if most >= 2:
        name, p, q = _named()[3]
        toys.append(Toy(name, 4, 2, _fixed(p), _fixed(q)))
        toys.append(Toy("zeros by context", 4, 2, _hashed(4, 13, zeros=1),
                        _hashed(4, 14, zeros=1)))
    toys += special(min(most, 2) if level == "full" else 1)
    toys += unforeseen(min(most, 2), 10 if level == "full" else 2, seed)
    if level == "full":
        toys += thorough(most)
    longest = 3 if level == "full" else 2
    for drafts in range(1, min(most, 2) + 1):
        toys.append(Toy("whole sequence", 2, drafts, _hashed(2, 21), _hashed(2, 22),
                        steps=longest))
    return sorted(toys, key=lambda toy: (toy.steps, toy.drafts > 1, toy.drafts))


def unforeseen(most: int, count: int, seed: int) -> List[Toy]:
    """Laws that nobody can have written a sampler for, since the seed is chosen when it is run."""
    made = []
    for number in range(count):
        made.append(Toy(f"random {number + 1}", 3, 1 + number % most,
                        _hashed(3, 50 + number, seed),
                        _hashed(3, 150 + number, seed, zeros=number // 2 % 2)))
    return made


def special(drafts: int) -> List[Toy]:
    """Sampling parameters and a precision."""
    plain = Toy("", 4, drafts, target_logits=_without_ties(4, 31),
                draft_logits=_without_ties(4, 32))
    settings = [
        ("temperature 0.5", Sampling(temperature=0.5)),
        ("temperature 0", Sampling(temperature=0.0)),
        ("top-k", Sampling(top_k=2)),
        ("top-p", Sampling(top_p=_TOP_P)),
        ("min-p", Sampling(min_p=_MIN_P)),
        ("logit bias", Sampling(logit_bias=((1, -100.0),))),
    ]
    toys = [replace(plain, name=name, sampling=sampling, cache={}) for name, sampling in settings]
    return toys + [replace(plain, name="bf16", precision="bf16", cache={})]


def thorough(most: int) -> List[Toy]:
    """The toys that only the full battery has: wider and deeper ones."""
    toys = [Toy("wide", 16, 1, _hashed(16, 41), _hashed(16, 42)),
            Toy("wide without zeros", 32, 1, _hashed(32, 43), _hashed(32, 44))]
    if most >= 2:
        toys.append(Toy("wide", 8, 2, _hashed(8, 61), _hashed(8, 62)))
    if most >= 3:
        toys.append(Toy("by context", 4, 3, _hashed(4, 63), _hashed(4, 64, zeros=1)))
    return toys


def trees(vocabularies: Tuple[int, ...], seed: int = 0) -> List[Toy]:
    """The toys for trees; their drafts are counted by the sampler's shape."""
    toys = [Toy(name, len(p), 0, _fixed(p), _fixed(q))
            for name, p, q in _named() if len(p) in vocabularies]
    for size in vocabularies:
        toys.append(Toy("by context", size, 0, _hashed(size, 71), _hashed(size, 72),
                        first=size == min(3, max(vocabularies))))
    toys.append(Toy("random 1", 2, 0, _hashed(2, 81, seed), _hashed(2, 82, seed)))
    return toys
