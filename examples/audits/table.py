"""Prints the first table of docs/results/audits.md: what an audit says of every example here.

    python3 examples/audits/table.py [FILE...]

Without names of files, those in numpy.
"""

import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import draftlab as dl  # noqa: E402
from draftlab.audit.report import event_text  # noqa: E402
from draftlab.audit.sampler import samplers_of  # noqa: E402

HEAD = """| file | sampler | verdict | depth | smallest case | event, or what was proved | largest TV |
|---|---|---|---|---|---|---|"""
SECONDS = 3600  # No audit of a sampler in numpy ends for want of time, which would show in its row.


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
    cells = [f"`{path.name}`", report.name, report.verdict, ", ".join(depths), case, what, tv]
    return "| " + " | ".join(cells) + " |"


def samplers_in(path):
    """Returns the samplers of a file; says so and returns none where something is missing."""
    try:
        return samplers_of(importlib.import_module(path.stem))
    except ModuleNotFoundError as missing:
        print(f"{path.name} is left out: there is no {missing.name}", file=sys.stderr)
        return []


def files():
    """The files that hold samplers in numpy."""
    others = ("table", "seeds", "log_power", "torch_samplers")
    return [path for path in sorted(HERE.glob("*.py")) if path.stem not in others]


def main() -> None:
    print(HEAD)
    for path in [HERE / name for name in sys.argv[1:]] or files():
        for sampler in samplers_in(path):
            print(row(path, dl.audit(sampler, seconds=SECONDS, seed=1)), flush=True)


if __name__ == "__main__":
    main()
