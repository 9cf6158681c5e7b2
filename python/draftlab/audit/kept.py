"""What an audit found, as plain data, so that a later one goes on where it ended.

A law that was walked is not walked again. One that was only drawn from, or not looked at, is tried
again with more time; what was drawn from it before stands where the time ends again.
"""

import hashlib
import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from draftlab.audit.faults import DataError
from draftlab.audit.judge import Finding, Rounding
from draftlab.audit.laws import Event
from draftlab.audit.report import Report
from draftlab.audit.sampled import Sampled
from draftlab.audit.toys import Toy

_FORMAT = 1


def place_of(toy: Toy) -> Tuple[Any, ...]:
    """What tells a toy from the others of a battery."""
    return toy.name, toy.vocabulary, toy.drafts, toy.steps, toy.row


def settled(found: Finding) -> bool:
    """Says that more time changes nothing of it."""
    return found.verdict != "not shown"


def digest_of(path: str) -> str:
    """The digest of a file of samplers."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def read(path: str, file: str, name: str) -> Optional[Report]:
    """The report on sampler `name` of `file` that is kept at `path`; None where there is none."""
    if not Path(path).exists():
        return None
    try:
        kept = json.loads(Path(path).read_text(encoding="utf-8"))
        if kept["format"] != _FORMAT:
            raise ValueError(f"its format is {kept['format']}, not {_FORMAT}")
        of_file = kept["files"].get(file)
        if of_file and of_file["digest"] != digest_of(file):
            raise DataError(f"{path}: {file} was changed since; remove {path} to begin anew")
        return _report(of_file["samplers"][name]) if of_file and name in of_file["samplers"] \
            else None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: keeps no audit: {type(error).__name__}: {error}") from error


def write(path: str, file: str, report: Report) -> None:
    """Keeps a report on a sampler of `file`, beside what is kept there already."""
    kept: Dict[str, Any] = {"format": _FORMAT, "files": {}}
    if Path(path).exists():
        kept = json.loads(Path(path).read_text(encoding="utf-8"))
    of_file = kept["files"].setdefault(file, {"digest": digest_of(file), "samplers": {}})
    of_file["samplers"][report.name] = {
        "battery": report.battery, "seed": report.seed, "seconds": report.seconds,
        "allowed": report.allowed, "findings": [_plain(found) for found in report.findings]}
    Path(path).write_text(json.dumps(kept, allow_nan=False), encoding="utf-8")


def _plain(found: Finding) -> Dict[str, Any]:
    """A finding as numbers, words and lists; its toy is named only."""
    values = {one.name: getattr(found, one.name) for one in fields(found)}
    values["toy"] = list(place_of(found.toy))
    values["variation"] = None if math.isnan(found.variation) else found.variation
    for name in ("event", "forbidden", "drawn", "rounding"):
        values[name] = values[name] and asdict(values[name])
    if found.drawn:
        values["drawn"]["law"] = None  # `emitted` has it where it is shown.
    for name in ("emitted", "target"):
        values[name] = None if values[name] is None else values[name].tolist()
    return values


def _report(kept: Dict[str, Any]) -> Report:
    made = Report("", kept["battery"], kept["seconds"], allowed=kept["allowed"],
                  seed=kept["seed"])
    made.findings = [_finding(values) for values in kept["findings"]]
    return made


def _finding(values: Dict[str, Any]) -> Finding:
    made = Finding(**values)
    name, vocabulary, drafts, steps, row = values["toy"]
    made.toy = Toy(name, vocabulary, drafts, None, None, steps=steps, row=row)
    made.variation = math.nan if values["variation"] is None else values["variation"]
    made.event, made.forbidden = _event(values["event"]), _event(values["forbidden"])
    if values["drawn"]:
        made.drawn = Sampled(**values["drawn"])
        made.drawn.event = _event(values["drawn"]["event"])
    made.rounding = Rounding(**values["rounding"]) if values["rounding"] else None
    for axis in ("emitted", "target"):
        if values[axis] is not None:
            setattr(made, axis, np.array(values[axis]))
    return made


def _event(values: Optional[Dict[str, Any]]) -> Optional[Event]:
    return Event(tuple(values["tokens"]), values["target"], values["found"]) if values else None


def of_toys(earlier: Report, toys: List[Toy]) -> List[Finding]:
    """What was found before of these toys."""
    known = {place_of(toy): toy for toy in toys}
    found = [one for one in earlier.findings if place_of(one.toy) in known]
    for one in found:
        one.toy = known[place_of(one.toy)]
    return found
