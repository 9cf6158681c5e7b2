"""The functions of torch that make numbers; used by `catch` where torch is loaded. Generators,
devices and layouts that they are given are passed over: the audit's numbers are on the CPU."""

import math
from typing import Any, Dict

import numpy as np
import torch

from draftlab.audit import noise_torch
from draftlab.audit.asked import asked, cauchy, either, geometric, normal, order, refuse, whole

# The random bits of torch.rand in types that are narrower than float64, and in that.
_BITS = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}
_WHOLE: Dict[Any, int] = {**_BITS, torch.float64: 53}
_REFUSED = ("poisson", "binomial", "_standard_gamma", "_sample_dirichlet", "dropout")


def _tensor(values, like=None, dtype=None):
    made = torch.as_tensor(np.asarray(values))
    if like is not None:
        return made.to(dtype=dtype or like.dtype, device=like.device)
    return made.to(dtype=dtype or torch.get_default_dtype())


def _filled(one, shape):
    """`one()` for each entry of an array of this shape."""
    return np.array([one() for _ in range(math.prod(shape))]).reshape(tuple(shape))


def _uniforms(shape, dtype):
    """Numbers in [0, 1) as torch makes them: multiples of 2^-24 for float32, never 1."""
    values = asked[-1].uniform(tuple(shape))
    bits = _BITS.get(dtype)
    return values if bits is None else np.floor(values * 2.0**bits) / 2.0**bits


def _uniform_noise(like):
    """Uniform numbers of the shape and type of `like`: noise in float64, which torch does not cut;
    what it cuts to fewer bits is numbers, since 0 is then one of them."""
    cells = getattr(asked[-1], "cells", None)
    if cells is None or like.dim() == 0 or like.dtype in _BITS:
        return _tensor(_uniforms(like.shape, like.dtype), like)
    return noise_torch.new(cells, "uniform", like)


def _sized(sizes, size):
    """The shape that a call gives as numbers, as one tuple or by name."""
    if size is not None:
        return tuple(size)
    return tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes


def _rand(*sizes, size=None, dtype=None, **_):
    return _uniform_noise(torch.empty(_sized(sizes, size),
                                      dtype=dtype or torch.get_default_dtype()))


def _rand_like(like, dtype=None, **_):
    return _uniform_noise(torch.empty_like(like, dtype=dtype or like.dtype))


def _randn(*sizes, size=None, dtype=None, **_):
    return _tensor(_filled(normal, _sized(sizes, size)), dtype=dtype)


def _randn_like(like, dtype=None, **_):
    return _tensor(_filled(normal, like.shape), like, dtype)


def _normal(mean=0.0, std=1.0, size=None, **_):
    mean, std = torch.as_tensor(mean), torch.as_tensor(std)
    shape = torch.broadcast_shapes(mean.shape, std.shape) if size is None else size
    return mean + std * _tensor(_filled(normal, shape), dtype=torch.result_type(mean, std))


def _randint(*bounds, low=0, high=None, size=None, dtype=torch.int64, **_):
    if bounds and not isinstance(bounds[-1], (int, np.integer)):
        bounds, size = bounds[:-1], bounds[-1]
    if len(bounds) == 2:
        low, high = bounds
    elif bounds and high is None:
        high = bounds[0]
    elif bounds:
        low = bounds[0]
    return _tensor(_filled(lambda: whole(low, high), size), dtype=dtype)


def _randint_like(like, *bounds, dtype=None, **named):
    return _randint(*bounds, size=like.shape, dtype=dtype or like.dtype, **named)


def _randperm(n, *, dtype=torch.int64, **_):
    return torch.tensor(order(n), dtype=dtype)


def _multinomial(weights, num_samples, replacement=False, **_):
    rows = []
    for row in weights.detach().reshape(-1, weights.shape[-1]).double().cpu().numpy():
        left, tokens = row.copy(), []
        for place in range(num_samples):
            tokens.append(asked[-1].draw(left))
            if not replacement:
                left[tokens[-1]] = 0
        rows.append(tokens)
    return torch.tensor(rows).reshape(*weights.shape[:-1], num_samples)


