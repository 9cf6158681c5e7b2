"""The command line of recheck."""

import argparse
import json
import os
import sys
from typing import List, Optional

from draftlab.audit.faults import DataError, Unavailable, UsageError

_USAGE = "draftlab recheck [--model] TRACE..."


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab recheck: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab recheck", usage=_USAGE, allow_abbrev=False,
                     description="Computes again, in numpy, what a trace says that was decided. "
                     "Exit status: 0 all agree, 1 something differs; 64 usage, 65 no trace, 69 "
                     "something is not installed, 74 a closed pipe.")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--model", default="false", choices=("true", "false"), nargs="?",
                        const="true")
    parser.add_argument("--format", default="text", choices=("text", "json"))
    return parser


def _recheck(path: str, form: str, model: bool) -> bool:
    from draftlab.recheck.check import recheck

    if not os.path.isfile(path):
        raise DataError(f"{path}: there is no such file")
    try:
        found = recheck(path, model)
    except (OSError, ValueError, KeyError) as error:
        said = "it is no HDF5 file" if isinstance(error, OSError) else str(error).strip("'\"")
        raise DataError(said if path in said else f"{path}: {said}") from error
    if form == "json":
        print(json.dumps({"trace": path, **found.to_json()}, allow_nan=False))
    else:
        said = f"{found.differ} differ" if found.differ else "all agree"
        print("\n".join([f"{path}: {said}", *found.lines()]), flush=True)
    return found.differ == 0


def main(words: Optional[List[str]] = None) -> int:
    try:
        arguments = _parser().parse_args(words)
        for library in ("numpy", "h5py"):
            try:
                __import__(library)
            except ModuleNotFoundError as missing:
                raise Unavailable(f"draftlab recheck needs {library}, which {sys.executable} does "
                                  f"not have: install python3-{library}, or name another "
                                  "interpreter in DRAFTLAB_PYTHON") from missing
        agree = [_recheck(path, arguments.format, arguments.model == "true")
                 for path in arguments.traces]
        return 0 if all(agree) else 1
    except UsageError as error:
        print(error, file=sys.stderr)
        return error.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Nobody reads the rest.
        return 74
