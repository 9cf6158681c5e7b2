"""`dl.scripted()`: catches the numbers of samplers that draw by themselves.

While it is on, the functions of numpy.random, random and torch that make numbers ask the audit
instead, so that a sampler written for an engine is enumerated as it stands. Generators that are
made meanwhile are caught, too, and those that a sampler's module made earlier are replaced by
`proxies_for`. Outside an audited call everything draws as it always does.
"""

import contextlib
import random as python_random
import sys
from statistics import NormalDist
from typing import Any, Dict

import numpy as np

from draftlab.audit.faults import SamplerFault

_FLOAT32 = np.dtype("float32")  # `precision.float64` changes what the name np.float32 means.
_asked = []  # The last of these Numbers answers now.


@contextlib.contextmanager
def answered_by(numbers):
    """Within it, caught functions ask `numbers`."""
    _asked.append(numbers)
    try:
        yield
    finally:
        _asked.pop()


def _shape(size):
    if size is None:
        return None
    return (size,) if isinstance(size, (int, np.integer)) else tuple(size)


def _filled(one, size):
    """`one()`, or an array of as many as `size` says."""
    shape = _shape(size)
    if shape is None:
        return one()
    return np.array([one() for _ in range(int(np.prod(shape)))]).reshape(shape)


def _whole(numbers, low, high):
    """A whole number in [low, high); up to 64 of them are a choice, more are a uniform's part."""
    count = int(high) - int(low)
    if count <= 0:
        raise ValueError("low >= high")
    if count <= 64:
        return int(low) + numbers.draw([1.0] * count)
    return int(low) + int(numbers.number() * count)


def _normal(numbers):
    return NormalDist().inv_cdf(min(max(numbers.number(), 2.0**-53), 1 - 2.0**-53))


def _order(numbers, count):
    left, order = list(range(count)), []
    while left:
        order.append(left.pop(numbers.draw([1.0] * len(left))))
    return order


