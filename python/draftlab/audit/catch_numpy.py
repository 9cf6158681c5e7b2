"""numpy's generators, whose numbers come from the audit; used by `catch`."""

import numpy as np

from draftlab.audit.asked import asked, either, normal, octets, order, refuse, whole

_FLOAT32 = np.dtype("float32")  # `precision.float64` changes what the name np.float32 means.
GENERATORS = (np.random.Generator, np.random.RandomState)
# The bits of a raw number of each of numpy's sources.
_RAW = {"PCG64": 64, "PCG64DXSM": 64, "MT19937": 32, "Philox": 64, "SFC64": 64}
# Names of numpy.random that draw nothing themselves.
_NO_NUMBERS = ("get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "test",
               "default_rng")


def _shape(size):
    if size is None:
        return None
    return (size,) if isinstance(size, (int, np.integer)) else tuple(size)


def _stored(values, out):
    """The values, in `out` where there is one."""
    if out is None:
        return values
    out[...] = values
    return out


def _filled(one, size):
    """`one()`, or an array of as many as `size` says."""
    shape = _shape(size)
    if shape is None:
        return one()
    return np.array([one() for _ in range(int(np.prod(shape)))]).reshape(shape)


class CaughtGenerator:
    """Answers as numpy's Generator and RandomState do, and as Python's Random where they agree."""

    def __init__(self, real):
        self._real = real

    def __getattribute__(self, name):
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        if not asked:
            return getattr(object.__getattribute__(self, "_real"), name)
        if name not in CaughtGenerator.__dict__:
            raise refuse(f"numpy.random.{name}")
        return object.__getattribute__(self, name)

    def seed(self, *_, **__):
        """Seeds nothing: the audit chooses the numbers."""

    def random(self, size=None, dtype=np.float64, out=None):
        values = asked[-1].uniform(_shape(size) if out is None else out.shape)
        if np.dtype(dtype) == _FLOAT32:  # numpy makes these of 24 bits, and 0 is one of them.
            values = (np.floor(values * 2.0**24) / 2.0**24).astype(_FLOAT32)
        return _stored(values, out)

    def random_sample(self, size=None):
        return self.random(size)

    ranf = sample = random_sample

    def rand(self, *shape):
        return asked[-1].uniform(shape or None)

    def uniform(self, low=0.0, high=1.0, size=None):
        return low + (np.asarray(high) - low)[()] * asked[-1].uniform(_shape(size))

    def exponential(self, scale=1.0, size=None):
        return scale * asked[-1].exponential(_shape(size))

    def standard_exponential(self, size=None, *_, out=None, **__):
        return _stored(asked[-1].exponential(_shape(size) if out is None else out.shape), out)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * asked[-1].gumbel(_shape(size))

    def standard_normal(self, size=None, *_, out=None, **__):
        return _stored(_filled(normal, size if out is None else out.shape), out)

    def randn(self, *shape):
        return self.standard_normal(shape or None)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * self.standard_normal(size)

    def integers(self, low, high=None, size=None, *_, endpoint=False, **__):
        low, high = (0, low) if high is None else (low, high)
        return _filled(lambda: whole(low, high + bool(endpoint)), size)

    def randint(self, low, high=None, size=None, *_, **__):
        return self.integers(low, high, size)

    def bytes(self, length):
        return octets(int(length))

    def choice(self, a, size=None, replace=True, p=None, *_, **__):
        values = np.arange(a) if isinstance(a, (int, np.integer)) else np.asarray(a)
        law = np.ones(len(values)) if p is None else np.array(p, dtype=np.float64)
        if p is not None and not abs(law.sum() - 1) <= 1e-5:
            raise ValueError("probabilities do not sum to 1")

        def one():
            token = asked[-1].draw(law)
            if not replace:
                law[token] = 0
            return values[token]

        return _filled(one, size)

    def multinomial(self, n, pvals, size=None):
        def one():
            counts = np.zeros(len(pvals), dtype=np.int64)
            for _ in range(int(n)):
                counts[asked[-1].draw(pvals)] += 1
            return counts

        shape = _shape(size)
        if shape is None:
            return one()
        return np.array([one() for _ in range(int(np.prod(shape)))]).reshape(*shape, -1)

    def binomial(self, n, p, size=None):
        return _filled(lambda: sum(asked[-1].below(p) for _ in range(int(n))), size)

    def permutation(self, x):
        values = np.arange(x) if isinstance(x, (int, np.integer)) else np.array(x)
        return values[order(len(values))]

    def shuffle(self, x):
        x[:] = [x[i] for i in order(len(x))]


class _StandIn(type):
    """The type of a class that makes CaughtGenerators, which count as its instances."""

    def __instancecheck__(cls, one):
        return isinstance(one, (CaughtGenerator, *cls.__bases__))


def _class_of(real):
    """What is named as `real` while numbers are caught. It is a class, since numpy 2 and samplers
    ask whether something is an instance of one."""

    def made(cls, *arguments, **named):
        first = arguments[0] if arguments else None
        return first if isinstance(first, CaughtGenerator) else \
            CaughtGenerator(real(*arguments, **named))

    return _StandIn(real.__name__, (real,), {"__new__": made})


def _raw_of(real, bits):
    """A source of raw bits, which come from the audit."""

    def random_raw(self, size=None, output=True):
        return _filled(lambda: whole(0, 1 << bits), size)

    return type(real.__name__, (real,), {"random_raw": either(real.random_raw, random_raw)})


def put_all(put) -> None:
    """Replaces what numpy.random has by `put(owner, name, value)`."""
    caught = CaughtGenerator(np.random.mtrand._rand)
    for name in dir(np.random):
        real = getattr(np.random, name)
        if callable(real) and not isinstance(real, type) and not name.startswith("_") \
                and name not in _NO_NUMBERS:
            put(np.random, name, either(real, _asking(caught, name)))
    put(np.random, "seed", either(np.random.seed, caught.seed))
    make = np.random.default_rng

    def default_rng(*seed):
        return seed[0] if seed and isinstance(seed[0], CaughtGenerator) else \
            CaughtGenerator(make(*seed))

    put(np.random, "default_rng", default_rng)
    for name in ("Generator", "RandomState"):
        put(np.random, name, _class_of(getattr(np.random, name)))
    for name, bits in _RAW.items():
        put(np.random, name, _raw_of(getattr(np.random, name), bits))


def _asking(caught, name):
    return lambda *arguments, **named: getattr(caught, name)(*arguments, **named)
