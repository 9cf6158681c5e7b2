"""Prints the table of docs/results/audits.md: what an audit says of every example here.

    python3 examples/audits/table.py > docs/results/audits.md

With names of files, only their rows.
"""

import importlib
import os
import pathlib
import platform
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import numpy as np  # noqa: E402

import draftlab as dl  # noqa: E402
from draftlab.audit.report import event_text  # noqa: E402
from draftlab.audit.sampler import samplers_of  # noqa: E402

HEAD = """# What the audits of the examples find

Printed by `python3 examples/audits/table.py > docs/results/audits.md`: the quick battery on every
sampler of `examples/audits/`, each written from a description. Seconds are processor time of one
thread ({machine}; Python {python}, numpy {numpy}).
The event is the first that differs in the smallest toy that shows it: the probability that the
output begins with these tokens. TV is the total variation of the largest bias found. A law that can
only be drawn from is `not shown` where nothing was found, with the TV that would have been found
with probability 0.99; that of the full battery is 0.005.

| file | sampler | verdict | depth | smallest case | event, or what was proved | largest TV | s |
|---|---|---|---|---|---|---|---|"""


def row(path, report):
    shown = report.shown
    depths = sorted({found.depth for found in report.findings if found.depth})
    if report.verdict == "biased":
        case, what = shown.toy.described(), event_text(shown)
        depths = [shown.depth]
    elif report.verdict == "crashes":
        case, what = shown.toy.described(), f"{shown.fault}: {shown.note}"
        depths = [shown.depth]
    elif report.verdict == "exact":
        case, what = "", f"{len(report.findings)} toys"
    else:
        drawn = [found.drawn.detectable for found in report.findings if found.drawn]
        case, what = "", f"TV {max(drawn):.2g} would have been found" if drawn else "out of time"
        what += f" in {len(drawn)} laws; {len(report.unseen)} not looked at" if drawn else ""
    tv = f"{report.largest.variation:.4g}" if report.verdict == "biased" else ""
    cells = [f"`{path.name}`", report.name, report.verdict, ", ".join(depths), case, what, tv,
             f"{report.seconds:.1f}"]
    return "| " + " | ".join(cells) + " |"


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return platform.machine()


def samplers_in(path):
    """Returns the samplers of a file; says so and returns none where something is missing."""
    try:
        return samplers_of(importlib.import_module(path.stem))
    except ModuleNotFoundError as missing:
        print(f"{path.name} is left out: there is no {missing.name}", file=sys.stderr)
        return []


def main() -> None:
    wanted = sys.argv[1:]
    if not wanted:
        print(HEAD.format(machine=processor(), python=platform.python_version(),
                          numpy=np.__version__))
    for path in sorted(HERE.glob("*.py")):
        if path.name not in ("table.py", "seeds.py", "log_power.py") and (not wanted or path.name in wanted):
            for sampler in samplers_in(path):
                print(row(path, dl.audit(sampler)), flush=True)


if __name__ == "__main__":
    main()
