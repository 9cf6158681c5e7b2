"""Tables of traces whose tokens are vectors. An id is the same on every processor or another one; a
vector is the same but for rounding, so that a number which is printed of it may differ by one in
its last digit where it lies between two.
"""

import os
import re
from decimal import Decimal
from typing import List, Union

import h5py

NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def holds_vectors(trace: Union[str, "os.PathLike[str]"]) -> bool:
    with h5py.File(trace, "r") as file:
        return "token_value_0" in file


def _near(before: str, now: str) -> bool:
    a, b = [len(number.partition(".")[2]) for number in (before, now)]
    return a == b and abs(Decimal(before) - Decimal(now)) <= Decimal(10) ** -a


def alike_but_for_rounding(before: List[str], now: List[str]) -> bool:
    """Whether two rows of cells are the same, but for the last digits of fractions."""
    a, b = " | ".join(before), " | ".join(now)
    numbers = list(zip(NUMBER.findall(a), NUMBER.findall(b)))
    return (NUMBER.sub("#", a) == NUMBER.sub("#", b) and
            all(x == y or ("." in x and _near(x, y)) for x, y in numbers))
