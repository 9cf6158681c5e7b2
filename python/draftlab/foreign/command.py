"""`draftlab import FILE --out FILE.csv`: writes the records of others as acceptance lengths.

Comments at the head of the file written say whose numbers they are and what the records do not say.
"""

import argparse
import csv
import hashlib
import os
import sys
from typing import List, Optional

from draftlab.audit.faults import DataError, UsageError
from draftlab.foreign.records import Source, read_records
from draftlab.simulate.acceptance import COLUMNS

_USAGE = "draftlab import FILE --out FILE.csv --source TEXT [--task-name NAME]"
# What no record of these formats says, although a trace of ours would.
NEVER_SAID = ("seconds of steps", "arrival times", "the drafters' confidences", "temperature")


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab import: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab import", usage=_USAGE, allow_abbrev=False)
    parser.add_argument("file")
    parser.add_argument("--out", required=True, metavar="FILE.csv")
    parser.add_argument("--source", required=True, help="who measured this, and where it is from")
    parser.add_argument("--task-name", default="", help="the task, where the records do not say it")
    return parser


def write(source: Source, out: str, whose: str) -> List[str]:
    """Writes the records, and returns the columns that have NaN."""
    with open(source.path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    missing = source.not_said()
    with open(out, "x", encoding="utf-8", newline="") as file_out:
        for comment in (f"source: {' '.join(whose.split())}",
                        f"read from: {os.path.basename(source.path)}, {source.format}, sha256 "
                        f"{digest}",
                        f"not said by the source: {', '.join([*missing, *NEVER_SAID])}"):
            file_out.write(f"# {comment}\n")
        writer = csv.writer(file_out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in source.records:
            fields = [record.task, record.request, record.prompt_tokens, record.generated_tokens,
                      record.method]
            writer.writerow(["NaN" if value is None else value for value in fields]
                            + [" ".join(map(str, record.lengths))])
    return missing


def main(words: Optional[List[str]] = None) -> int:
    try:
        flags = _parser().parse_args(words)
        source = read_records(flags.file)
        for record in source.records:
            if flags.task_name and record.task is not None:
                raise source.fail(record.line, f"the record is of task {record.task}, so that "
                                               f"--task-name = '{flags.task_name}' contradicts it")
            record.task = record.task or flags.task_name or None
        missing = write(source, flags.out, flags.source)
        print(f"{flags.out}: {len(source.records)} records; NaN: {', '.join(missing) or 'none'}")
        return 0
    except (UsageError, DataError) as error:
        print(error, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"draftlab: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 65 if error.filename == flags.file else 73
