"""Noise: arrays of random numbers that are not drawn before somebody looks at them.

The largest of p / e, or the smallest of e / p, where e are exponential numbers, is a race: it is
token i with probability p_i / sum p. So is the largest of log p + g for Gumbel numbers g. A `Noise`
stands for an array whose every entry is a function of one exponential number e, in one of three
forms, and remembers which:

    power        c e^r           an exponential number, p / e, e / p
    logarithm    c + r log e     a Gumbel number, log p + g
    exponential  exp(-c e)       a uniform number, u ** (1 / p)

Where the winner of a race is asked for (argmax, argmin), the walk chooses it from its law. Whatever
else is done to the entries draws them, as numbers, first. The numbers of a race that was decided
are no longer independent of what it decided: a second race over the same ones has another law,
which is closed form, too (`second_law`); anything further is `Entangled`, and is drawn from.
"""

import math
from typing import Dict, List, Optional, Sequence

import numpy as np

from draftlab.audit.faults import SamplerFault
from draftlab.audit.noise_forms import FUNCTIONS, UFUNCS
from draftlab.audit.races import Entangled, Race, second_law


class Cells:
    """The exponential numbers of one episode: new, drawn, or in a race that was decided."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.kinds: List[str] = []
        self.drawn: Dict[int, float] = {}  # What a cell shows: e, or exp(-e) of a uniform one.
        self.races: Dict[int, Optional[Race]] = {}  # None where a cell was in two of them.

    def new(self, kind: str, shape) -> "Noise":
        """An array of new numbers; `kind` is exponential, gumbel or uniform."""
        count = math.prod(shape)
        cells = np.arange(len(self.kinds), len(self.kinds) + count).reshape(shape)
        self.kinds += [kind] * count
        form, c, r = {"exponential": ("power", 1.0, 1.0), "gumbel": ("logarithm", 0.0, -1.0),
                      "uniform": ("exponential", 1.0, 1.0)}[kind]
        return Noise(self, cells, form, np.full(shape, c), r)

    def value(self, cell: int) -> float:
        """What the cell shows; draws it."""
        if cell in self.races:
            self.entangled()
        if cell not in self.drawn:
            u = self.numbers.number()
            self.drawn[cell] = u if self.kinds[cell] == "uniform" else -math.log1p(-u)
        return self.drawn[cell]

    def entangled(self):
        self.numbers.entangled = True
        raise Entangled("the noise of a race is used again")

    def winner(self, cells: Sequence[int], rates: Sequence[float]) -> Optional[int]:
        """The place at which a race among `cells` is won; None where they are numbers already."""
        among = {cell: rate for cell, rate in zip(cells, rates) if rate > 0}
        if len(among) < 2:
            return int(np.argmax(rates))
        if len(among) < sum(rate > 0 for rate in rates):
            return None  # One number stands at two places, so this is no race.
        decided = {id(self.races[cell]): self.races[cell] for cell in among if cell in self.races}
        if not decided and not any(cell in self.drawn for cell in among):
            law, race = among, Race(among, 0)
        elif not decided:
            return None
        elif len(decided) == 1 and None not in decided.values() and \
                not any(cell in self.drawn for cell in among):
            law, race = second_law(next(iter(decided.values())), among), None
        else:
            self.entangled()
        order = list(law)
        won = order[self.numbers.draw([law[cell] for cell in order])]
        if race:
            race.winner = won
        used = set(among)
        for first in decided.values():
            used |= set(first.rates)
        self.races.update(dict.fromkeys(used, race))
        return list(cells).index(won)


class Noise(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of them; it answers as a numpy array does."""

    def __init__(self, source: Cells, cells: np.ndarray, form: str, c: np.ndarray, r: float):
        self.source, self.cells, self.form = source, cells, form
        self.c = c if np.shape(c) == cells.shape else np.broadcast_to(c, cells.shape)
        self.r = r
        self.plain: Optional[np.ndarray] = None  # Its numbers, once they were drawn.
        self.views = [1]  # How many noises are parts of one array; they share this list.

    @property  # type: ignore[misc]
    def __class__(self):
        """A sampler that asks whether it was given an array of numpy is told so."""
        return np.ndarray

    def like(self, form=None, c=None, r=None, cells=None) -> "Noise":
        """Another noise of these numbers."""
        return Noise(self.source, self.cells if cells is None else cells, form or self.form,
                     self.c if c is None else c, self.r if r is None else r)

    def taken(self, choose) -> "Noise":
        """The entries that `choose`, a function of an array, takes."""
        made = self.like(cells=choose(self.cells), c=choose(self.c))
        made.views = self.views
        made.views[0] += 1
        return made

    def numbers(self) -> np.ndarray:
        """The entries as numbers, which draws them."""
        if self.plain is None:
            values = [self.source.value(int(cell)) for cell in self.cells.ravel()]
            self.plain = self._shown(np.array(values, dtype=np.float64).reshape(self.cells.shape))
        return self.plain

    def _shown(self, values: np.ndarray) -> np.ndarray:
        uniform = np.array([self.source.kinds[cell] == "uniform" for cell in self.cells.ravel()],
                           dtype=bool).reshape(self.cells.shape)
        with np.errstate(all="ignore"):
            if self.form == "exponential":
                return np.where(uniform, values, np.exp(-values)) ** self.c
            e = np.where(uniform, -np.log(values), values)
            if self.form == "power":
                return self.c * e**self.r
            return self.c + self.r * np.log(np.maximum(e, 2.0**-53))

    def rates(self, largest: bool) -> Optional[np.ndarray]:
        """The rates of the race that the largest (or smallest) entry wins; None: it is no race."""
        c, r = np.asarray(self.c, dtype=np.float64), self.r
        if np.isnan(c).any():
            return None
        if self.form == "logarithm":
            finite = c[np.isfinite(c)]
            if (r < 0) != largest or not finite.size or (c / r == -np.inf).any():
                return None
            return np.exp(-(c / r - (finite / r).min()))
        if self.form == "exponential":
            return 1 / c if largest and (c > 0).all() else None
        falls = r < 0
        if (c < 0).any():
            if (c > 0).any():
                return None
            c, largest = -c, not largest
        if falls != largest or (not falls and (c == 0).any()) or (falls and np.isinf(c).any()):
            return None
        with np.errstate(divide="ignore"):
            return c ** (-1 / r)

    def extreme(self, largest: bool, axis=None, keepdims=False):
        """argmax or argmin."""
        plain = np.argmax if largest else np.argmin
        rates = self.rates(largest) if self.plain is None and self.cells.size else None
        if rates is None:
            return plain(self.numbers(), axis=axis, keepdims=keepdims)
        cells = self.cells
        if axis is None:
            cells, rates, at = cells.reshape(-1), rates.reshape(-1), -1
        else:
            at = axis
        cells, rates = np.moveaxis(cells, at, -1), np.moveaxis(rates, at, -1)
        won = np.empty(cells.shape[:-1], dtype=np.int64)
        for row in np.ndindex(*won.shape):
            place = self.source.winner(cells[row].tolist(), rates[row].tolist())
            if place is None:
                return plain(self.numbers(), axis=axis, keepdims=keepdims)
            won[row] = place
        if keepdims:
            return won.reshape([1] * self.ndim) if axis is None else np.expand_dims(won, axis)
        return won[()]

    def argmax(self, axis=None, out=None, *, keepdims=False):
        return self.extreme(True, axis, keepdims)

    def argmin(self, axis=None, out=None, *, keepdims=False):
        return self.extreme(False, axis, keepdims)

    @property
    def shape(self):
        return self.cells.shape

    @property
    def size(self):
        return self.cells.size

    @property
    def ndim(self):
        return self.cells.ndim

    @property
    def dtype(self):
        return np.dtype(np.float64)

    @property
    def T(self):
        return self.taken(np.transpose) if self.plain is None else self.plain.T

    def reshape(self, *shape, **named):
        if self.plain is not None:
            return self.plain.reshape(*shape, **named)
        return self.taken(lambda values: np.asarray(values).reshape(*shape, **named))

    def copy(self, *_, **__):
        return self.taken(np.copy) if self.plain is None else self.plain.copy()

    def __len__(self):
        return len(self.cells)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        if self.plain is not None:
            return self.plain[key]
        if type(key) is Noise:
            key = key.numbers()
        if np.ndim(self.cells[key]) == 0:
            return self.taken(lambda values: np.asarray(values[key])).numbers()[()]
        return self.taken(lambda values: values[key])

    def alone(self) -> "Noise":
        """Itself, which is about to be changed in place; refuses where others would change, too."""
        if self.plain is None and self.views[0] > 1:
            raise SamplerFault("not caught", "changed an array of random numbers in place of "
                               "which parts were taken")
        return self

    def __setitem__(self, key, value):
        self.alone().numbers()[key] = value

    def __array__(self, dtype=None):
        return np.asarray(self.numbers(), dtype=dtype)

    def __float__(self):
        return float(self.numbers())

    def __bool__(self):
        return bool(self.numbers())

    def __repr__(self):
        return repr(self.numbers())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.numbers(), name)

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        out = named.pop("out", None)
        made = None
        if method == "__call__" and not named and ufunc in UFUNCS:
            made = UFUNCS[ufunc](*inputs)
        if made is None:
            plain = [numbers_of(value) for value in inputs]
            made = getattr(ufunc, method)(*plain, **named)
        return made if out is None else self._into(out[0], made)

    @staticmethod
    def _into(out, made):
        """Stores what an operation in place made, where it was asked to."""
        if type(out) is not Noise:
            out[...] = numbers_of(made)
        elif out.alone().plain is not None or type(made) is not Noise or made.plain is not None:
            out.numbers()[...] = numbers_of(made)
        else:
            out.form, out.c, out.r, out.cells = made.form, made.c, made.r, made.cells
        return out

    def __array_function__(self, function, _, arguments, named):
        if function in FUNCTIONS:
            made = FUNCTIONS[function](*arguments, **named)
            if made is not None:
                return made
        return function(*_plain(arguments), **_plain(named))


def numbers_of(value):
    return value.numbers() if type(value) is Noise else value


def _plain(value):
    if type(value) is Noise:
        return value.numbers()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one) for one in value)
    return value
