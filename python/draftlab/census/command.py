"""The command line of the census."""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, Optional

from draftlab.audit.faults import DataError, Unavailable, UsageError, lacks

_USAGE = "draftlab census [NAME|FILE.py...] --sources DIR"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab census: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab census", usage=_USAGE, allow_abbrev=False,
                     description="Are the public samplers lossless? Exit status: 0 all rows are as "
                     "expected, 1 one is not, 2 a checkout is missing; 64 usage, 65 bad file, 69 "
                     "something is not installed.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows, or files of adapters")
    parser.add_argument("--sources", metavar="DIR", default="", help="the folder with checkouts")
    parser.add_argument("--format", default="text", choices=("text", "json", "markdown", "script"),
                        help="script: the plain Monte Carlo of each biased row")
    parser.add_argument("--reports", metavar="DIR", default="", help="write a draft of a report of "
                        "each biased row there")
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time for the "
                        "audit of a row")
    parser.add_argument("--random-seed", type=int, default=0, help="of the random laws; 0: another "
                        "one each time")
    parser.add_argument("--seeds", type=int, default=1, help="audits with so many seeds, from "
                        "--random-seed on, without controls")
    parser.add_argument("--jobs", type=int, default=1, help="rows at a time")
    return parser


def _judged(file: str, name: str, arguments: argparse.Namespace) -> Dict[str, Any]:
    import torch

    from draftlab.census.rows import rows_of
    from draftlab.census.run import judge, over_seeds

    torch.set_num_threads(1)  # Its tensors are too small for more.
    made = next(row for row in rows_of([file]) if row.name == name)
    if arguments.seeds > 1:
        first = arguments.random_seed or 1
        return over_seeds(made, arguments.sources, arguments.seconds,
                          range(first, first + arguments.seeds))
    return judge(made, arguments.sources, arguments.seconds, arguments.random_seed or None)


def _census(arguments: argparse.Namespace) -> int:
    from draftlab.census import table
    from draftlab.census.rows import rows_of

    chosen = rows_of(arguments.names)
    results: List[Dict[str, Any]] = []
    to_text = table.seeds_text if arguments.seeds > 1 else table.to_text
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for done in [pool.submit(_judged, row.file, row.name, arguments) for row in chosen]:
            results.append(done.result())
            if arguments.format == "text":
                print(to_text(results[-1]), flush=True)
            if arguments.format == "script" and "script" in results[-1]:
                print(results[-1]["script"])
    for result in results if arguments.reports else []:
        if result.get("verdict") == "biased" and result["claim"] != "lossy by design":
            path = Path(arguments.reports, f"{result['name']}.md")
            path.write_text(table.to_report(result), encoding="utf-8")
    if arguments.format == "markdown":
        print(table.seeds_markdown(results) if arguments.seeds > 1 else table.to_markdown(results))
    if arguments.format == "json":
        print(json.dumps(results, allow_nan=False))
    differs = any(not result.get("as_expected", True) for result in results)
    return 1 if differs else 2 if any("missing" in r for r in results) else 0


def main(words: Optional[List[str]] = None) -> int:
    try:
        arguments = _parser().parse_args(words)
        if not os.path.isdir(arguments.sources):
            raise UsageError(f"draftlab census: --sources = '{arguments.sources}' has to be a "
                             f"folder with checkouts; usage: {_USAGE}")
        if arguments.reports and not os.path.isdir(arguments.reports):
            raise DataError(f"{arguments.reports}: there is no such folder")
        if min(arguments.jobs, arguments.seeds) < 1 or arguments.seconds <= 0 \
                or arguments.random_seed < 0:
            raise UsageError("draftlab census: --jobs and --seeds have to be at least 1, --seconds "
                             "above 0, --random-seed at least 0")
        for library in ("numpy", "torch"):
            try:
                __import__(library)
            except ModuleNotFoundError as missing:
                raise Unavailable(lacks("draftlab census", library)) from missing
        return _census(arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return error.status