class CaughtGenerator:
    """Answers as numpy's Generator and RandomState do, and as Python's Random where they agree."""

    def __init__(self, real):
        self._real = real

    def __getattribute__(self, name):
        if name.startswith("_") or not _asked:
            real = object.__getattribute__(self, "_real")
            return object.__getattribute__(self, name) if name.startswith("_") else \
                getattr(real, name)
        if name not in CaughtGenerator.__dict__:
            raise SamplerFault("not caught", f"drew from numpy.random.{name}, which the audit "
                               "cannot answer; ask random.uniform() instead")
        return object.__getattribute__(self, name)

    def seed(self, *_, **__):
        """Seeds nothing: the audit chooses the numbers."""

    def random(self, size=None, dtype=np.float64, out=None):
        values = _asked[-1].uniform(_shape(size))
        if np.dtype(dtype) == _FLOAT32:  # numpy makes these of 24 bits, and 0 is one of them.
            values = (np.floor(values * 2.0**24) / 2.0**24).astype(_FLOAT32)
        if out is None:
            return values
        out[...] = values
        return out

    def random_sample(self, size=None):
        return self.random(size)

    def rand(self, *shape):
        return _asked[-1].uniform(shape or None)

    def uniform(self, low=0.0, high=1.0, size=None):
        return low + (np.asarray(high) - low)[()] * _asked[-1].uniform(_shape(size))

    def exponential(self, scale=1.0, size=None):
        return scale * _asked[-1].exponential(_shape(size))

    def standard_exponential(self, size=None, *_, **__):
        return _asked[-1].exponential(_shape(size))

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * _asked[-1].gumbel(_shape(size))

    def standard_normal(self, size=None, *_, **__):
        return _filled(lambda: _normal(_asked[-1]), size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * self.standard_normal(size)

    def integers(self, low, high=None, size=None, *_, endpoint=False, **__):
        low, high = (0, low) if high is None else (low, high)
        return _filled(lambda: _whole(_asked[-1], low, high + bool(endpoint)), size)

    def randint(self, low, high=None, size=None, *_, **__):
        return self.integers(low, high, size)

    def choice(self, a, size=None, replace=True, p=None, *_, **__):
        values = np.arange(a) if isinstance(a, (int, np.integer)) else np.asarray(a)
        law = np.ones(len(values)) if p is None else np.array(p, dtype=np.float64)
        if p is not None and not abs(law.sum() - 1) <= 1e-5:
            raise ValueError("probabilities do not sum to 1")

        def one():
            token = _asked[-1].draw(law)
            if not replace:
                law[token] = 0
            return values[token]

        return _filled(one, size)

    def multinomial(self, n, pvals, size=None):
        def one():
            counts = np.zeros(len(pvals), dtype=np.int64)
            for _ in range(int(n)):
                counts[_asked[-1].draw(pvals)] += 1
            return counts

        shape = _shape(size)
        if shape is None:
            return one()
        return np.array([one() for _ in range(int(np.prod(shape)))]).reshape(*shape, -1)

    def binomial(self, n, p, size=None):
        return _filled(lambda: sum(_asked[-1].below(p) for _ in range(int(n))), size)

    def permutation(self, x):
        values = np.arange(x) if isinstance(x, (int, np.integer)) else np.array(x)
        return values[_order(_asked[-1], len(values))]

    def shuffle(self, x):
        x[:] = [x[i] for i in _order(_asked[-1], len(x))]


class CaughtRandom(python_random.Random):
    """Python's Random, whose every number comes from the audit while one is running."""

    def random(self):
        return _asked[-1].number() if _asked else super().random()

    def getrandbits(self, k):
        return _whole(_asked[-1], 0, 1 << k) if _asked else super().getrandbits(k)

    def _randbelow(self, n):
        own: Any = super()
        return _whole(_asked[-1], 0, n) if _asked else own._randbelow(n)

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        if not _asked:
            return super().choices(population, weights, cum_weights=cum_weights, k=k)
        if cum_weights is not None:
            weights = [b - a for a, b in zip([0] + list(cum_weights), cum_weights)]
        law = [1.0] * len(population) if weights is None else list(weights)
        return [population[_asked[-1].draw(law)] for _ in range(k)]

    def gauss(self, mu=0.0, sigma=1.0):
        return mu + sigma * _normal(_asked[-1]) if _asked else super().gauss(mu, sigma)

    normalvariate = gauss


_NUMPY = ("seed random random_sample rand uniform exponential standard_exponential gumbel "
          "standard_normal normal randint choice multinomial binomial permutation shuffle").split()
_PYTHON = ("random uniform randint randrange choice choices shuffle sample expovariate gauss "
           "normalvariate getrandbits triangular betavariate").split()


_PYTHON_RANDOM = python_random.Random
_GENERATORS = (np.random.Generator, np.random.RandomState)


def proxies_for(names):
    """Makes what stands in for the generators among `names`, a module's globals: {name: proxy}."""
    found: Dict[str, Any] = {}
    for name, value in names.items():
        if isinstance(value, _GENERATORS):
            found[name] = CaughtGenerator(value)
        elif type(value) is _PYTHON_RANDOM:
            found[name] = CaughtRandom()
    return found


@contextlib.contextmanager
def scripted(*namespaces):
    """Catches numpy.random, random and torch; `namespaces` are globals of modules to catch, too."""
    undo = []

    def put(owner, name, value):
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    caught = CaughtGenerator(np.random.mtrand._rand)
    for name in _NUMPY:
        put(np.random, name, _either(getattr(np.random, name), caught, name))
    make = np.random.default_rng
    put(np.random, "default_rng", lambda *seed: CaughtGenerator(make(*seed)))
    state = np.random.RandomState

    # numpy 2 asks whether a seed is one, so it must be a class.
    class RandomState(state):  # type: ignore[misc,valid-type]
        def __new__(cls, *seed):
            return CaughtGenerator(state(*seed))

    put(np.random, "RandomState", RandomState)
    python = CaughtRandom()
    for name in _PYTHON:
        put(python_random, name, _either(getattr(python_random, name), python, name))
    put(python_random, "Random", CaughtRandom)
    if "torch" in sys.modules:
        from draftlab.audit import catch_torch

        catch_torch.put_all(put, _asked)
    replaced = []
    for names in namespaces:
        for name, proxy in proxies_for(names).items():
            replaced.append((names, name, names[name]))
            names[name] = proxy
    try:
        yield
    finally:
        for names, name, value in replaced:
            names[name] = value
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


def _either(real, caught, name):
    """A function that asks the audit during an audited call, and draws for itself otherwise."""

    def function(*arguments, **named):
        if not _asked:
            return real(*arguments, **named)
        return getattr(caught, name)(*arguments, **named)

    function.__name__ = name
    return function
