"""Who answers the functions that make numbers while a sampler is audited, and what they make of
the answers: whole numbers, normal ones, orders and bytes."""

import contextlib
import math
from statistics import NormalDist
from typing import Any, Callable, List

from draftlab.audit.faults import SamplerFault

asked: List[Any] = []  # The last of these Numbers answers now.
_CHUNK = 53  # A number of [0, 1) has so many bits.
_CHOICE = 64  # Of up to so many whole numbers one is a choice; more are a part of a uniform.


@contextlib.contextmanager
def answered_by(numbers):
    """Within it, caught functions ask `numbers`."""
    asked.append(numbers)
    try:
        yield
    finally:
        asked.pop()


def whole(low, high) -> int:
    """A whole number in [low, high)."""
    count = int(high) - int(low)
    if count <= 0:
        raise ValueError("low >= high")
    if count <= _CHOICE:
        return int(low) + asked[-1].draw([1.0] * count)
    bits = (count - 1).bit_length()
    if bits > _CHUNK and count != 1 << bits:
        bits += _CHUNK  # What is cut off below is seldom enough then.
    return int(low) + (_bits(bits) * count >> bits) if bits > _CHUNK else \
        int(low) + int(asked[-1].number() * count)


def _bits(count: int) -> int:
    """A whole number of so many bits, the first of which come from the first number."""
    value = 0
    while count > 0:
        some = min(_CHUNK, count)
        value = value << some | int(asked[-1].number() * (1 << some))
        count -= some
    return value


def octets(count: int) -> bytes:
    """So many bytes."""
    return _bits(8 * count).to_bytes(count, "big")


def normal() -> float:
    """A standard normal number."""
    return NormalDist().inv_cdf(min(max(asked[-1].number(), 2.0**-53), 1 - 2.0**-53))


def cauchy() -> float:
    """A standard Cauchy number."""
    return math.tan(math.pi * (asked[-1].number() - 0.5))


def geometric(p: float) -> int:
    """How many draws it takes until one of probability p succeeds."""
    if p >= 1:
        return 1
    return 1 + int(math.log1p(-asked[-1].number()) / math.log1p(-p))


def order(count: int) -> List[int]:
    """A random order of so many places."""
    left, made = list(range(count)), []
    while left:
        made.append(left.pop(asked[-1].draw([1.0] * len(left))))
    return made


def refuse(name: str) -> SamplerFault:
    """The fault of a sampler that draws from what cannot be answered."""
    return SamplerFault("not caught", f"drew from {name}, which the audit cannot answer; ask "
                        "random.uniform() instead")


def either(real: Callable, answer: Callable) -> Callable:
    """A function that asks the audit during an audited call, and draws for itself otherwise."""

    def function(*arguments, **named):
        return (answer if asked else real)(*arguments, **named)

    function.__name__ = getattr(real, "__name__", "function")
    return function