def _bernoulli(values, p=None, **_):
    chances = values if p is None else torch.full_like(values, p)
    hits = [float(asked[-1].below(chance)) for chance in chances.reshape(-1).tolist()]
    return torch.tensor(hits, dtype=values.dtype).reshape(values.shape)


def _bernoulli_(self, p=0.5, **_):
    chances = torch.as_tensor(p, dtype=torch.float64).expand(self.shape)
    return self.copy_(_bernoulli(chances))


def _uniform_(self, low=0.0, high=1.0, **_):
    return self.copy_(_tensor(low + (high - low) * _uniforms(self.shape, self.dtype), self))


def _exponential_(self, lambd=1.0, **_):
    cells = getattr(asked[-1], "cells", None)
    if cells is not None and self.dim() and \
            noise_torch.renew(self, cells, "exponential", 1 / lambd):
        return self
    return self.copy_(_tensor(asked[-1].exponential(tuple(self.shape)) / lambd, self))


def _random_(self, *bounds, **named):
    low, high = named.get("from", 0), named.get("to")
    if len(bounds) == 2:
        low, high = bounds
    elif bounds:
        high = bounds[0]
    if high is None:
        bits = _WHOLE.get(self.dtype)
        high = torch.iinfo(self.dtype).max if bits is None else 2**bits + 1
    return self.copy_(_tensor(_filled(lambda: whole(low, high), self.shape), self))


def _each(one):
    """A method that fills a tensor with `one(...)` for each entry."""

    def function(self, *arguments, generator=None, **named):
        return self.copy_(_tensor(_filled(lambda: one(*arguments, **named), self.shape), self))

    return function


_FUNCTIONS = {
    "rand": _rand, "rand_like": _rand_like, "randn": _randn, "randn_like": _randn_like,
    "normal": _normal, "randint": _randint, "randint_like": _randint_like,
    "randperm": _randperm, "multinomial": _multinomial, "bernoulli": _bernoulli}
_METHODS = {
    "multinomial": _multinomial, "bernoulli": _bernoulli, "bernoulli_": _bernoulli_,
    "uniform_": _uniform_, "exponential_": _exponential_, "random_": _random_,
    "normal_": _each(lambda mean=0.0, std=1.0: mean + std * normal()),
    "log_normal_": _each(lambda mean=1.0, std=2.0: math.exp(mean + std * normal())),
    "cauchy_": _each(lambda median=0.0, sigma=1.0: median + sigma * cauchy()),
    "geometric_": _each(geometric)}


def put_all(put) -> None:
    """Replaces them by `put(owner, name, value)`."""
    for owner, answers in ((torch, _FUNCTIONS), (torch.Tensor, _METHODS)):
        for name, answer in answers.items():
            put(owner, name, either(getattr(owner, name), _storing(answer)))
    for name in _REFUSED:
        put(torch, name, either(getattr(torch, name), _refusing(f"torch.{name}")))
    drop = torch.nn.functional.dropout
    put(torch.nn.functional, "dropout", either(drop, _dropping(drop)))
    put(torch, "manual_seed", either(torch.manual_seed, lambda _: None))


def _storing(answer):
    """An answer that is stored in `out` where a call names one."""

    def function(*arguments, out=None, **named):
        made = answer(*arguments, **named)
        return made if out is None else out.resize_(made.shape).copy_(made)

    return function


def _refusing(name):
    def function(*_, **__):
        raise refuse(name)

    return function


def _dropping(real):
    """torch.nn.functional.dropout, which draws nothing unless a model is being trained."""

    def function(values, p=0.5, training=True, inplace=False):
        if training and p > 0:
            raise refuse("torch.nn.functional.dropout")
        return real(values, p, training, inplace)

    return function
