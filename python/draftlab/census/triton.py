"""Runs kernels that are written in Triton's Python, one program after another, with numpy.

Only what samplers' kernels use: pointers into flat arrays, masked loads and stores, reductions.
It says what a kernel's source computes, not what a compiler makes of it.
"""

import itertools
from typing import Any, Callable, Tuple

import numpy as np
import torch


class Pointer:
    """A flat array and a place, or places, in it."""

    def __init__(self, tensor: torch.Tensor, at: Any = 0):
        self.tensor, self.at = tensor, at
        self.flat = tensor.view(-1)
        self.dtype = type("dtype", (), {"element_ty": np.int64})

    def __add__(self, offset: Any) -> "Pointer":
        return Pointer(self.tensor, self.at + offset)


class Language:
    """What kernels call `tl`."""

    constexpr = int32 = int64 = float32 = float64 = None

    def __init__(self) -> None:
        self.program: Tuple[int, ...] = ()

    def program_id(self, axis: int) -> int:
        return self.program[axis]

    def load(self, pointer: Pointer, mask: Any = None, other: Any = 0.0) -> Any:
        flat = pointer.flat
        if mask is None:
            return _value(flat[int(pointer.at)].item())
        places = np.asarray(pointer.at)
        inside = np.asarray(mask) & np.ones_like(places, dtype=bool)
        values = np.full(places.shape, other, dtype=flat.numpy().dtype)
        values[inside] = flat.numpy()[places[inside]]
        return values

    def store(self, pointer: Pointer, value: Any, mask: Any = None) -> None:
        if mask is None:
            pointer.flat[int(pointer.at)] = value
        else:
            for place, one in zip(np.asarray(pointer.at)[mask], np.broadcast_to(value, mask.shape)):
                pointer.flat[int(place)] = one

    def max(self, values: np.ndarray, axis: int, return_indices: bool = False) -> Any:
        best = int(np.argmax(values, axis=axis))
        return (values[best], best) if return_indices else values[best]

    def full(self, shape: Tuple[int, ...], value: float, dtype: Any) -> Any:
        return np.full(shape, value) if shape else value

    def zeros(self, shape: Any, dtype: Any = None) -> Any:
        return np.zeros(shape) if shape else 0

    arange = staticmethod(np.arange)
    where = staticmethod(np.where)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)


class _value(int):
    """A number that answers `.to(type)` as Triton's scalars do."""

    def __new__(cls, value: Any) -> Any:
        return super().__new__(cls, value) if isinstance(value, int) else value

    def to(self, dtype: Any) -> "_value":
        return self


class Kernel:
    """`kernel[grid](...)` runs the function once for each program of the grid."""

    def __init__(self, function: Callable, language: Language):
        self.function, self.language = function, language

    def __getitem__(self, grid: Tuple[int, ...]) -> Callable:
        def launch(*arguments: Any, **named: Any) -> None:
            given = [Pointer(a) if isinstance(a, torch.Tensor) else a for a in arguments]
            for self.language.program in itertools.product(*map(range, grid)):
                self.function(*given, **named)

        return launch
