"""Measured forwards, which a cost surface is fitted to: read from a CSV or from a trace.

A CSV has the columns part, cached, rows and seconds, a forward a line. The part is target, engine,
or a proposer's name. A line that begins with # is a comment.
"""

import csv
import math
from typing import Dict, List, Optional, Tuple

import numpy as np

from draftlab.audit.faults import DataError, Unavailable, lacks

Point = Tuple[float, float, float]  # Tokens in the caches, rows, seconds.
Points = Dict[str, List[Point]]  # Of each part, in the order of the file.
_COLUMNS = ["part", "cached", "rows", "seconds"]
_KINDS = ("prefill", "draft", "verify", "commit", "aux")
_HDF5 = b"\x89HDF\r\n\x1a\n"


def _number(where: str, key: str, text: Optional[str]) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (key == "seconds" and value == 0):
        rule = "above 0" if key == "seconds" else "of at least 0"
        raise DataError(f"{where}: {key} = '{text}' has to be a number {rule}")
    return value


def _of_csv(path: str) -> Points:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = [(at, text) for at, text in enumerate(file, 1)
                     if text.strip() and not text.startswith("#")]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no text in UTF-8") from error
    reader = csv.DictReader(text for _, text in lines)
    if reader.fieldnames is None or list(reader.fieldnames) != _COLUMNS:
        raise DataError(f"{path}: the first line has to be {','.join(_COLUMNS)}")
    points: Points = {}
    for (line, _), row in zip(lines[1:], reader):
        where = f"{path}:{line}"
        name = row["part"] or ""
        if not name.replace("-", "").replace("_", "").isalnum() or name == "cost":
            raise DataError(f"{where}: part = '{name}' has to be target, engine or a proposer's "
                            "name of letters, digits, - and _")
        cached, rows, seconds = (_number(where, key, row[key]) for key in _COLUMNS[1:])
        points.setdefault(name, []).append((cached, rows, seconds))
    return points


class _Steps:
    """The steps of a trace that were timed one sample at a time, as columns."""

    def __init__(self, path: str) -> None:
        try:
            from draftlab.trace import Trace
        except ImportError as error:
            raise Unavailable(lacks("draftlab simulate --fit", "h5py")) from error
        try:
            self.trace = Trace(path)
        except ValueError as error:
            raise DataError(str(error)) from error
        workers = int(self.trace.attributes.get("workers", 1))
        if workers > 1:
            raise DataError(f"{path}: {workers} samples were decoded side by side, which slows each"
                            " of them; decode again with --timed")
        self.sample = self.trace["step_sample_index"]
        self.run = self.trace["sample_run_index"][self.sample]
        self.alone = np.isfinite(self.trace["sample_seconds"])[self.sample]

    def total(self, what: str, kinds: Tuple[str, ...], model: str = "") -> np.ndarray:
        """Forwards, positions or nanoseconds (nfe, positions, ns) of some kinds, a step a row."""
        return np.sum([self.trace[f"step_{model}{what}_{kind}"] for kind in kinds], axis=0)

    def cached(self) -> np.ndarray:
        """The tokens that stand before the step: the prompt and what was committed."""
        committed = self.trace["step_committed"].astype(np.int64)
        before = np.cumsum(committed) - committed
        first = self.trace["sample_first_step"][self.sample]
        return self.trace["sample_prompt_tokens"][self.sample] + before - before[first]


def _of_trace(path: str) -> Points:
    steps = _Steps(path)
    trace, cached = steps.trace, steps.cached()
    sequential = trace["run_sequential"].astype(bool)[steps.run]
    drafters = {int(run): str(value) for run, key, value in
                zip(trace["setting_run_index"], trace["setting_key"], trace["setting_value"])
                if key == "drafter"}
    # Token after token, the one forward that draws a token is the target's, whatever it is for.
    judging = ("verify", "commit")
    forwards = np.where(sequential, steps.total("nfe", _KINDS), steps.total("nfe", judging))
    rows = np.where(sequential, steps.total("positions", _KINDS),
                    steps.total("positions", judging))
    taken = np.where(sequential, steps.total("ns", _KINDS), steps.total("ns", judging))
    drafting = np.where(sequential, 0, steps.total("ns", ("draft",))) + \
        steps.total("ns", _KINDS, "drafter_")
    models = steps.total("ns", _KINDS) + steps.total("ns", _KINDS, "drafter_")
    points: Points = {}

    def add(name: str, which: np.ndarray, counted: np.ndarray, nanoseconds: np.ndarray) -> None:
        for at in np.flatnonzero(which & steps.alone):
            points.setdefault(name, []).append(
                (float(cached[at]), float(counted[at]), float(nanoseconds[at]) / 1e9))

    add("target", (forwards == 1) & (taken > 0), rows, taken)
    for run, drafter in drafters.items():
        if trace["run_sequential"][run]:
            continue
        points.setdefault(drafter, [])  # One that asks no model has none.
        add(drafter, (steps.run == run) & (drafting > 0), trace["step_drafted"] + 1, drafting)
    add("engine", trace["step_ns"] > models, np.zeros(len(cached)), trace["step_ns"] - models)
    return points


def read_points(path: str) -> Points:
    """The forwards of a trace or of a CSV; there are some of the target and of the engine."""
    with open(path, "rb") as file:
        in_trace = file.read(len(_HDF5)) == _HDF5
    points = _of_trace(path) if in_trace else _of_csv(path)
    for name in ("target", "engine"):
        if name not in points:
            raise DataError(f"{path}: there is no step whose target was timed in one forward"
                            if in_trace else f"{path}: there is no line of part '{name}'")
    return points
