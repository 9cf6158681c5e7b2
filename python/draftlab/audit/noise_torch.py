"""Noise in torch: tensors whose numbers are not drawn before somebody looks at them.

Such a tensor holds NaN, has a `Noise` (noise.py) as an attribute, and is a `NoiseTensor` until its
numbers are drawn. Functions of torch that keep the noise's form act on the noise; before any other
the numbers are drawn and written into the tensor.
"""

import numpy as np
import torch

from draftlab.audit.faults import SamplerFault
from draftlab.audit.noise import Noise

_MARK = "_draftlab_noise"
# Properties that say nothing of the numbers.
_SHAPES = ("shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad", "is_sparse",
           "_base", "grad", "grad_fn", "names")


def noise_of(value):
    """The noise that a tensor stands for, or None."""
    return value.__dict__.get(_MARK) if type(value) is NoiseTensor else None


def stands_for(tensor, noise):
    """Makes `tensor` stand for `noise`."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        tensor.fill_(float("nan"))
    setattr(tensor, _MARK, noise)
    tensor.__class__ = NoiseTensor
    return tensor


def new(cells, kind, like, scale=1.0):
    """A tensor of new noise with the shape and type of `like`."""
    noise = cells.new(kind, tuple(like.shape))
    return stands_for(torch.empty_like(like), noise if scale == 1.0 else noise * scale)


def renew(tensor, cells, kind, scale=1.0) -> bool:
    """Makes `tensor` new noise in place; says whether it could, which a view of another cannot."""
    if _is_view(tensor) or not tensor.is_floating_point():
        return False
    known = noise_of(tensor)
    if known is not None and known.views[0] > 1:
        drawn(tensor)
        return False
    noise = cells.new(kind, tuple(tensor.shape))
    stands_for(tensor, noise if scale == 1.0 else noise * scale)
    return True


def drawn(tensor):
    """Writes the numbers into a tensor that stands for noise."""
    noise = noise_of(tensor)
    if noise is not None:
        delattr(tensor, _MARK)
        tensor.__class__ = torch.Tensor
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(np.array(noise.numbers())))
    return tensor


def _array(value):
    """A noise, or the numbers of a tensor, or what it is."""
    noise = noise_of(value)
    if noise is not None:
        return noise
    return value.detach().double().cpu().numpy() if isinstance(value, torch.Tensor) else value


def _extreme(largest):
    def function(noise, dim=None, keepdim=False):
        if noise.rates(largest) is None:
            return None
        return noise.extreme(largest, dim, keepdim)

    return function


def _sized(*sizes):
    return tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes


def _expanded(noise, *sizes):
    sizes = _sized(*sizes)
    shape = (1,) * (len(sizes) - noise.ndim) + noise.shape
    shape = [old if size == -1 else size for size, old in zip(sizes, shape)]
    return noise.taken(lambda values: np.broadcast_to(values, shape))


def _squeezed(noise, dim=None):
    if dim is not None and noise.shape[dim] != 1:
        return noise
    return noise.taken(lambda values: np.squeeze(values, dim))


def _taken(noise, key):
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(one.detach().cpu().numpy() if isinstance(one, torch.Tensor) else one
                 for one in keys)
    return noise.taken(lambda values: np.asarray(values)[keys])


def _clamped(noise, min=None, max=None):
    return np.maximum(noise, min) if max is None and min is not None else None


def _difference(one, other, alpha=1):
    return one - other if alpha == 1 else None


def _sum(one, other, alpha=1):
    return one + other if alpha == 1 else None


def _flipped(function):
    return lambda one, other: function(other, one)


def _quotient(one, other, rounding_mode=None):
    return np.true_divide(one, other) if rounding_mode is None else None


_RULES = {
    "div": _quotient, "true_divide": _quotient, "__truediv__": _quotient,
    "__rtruediv__": _flipped(_quotient), "__rdiv__": _flipped(_quotient),
    "mul": np.multiply, "multiply": np.multiply, "__mul__": np.multiply, "__rmul__": np.multiply,
    "add": _sum, "__add__": _sum, "__radd__": _sum, "sub": _difference, "subtract": _difference,
    "__sub__": _difference, "rsub": _flipped(_difference), "__rsub__": _flipped(_difference),
    "neg": np.negative, "negative": np.negative, "__neg__": np.negative, "log": np.log,
    "exp": np.exp, "pow": np.power, "__pow__": np.power, "reciprocal": np.reciprocal,
    "argmax": _extreme(True), "argmin": _extreme(False), "clamp": _clamped, "clip": _clamped,
    "clamp_min": lambda noise, low: np.maximum(noise, low),
    "view": lambda noise, *sizes: noise.reshape(_sized(*sizes)),
    "reshape": lambda noise, *sizes: noise.reshape(_sized(*sizes)),
    "flatten": lambda noise: noise.reshape(-1), "squeeze": _squeezed,
    "unsqueeze": lambda noise, dim: noise.taken(lambda values: np.expand_dims(values, dim)),
    "expand": _expanded, "__getitem__": _taken, "isinf": np.isinf, "isnan": np.isnan,
    "eq": np.equal, "__eq__": np.equal, "where": np.where, "clone": np.copy, "detach": None,
    "contiguous": None, "cpu": None, "to": None, "float": None, "double": None,
}
_IN_PLACE = ("div_", "mul_", "add_", "sub_", "neg_", "log_", "exp_", "clamp_", "reciprocal_",
             "__itruediv__", "__imul__", "__iadd__", "__isub__")
_PLAIN_SIZES = ("size", "dim", "numel", "is_floating_point", "is_contiguous", "stride", "nelement",
                "empty_like", "zeros_like", "ones_like", "element_size", "__len__")


class NoiseTensor(torch.Tensor):
    """A tensor that stands for noise: torch asks it about every function that it is given to."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = _noises((*args, *kwargs.values()))
        name = getattr(function, "__name__", "")
        of_shape = name == "__get__" and function.__self__.__name__ in _SHAPES
        if not tensors or name in _PLAIN_SIZES or of_shape:
            with torch._C.DisableTorchFunction():
                return function(*args, **kwargs)
        in_place = name in _IN_PLACE
        bare = name.rstrip("_").replace("__i", "") if in_place else name
        made = _followed("div" if bare == "truediv" else bare, args, kwargs)
        if made is None or (in_place and (type(made) is not Noise or _is_view(args[0]))):
            for tensor in tensors:
                drawn(tensor)
            with torch._C.DisableTorchFunction():
                return function(*args, **kwargs)
        if not in_place:
            return _tensor(made, _kind(args, kwargs, tensors[0]))
        known = noise_of(args[0])
        if known is not None and known.views[0] > 1:
            raise SamplerFault("not caught", "changed a tensor of random numbers in place of "
                               "which parts were taken")
        return stands_for(args[0], made)


