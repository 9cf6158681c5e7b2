"""Fits a cost surface to measured forwards.

A forward is fitted by least squares of relative residuals under coefficients of at least 0; the
engine's seconds are the mean of its points.
"""

import itertools
import math
from typing import List, Tuple

import numpy as np

from draftlab.audit.faults import DataError
from draftlab.simulate.cost import Forward
from draftlab.simulate.points import Point, read_points


def fit_forward(path: str, name: str, points: List[Point]) -> Tuple[Forward, np.ndarray]:
    """The forward, and the relative residual of each point."""
    array = np.array(points)
    seconds = array[:, 2]
    design = np.column_stack([array[:, :2], np.ones(len(array))]) / seconds[:, None]
    size = np.abs(design).max(axis=0)
    scaled = design / np.where(size > 0, size, 1.0)
    if np.linalg.matrix_rank(scaled) < 3:
        raise DataError(f"{path}: the {len(points)} forwards of part '{name}' do not tell cached, "
                        "row and fixed apart: both counts have to vary, and not together")
    best, least = np.zeros(3), math.inf
    # The optimum has some coefficients at 0 and is an ordinary fit of the others.
    for count in (1, 2, 3):
        for some in itertools.combinations(range(3), count):
            solved = np.linalg.lstsq(scaled[:, some], np.ones(len(array)), rcond=None)[0]
            loss = float(((scaled[:, some] @ solved - 1) ** 2).sum())
            if (solved >= 0).all() and loss < least:
                best, least = np.zeros(3), loss
                best[list(some)] = solved / size[list(some)]
    return Forward(*(float(value) for value in best)), design @ best - 1


def surface_text(path: str, source: str) -> str:
    """The INI text that simulate's --cost reads, with the residuals as comments."""
    points = read_points(path)
    engine = np.array([seconds for _, _, seconds in points.pop("engine")])
    text = f"[cost]\nsource = {' '.join(source.split())}\n"
    for name in ["target", *sorted(set(points) - {"target"})]:
        if not points[name]:
            text += (f"\n; It asks no model: what it takes is the engine's.\n[{name}]\n"
                     "cached = 0\nrow = 0\nfixed = 0\n")
            continue
        forward, off = fit_forward(path, name, points[name])
        if name == "target" and forward.fixed == 0:
            raise DataError(f"{path}: the forwards of part 'target' give fixed = 0, and a surface "
                            "needs a number above 0")
        text += (f"\n; {len(off)} points; relative residuals: root mean square "
                 f"{np.sqrt(np.mean(off ** 2)):.2e}, largest {np.abs(off).max():.2e}.\n[{name}]\n"
                 f"cached = {forward.cached:.8e}\nrow = {forward.row:.8e}\n"
                 f"fixed = {forward.fixed:.8e}\n")
    return text + (f"\n; {len(engine)} points, of {engine.min():.3e} to {engine.max():.3e} s.\n"
                   f"[engine]\nfixed = {engine.mean():.8e}\n")
