"""The command line of what `draftlab export` leaves to Python."""

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from draftlab.audit.faults import DataError, Unavailable, UsageError

_USAGE = "draftlab export TRACE --parquet DIR, --tensorboard DIR or --wandb DIR"
FORMATS = ("parquet", "tensorboard", "wandb")


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab export: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab export", usage=_USAGE, allow_abbrev=False)
    parser.add_argument("trace", metavar="TRACE")
    for form in FORMATS:
        parser.add_argument(f"--{form}", default="", metavar="DIR")
    return parser


def _export(arguments: argparse.Namespace) -> None:
    try:
        from draftlab.trace import Trace
        from draftlab.tracks.writers import WRITERS
    except ModuleNotFoundError as missing:
        raise Unavailable(f"draftlab export needs {missing.name} for this format, which "
                          f"{sys.executable} does not have: install python3-{missing.name}, or "
                          "name another interpreter in DRAFTLAB_PYTHON") from missing
    try:
        trace = Trace(arguments.trace)
    except (OSError, ValueError, KeyError) as error:
        said = "it is no HDF5 file" if isinstance(error, OSError) else str(error)
        raise DataError(f"{arguments.trace}: {said}") from error
    for form in FORMATS:
        folder = getattr(arguments, form)
        for path in WRITERS[form](trace, Path(folder)) if folder else ():
            print(path)


def main(words: Optional[List[str]] = None) -> int:
    try:
        _export(_parser().parse_args(words))
        return 0
    except UsageError as error:
        print(error, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"draftlab export: '{error.filename}' cannot be written: {error.strerror}",
              file=sys.stderr)
        return 73
