"""What numpy's functions make of a `Noise`; None where the result is none of its three forms.

A function here changes the form (power, logarithm, exponential) and its numbers c and r, and draws
nothing.
"""

from typing import Any, Dict

import numpy as np

# A guard against zero of this size, as in log(u + 1e-10), changes a law by less than is told apart.
_GUARD = 1e-9


def _lazy(value) -> bool:
    """Says whether it is a noise whose numbers were not drawn."""
    return hasattr(value, "cells") and value.plain is None


def _array(value):
    """`value` as an array of numbers; None where it is another noise."""
    if hasattr(value, "cells"):
        return None
    return np.asarray(value, dtype=np.float64)


def _sides(one, other):
    """(noise, array, whether the noise is the first); None where it is not one of each."""
    noise, value, first = (one, other, True) if _lazy(one) else (other, one, False)
    array = _array(value)
    if not _lazy(noise) or array is None:
        return None
    return _spread(noise, array), array, first


def _spread(noise, array):
    """The noise in the shape that both are broadcast to: its numbers are repeated."""
    shape = np.broadcast_shapes(noise.shape, array.shape)
    if shape == noise.shape:
        return noise
    return noise.taken(lambda values: np.broadcast_to(values, shape))


def _constant(array):
    """The one number that an array holds; None where it holds several."""
    flat = array.reshape(-1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


def _guard(noise, array) -> bool:
    """Says whether `array` only keeps the plain numbers of `noise` from zero."""
    plain = (noise.c == 1).all() and noise.r == 1 and noise.form in ("power", "exponential")
    return bool(plain and (array >= 0).all() and (array <= _GUARD).all())


def _multiply(one, other):
    sides = _sides(one, other)
    if not sides:
        return None
    noise, array, _ = sides
    if noise.form == "power":
        return noise.like(c=noise.c * array)
    if noise.form == "logarithm":
        factor = _constant(array)
        return noise.like(c=noise.c * factor, r=noise.r * factor) if factor else None
    return None


def _divide(one, other):
    sides = _sides(one, other)
    if not sides:
        return None
    noise, array, first = sides
    with np.errstate(all="ignore"):
        if first and noise.form == "logarithm":
            return _multiply(noise, 1 / array)
        if noise.form != "power":
            return None
        if first:
            return noise.like(c=noise.c / array)
        return noise.like(c=array / noise.c, r=-noise.r)


def _add(one, other):
    sides = _sides(one, other)
    if not sides:
        return None
    noise, array, _ = sides
    if noise.form == "logarithm":
        return noise.like(c=noise.c + array)
    return noise if _guard(noise, array) else None


def _subtract(one, other):
    sides = _sides(one, other)
    if not sides or sides[0].form != "logarithm":
        return None
    noise, array, first = sides
    return noise.like(c=noise.c - array) if first else noise.like(c=array - noise.c, r=-noise.r)


def _negative(noise):
    if not _lazy(noise) or noise.form == "exponential":
        return None
    return noise.like(c=-noise.c, r=noise.r if noise.form == "power" else -noise.r)


def _log(noise):
    if not _lazy(noise):
        return None
    if noise.form == "exponential":
        return noise.like("power", -noise.c * 1.0, 1.0)
    if noise.form == "power" and (noise.c >= 0).all():
        with np.errstate(divide="ignore"):
            return noise.like("logarithm", np.log(noise.c))
    return None


def _exp(noise):
    if not _lazy(noise):
        return None
    if noise.form == "logarithm":
        return noise.like("power", np.exp(noise.c))
    if noise.form == "power" and noise.r == 1 and (noise.c < 0).all():
        return noise.like("exponential", -noise.c, 1.0)
    return None


def _power(noise, exponent):
    array = _array(exponent)
    if not _lazy(noise) or array is None:
        return None
    if noise.form == "exponential" and (array > 0).all():
        spread = _spread(noise, array)
        return spread.like(c=spread.c * array)
    factor = _constant(array)
    if noise.form == "power" and (noise.c >= 0).all() and factor:
        return noise.like(c=noise.c**factor, r=noise.r * factor)
    return None


def _maximum(one, other):
    sides = _sides(one, other)
    return sides[0] if sides and _guard(sides[0], sides[1]) else None


def _is_zero(one, other):
    """An exponential number is 0 with probability 0; its multiples are where the factor is."""
    sides = _sides(one, other)
    if not sides or sides[0].form != "power" or _constant(sides[1]) != 0:
        return None
    return np.array(sides[0].c == 0)


def _is_infinite(noise):
    return np.isinf(noise.c) if _lazy(noise) and noise.form == "power" else None


def _is_nan(noise):
    return np.isnan(noise.c) if _lazy(noise) and noise.form == "power" else None


UFUNCS: Dict[Any, Any] = {
    np.multiply: _multiply, np.true_divide: _divide, np.add: _add, np.subtract: _subtract,
    np.negative: _negative, np.log: _log, np.exp: _exp, np.power: _power, np.maximum: _maximum,
    np.fmax: _maximum, np.equal: _is_zero, np.isinf: _is_infinite, np.isnan: _is_nan,
    np.reciprocal: lambda noise: _divide(1.0, noise),
}


def _argmax(noise, axis=None, out=None, keepdims=False):
    return noise.extreme(True, axis, bool(keepdims is True)) if _lazy(noise) else None


def _argmin(noise, axis=None, out=None, keepdims=False):
    return noise.extreme(False, axis, bool(keepdims is True)) if _lazy(noise) else None


def _where(condition, yes=None, no=None):
    """Entries may be replaced by what a form can say: 0 or infinity of a power, -inf of a log."""
    if hasattr(condition, "cells") or _lazy(yes) == _lazy(no):
        return None
    kept = np.asarray(condition, dtype=bool)
    noise, fill = (yes, no) if _lazy(yes) else (no, yes)
    kept = kept if noise is yes else ~kept
    fill = _array(fill)
    if fill is None:
        return None
    shape = np.broadcast_shapes(kept.shape, fill.shape, noise.shape)
    kept, fill = np.broadcast_to(kept, shape), np.broadcast_to(fill, shape)
    sayable = {"power": fill == 0, "logarithm": np.isinf(fill)}.get(noise.form, fill != fill)
    if noise.form == "power":
        sayable = sayable | np.isinf(fill)
    if not (kept | sayable).all():
        return None
    spread = noise.taken(lambda values: np.broadcast_to(values, shape))
    return spread if kept.all() else spread.like(c=np.where(kept, spread.c, fill))


def _clip(noise, low, high, *_, **__):
    array = None if low is None or not _lazy(noise) else _array(low)
    return noise if high is None and array is not None and _guard(noise, array) else None


def _rearranged(function):
    """A function that only moves entries."""

    def moved(noise, *arguments, **named):
        if not _lazy(noise):
            return None
        return noise.taken(lambda values: function(np.asarray(values), *arguments, **named))

    return moved


FUNCTIONS: Dict[Any, Any] = {np.argmax: _argmax, np.argmin: _argmin, np.where: _where,
                             np.clip: _clip}
FUNCTIONS.update({function: _rearranged(function) for function in (
    np.reshape, np.ravel, np.squeeze, np.expand_dims, np.transpose, np.broadcast_to, np.repeat,
    np.tile, np.take, np.copy, np.moveaxis, np.swapaxes, np.flip)})
