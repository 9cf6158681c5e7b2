"""The learned table: for each depth the chance that one more draft is accepted, by features.

A row holds a depth's intercept and its weight of each feature (features.py names them); the chance
that draft j is accepted once those before it were is 1 / (1 + exp(-(intercept + weights . x))). The
table knows nothing of batches and costs: a router puts them in when it decides.
"""

import csv
import math
from dataclasses import dataclass
from typing import List

import numpy as np

from draftlab.audit.faults import DataError
from draftlab.simulate.features import NAMES

HEAD = ("depth", "intercept", *NAMES)


@dataclass(frozen=True)
class Table:
    intercepts: np.ndarray  # [depths]
    weights: np.ndarray     # [depths, features]

    @property
    def deepest(self) -> int:
        return len(self.intercepts)

    def survival(self, features: np.ndarray) -> np.ndarray:
        """[sequences, depths]: the chances that drafts 1, ..., j are all accepted."""
        with np.errstate(over="ignore"):
            hazard = 1 / (1 + np.exp(-(features @ self.weights.T + self.intercepts)))
        return np.cumprod(hazard, axis=1)


def write_table(path: str, table: Table, comments: List[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for depth, (intercept, weights) in enumerate(zip(table.intercepts, table.weights), 1):
            writer.writerow([depth, *(f"{value:.6g}" for value in (intercept, *weights))])


def read_table(path: str) -> Table:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no text in UTF-8") from error
    if not rows or tuple(rows[0]) != HEAD:
        raise DataError(f"{path}: a learned table begins with the line {','.join(HEAD)}")
    numbers = []
    for depth, row in enumerate(rows[1:], 1):
        try:
            values = [float(word) for word in row]
        except ValueError:
            values = []
        if len(values) != len(HEAD) or values[0] != depth \
                or not all(math.isfinite(value) for value in values):
            raise DataError(f"{path}: row {depth} has to hold depth {depth} and {len(HEAD) - 1} "
                            "finite numbers")
        numbers.append(values)
    if not numbers:
        raise DataError(f"{path}: the table has no rows")
    array = np.array(numbers)
    return Table(array[:, 1], array[:, 2:])
