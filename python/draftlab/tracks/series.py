"""What a tracker draws of a trace: for each arm the numbers of its samples and of its steps."""

import re
from dataclasses import dataclass
from typing import Dict, List

import numpy as np

from draftlab.trace import COUNTED, Trace, config_keys

# Columns that say where rows stand and not what was measured.
_PLACES = re.compile(r"(first_|n_).*|run_index|sample_index|prompt_index")


@dataclass
class Arm:
    """An arm: its `name` among the others, its `config` by dotted keys, and its numbers, a row a
    sample or a step in the order of the trace. `seconds` since the trace was begun, of each row of
    `samples` and of `steps`, are those of decoding one sample after another."""

    name: str
    config: Dict[str, str]
    samples: Dict[str, np.ndarray]
    steps: Dict[str, np.ndarray]
    sample_seconds: np.ndarray
    step_seconds: np.ndarray


def arms_of(trace: Trace) -> List[Arm]:
    """The arms of a trace, each with what was measured of it."""
    names = list(trace["run_arm"])
    made = []
    for run, config in enumerate(trace["run_config"]):
        chosen = {table: np.flatnonzero(trace.runs_of(table) == run)
                  for table in ("sample", "step")}
        spent = np.nan_to_num(trace["sample_seconds"][chosen["sample"]])
        ends = np.cumsum(spent)
        steps = trace["step_ns"][chosen["step"]] / 1e9
        made.append(Arm(names[run] or "run", config_keys(config),
                        _numbers(trace, "sample", chosen["sample"]),
                        _numbers(trace, "step", chosen["step"]), ends, np.cumsum(steps)))
    return made


def folder_names(arms: List[Arm]) -> List[str]:
    """A name of a folder for each arm; two arms have two names."""
    plain = [re.sub(r"[^\w.=+-]+", "_", arm.name).strip("._") or "run" for arm in arms]
    return [name if plain.count(name) == 1 else f"{name}-{i}" for i, name in enumerate(plain)]


def _numbers(trace: Trace, table: str, rows: np.ndarray) -> Dict[str, np.ndarray]:
    """Every column of numbers that has a number, and `nfe`, the evaluations that papers count."""
    found: Dict[str, np.ndarray] = {}
    for column in trace.columns[table]:
        name = column[len(table) + 1:]
        if _PLACES.fullmatch(name) or trace[column].dtype == object:
            continue
        values = trace[column][rows]
        if np.isfinite(values).any():
            found[name] = values
    counts = [trace[f"{table}_nfe_{kind}"][rows].astype(np.int64) for kind in COUNTED]
    found["nfe"] = np.sum(counts, axis=0)
    return found