def _is_view(tensor):
    with torch._C.DisableTorchFunction():
        return tensor._base is not None


def _followed(name, args, kwargs):
    """What a function makes of noise: noise, an array of numpy, or None."""
    if name not in _RULES:
        return None
    rule = _RULES[name]
    if rule is None:  # It changes the type or the place alone.
        return noise_of(args[0])
    given = [value if name == "__getitem__" and i else _array(value)
             for i, value in enumerate(args)]
    if not any(type(value) is Noise for value in given):
        return None
    try:
        with np.errstate(all="ignore"):
            made = rule(*given, **{key: _array(value) for key, value in kwargs.items()})
    except TypeError:  # The rule does not know an argument.
        return None
    return None if type(made) is Noise and made.plain is not None else made


def _kind(args, kwargs, like):
    """The type of the result: what a conversion asks for, else that of the noise."""
    wanted = [v for v in (*args[1:], *kwargs.values()) if isinstance(v, torch.dtype)]
    return wanted[0] if wanted else like.dtype


def _tensor(made, dtype):
    if type(made) is Noise:
        return stands_for(torch.empty(made.shape, dtype=dtype), made)
    made = np.asarray(made)
    return torch.as_tensor(made, dtype=dtype if made.dtype.kind == "f" else None)


def _noises(values):
    """Those of some arguments, and of the lists and tuples in them, that stand for noise."""
    found = []
    for value in values:
        if type(value) is NoiseTensor:
            if noise_of(value) is not None:
                found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _noises(value)
    return found
