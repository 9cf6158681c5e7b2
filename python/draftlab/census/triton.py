"""Runs kernels that are written in Triton's Python, one program after another, in torch.

Only what samplers' kernels use: pointers into flat arrays, masked loads and stores, reductions.
It says what a kernel's source computes, not what a compiler makes of it.
"""

import inspect
import itertools
import math
from typing import Any, Callable, Dict, Tuple

import torch


class Element:
    """The type that a pointer has, of which kernels ask for what it points to."""

    element_ty = torch.int64


class Pointer:
    """A flat array and a place, or places, in it."""

    dtype = Element

    def __init__(self, flat: torch.Tensor, at: Any = 0):
        self.flat, self.at = flat, at

    def __add__(self, offset: Any) -> "Pointer":
        return Pointer(self.flat, self.at + offset)

    def __sub__(self, offset: Any) -> "Pointer":
        return Pointer(self.flat, self.at - offset)


class Language:
    """What kernels call `tl`."""

    constexpr = float32 = float64 = None
    int32 = int64 = torch.int64

    def __init__(self) -> None:
        self.program: Tuple[int, ...] = ()

    def program_id(self, axis: int) -> int:
        return self.program[axis]

    def load(self, pointer: Pointer, mask: Any = None, other: Any = 0.0) -> Any:
        flat = pointer.flat
        if mask is None:
            return _value(flat[int(pointer.at)].item())
        places, inside = torch.as_tensor(pointer.at), torch.as_tensor(mask)
        if bool(inside.all()):
            return flat[places]
        return torch.where(inside, flat[torch.where(inside, places, 0)], other)

    def store(self, pointer: Pointer, value: Any, mask: Any = None) -> None:
        if mask is None:
            pointer.flat[int(pointer.at)] = value
        else:
            stored = value[mask] if isinstance(value, torch.Tensor) and value.dim() else value
            pointer.flat[torch.as_tensor(pointer.at)[mask]] = stored

    def max(self, values: torch.Tensor, axis: int, return_indices: bool = False) -> Any:
        best = self.argmax(values, axis)
        return (Largest(values, best), best) if return_indices else values[best]

    def argmax(self, values: torch.Tensor, axis: int) -> int:
        """The first of the largest, as for numbers that stand for yes and no."""
        return int(torch.argmax(values.int() if values.dtype == torch.bool else values, dim=axis))

    def sum(self, values: torch.Tensor, axis: int = 0) -> torch.Tensor:
        return torch.sum(values, dim=axis)

    def cumsum(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        return torch.cumsum(values, dim=axis)

    def full(self, shape: Tuple[int, ...], value: float, dtype: Any) -> Any:
        return torch.full(shape, value) if shape else value

    def zeros(self, shape: Any, dtype: Any = None) -> Any:
        return torch.zeros(shape) if shape else 0

    def where(self, mask: torch.Tensor, one: torch.Tensor, other: Any) -> torch.Tensor:
        return one if bool(mask.all()) else torch.where(mask, one, other)

    def maximum(self, one: Any, other: Any) -> Any:
        return torch.clamp(one, min=other) if isinstance(one, torch.Tensor) else max(one, other)

    def minimum(self, one: Any, other: Any) -> Any:
        return torch.clamp(one, max=other) if isinstance(one, torch.Tensor) else min(one, other)

    arange = staticmethod(torch.arange)


class Largest:
    """The largest of some values. That it is above minus infinity is known without looking, so a
    race of one tile needs no number."""

    def __init__(self, values: torch.Tensor, place: int):
        self.values, self.place = values, place

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, float) and other == -math.inf:
            return True
        return bool(self.values[self.place] > getattr(other, "value", other))

    @property
    def value(self) -> float:
        return float(self.values[self.place])


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
        self.signature = inspect.signature(function)
        self.chosen: Dict[str, int] = {}  # Sizes of tiles, in place of the caller's.

    def __getitem__(self, grid: Tuple[int, ...]) -> Callable:
        def launch(*arguments: Any, **named: Any) -> None:
            given = [Pointer(a.view(-1)) if isinstance(a, torch.Tensor) else a for a in arguments]
            bound = self.signature.bind(*given, **named)
            bound.arguments.update(self.chosen)
            by_place, by_name = bound.args, bound.kwargs
            for self.language.program in itertools.product(*map(range, grid)):
                self.function(*by_place, **by_name)

        return launch
