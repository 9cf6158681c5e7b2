"""`python3 -m draftlab.simulate.fit POINTS.csv --out FILE.ini --source TEXT`: fits a cost surface.

POINTS.csv has the columns part, cached, rows and seconds, a measured forward a line. The part is
target, engine, or a proposer's name. A forward is fitted by least squares of relative residuals
under coefficients of at least 0; the engine's seconds are the mean of its lines. A line that begins
with # is a comment.
"""

import argparse
import csv
import itertools
import math
import sys
from typing import Dict, List, Optional, Tuple

import numpy as np

from draftlab.audit.faults import DataError, UsageError
from draftlab.simulate.cost import Forward

_USAGE = "python3 -m draftlab.simulate.fit POINTS.csv --out FILE.ini --source TEXT"
_COLUMNS = ["part", "cached", "rows", "seconds"]
Point = Tuple[float, float, float]  # Tokens in the caches, rows, seconds.


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab.simulate.fit: {message}; usage: {_USAGE}")


def _number(where: str, key: str, text: Optional[str]) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (key == "seconds" and value == 0):
        rule = "above 0" if key == "seconds" else "of at least 0"
        raise DataError(f"{where}: {key} = '{text}' has to be a number {rule}")
    return value


def read_points(path: str) -> Dict[str, List[Point]]:
    """The points of each part, in the order of the file."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = [(at, text) for at, text in enumerate(file, 1)
                     if text.strip() and not text.startswith("#")]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no text in UTF-8") from error
    reader = csv.DictReader(text for _, text in lines)
    if reader.fieldnames is None or list(reader.fieldnames) != _COLUMNS:
        raise DataError(f"{path}: the first line has to be {','.join(_COLUMNS)}")
    points: Dict[str, List[Point]] = {}
    for (line, _), row in zip(lines[1:], reader):
        where = f"{path}:{line}"
        name = row["part"] or ""
        if not name.replace("-", "").replace("_", "").isalnum() or name == "cost":
            raise DataError(f"{where}: part = '{name}' has to be target, engine or a proposer's "
                            "name of letters, digits, - and _")
        cached, rows, seconds = (_number(where, key, row[key]) for key in _COLUMNS[1:])
        points.setdefault(name, []).append((cached, rows, seconds))
    for name in ("target", "engine"):
        if name not in points:
            raise DataError(f"{path}: there is no line of part '{name}'")
    return points


def fit_forward(path: str, name: str, points: List[Point]) -> Tuple[Forward, np.ndarray]:
    """The forward, and the relative residual of each point."""
    array = np.array(points)
    seconds = array[:, 2]
    design = np.column_stack([array[:, :2], np.ones(len(array))]) / seconds[:, None]
    size = np.abs(design).max(axis=0)
    scaled = design / np.where(size > 0, size, 1.0)
    if np.linalg.matrix_rank(scaled) < 3:
        raise DataError(f"{path}: the {len(points)} lines of part '{name}' do not tell cached, row "
                        "and fixed apart: both counts have to vary, and not together")
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
        forward, off = fit_forward(path, name, points[name])
        if name == "target" and forward.fixed == 0:
            raise DataError(f"{path}: the lines of part 'target' give fixed = 0, and a surface "
                            "needs a number above 0")
        text += (f"\n; {len(off)} points; relative residuals: root mean square "
                 f"{np.sqrt(np.mean(off ** 2)):.2e}, largest {np.abs(off).max():.2e}.\n[{name}]\n"
                 f"cached = {forward.cached:.8e}\nrow = {forward.row:.8e}\n"
                 f"fixed = {forward.fixed:.8e}\n")
    return text + (f"\n; {len(engine)} points, of {engine.min():.3e} to {engine.max():.3e} s.\n"
                   f"[engine]\nfixed = {engine.mean():.8e}\n")


def main(words: Optional[List[str]] = None) -> int:
    named = ""
    try:
        parser = _Parser(prog="draftlab.simulate.fit", usage=_USAGE, allow_abbrev=False)
        parser.add_argument("file")
        parser.add_argument("--out", required=True)
        parser.add_argument("--source", required=True)
        flags = parser.parse_args(words)
        named = flags.file
        text = surface_text(flags.file, flags.source)
        with open(flags.out, "x", encoding="utf-8") as out:
            out.write(text)
        print(text, end="")
        return 0
    except (UsageError, DataError) as error:
        print(error, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"draftlab: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 65 if error.filename == named else 73


if __name__ == "__main__":
    sys.exit(main())
