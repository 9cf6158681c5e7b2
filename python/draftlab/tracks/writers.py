"""A function for each format that writes the frames of a trace into a folder."""

import datetime
import importlib
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np

from draftlab.audit.faults import Unavailable
from draftlab.trace import TABLES, Trace
from draftlab.tracks.event_file import EventFile, scalar, text
from draftlab.tracks.series import Arm, arms_of, folder_names


def _needed(package: str, of: str) -> Any:
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        name = package.partition(".")[0]
        raise Unavailable(f"draftlab export --{of} needs the Python package {name}, which "
                          f"{sys.executable} does not have and Debian 12 does not package; install "
                          "it in an environment that DRAFTLAB_PYTHON names") from missing


def parquet(trace: Trace, folder: Path) -> List[Path]:
    """A file a table; those of samples and of what belongs to them have their arm and the keys in
    which arms differ."""
    writer = _needed("pyarrow.parquet", "parquet")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for table in TABLES:
        if trace.rows[table]:
            made.append(folder / f"{table}.parquet")
            writer.write_table(trace.frame(table, words=True, to="arrow"), made[-1])
    return made


def _began(trace: Trace) -> float:
    """When the trace was begun, in seconds of the epoch."""
    said = str(trace.attributes.get("started", ""))
    try:
        return datetime.datetime.fromisoformat(said.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0


def _events(arm: Arm, began: float, path: Path) -> None:
    with open(path, "wb") as opened:
        events = EventFile(opened, began)
        config = "".join(f"    {key} = {value}\n" for key, value in arm.config.items())
        events.add(text("config", config), 0, 0)
        for kind, columns, seconds in (("sample", arm.samples, arm.sample_seconds),
                                       ("step", arm.steps, arm.step_seconds)):
            for row in range(len(seconds)):
                found = [scalar(f"{kind}/{name}", values[row]) for name, values in columns.items()
                         if np.isfinite(values[row])]
                events.add(b"".join(found), row, float(seconds[row]))


def tensorboard(trace: Trace, folder: Path) -> List[Path]:
    """A folder with an event file for each arm: `sample/NAME` at the number of the sample, and
    `step/NAME` at the number of the step among all of the arm."""
    arms, began = arms_of(trace), _began(trace)
    made = []
    for arm, name in zip(arms, folder_names(arms)):
        path = folder / name / f"events.out.tfevents.{int(began):010d}.draftlab"
        path.parent.mkdir(parents=True, exist_ok=True)
        _events(arm, began, path)
        made.append(path)
    return made


def wandb(trace: Trace, folder: Path) -> List[Path]:
    """An offline run for each arm, which `wandb sync` uploads: the same names as in TensorBoard."""
    package = _needed("wandb", "wandb")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for arm in arms_of(trace):
        run = package.init(project="draftlab", name=arm.name, dir=str(folder), config=arm.config,
                           mode="offline", reinit=True)
        for kind, columns, count in (("sample", arm.samples, len(arm.sample_seconds)),
                                     ("step", arm.steps, len(arm.step_seconds))):
            run.define_metric(f"{kind}/index")
            run.define_metric(f"{kind}/*", step_metric=f"{kind}/index")
            for row in range(count):
                numbers = {f"{kind}/{name}": values[row].item() for name, values in columns.items()
                           if np.isfinite(values[row])}
                run.log({f"{kind}/index": row, **numbers})
        made.append(Path(run.dir))
        run.finish()
    return made


WRITERS: Dict[str, Callable[[Trace, Path], List[Path]]] = {
    "parquet": parquet, "tensorboard": tensorboard, "wandb": wandb}
