"""`draftlab import FILE --out OUT --source TEXT`: brings in what others recorded (docs/IMPORT.md).

A name that ends in .h5 is a trace; any other is a CSV: acceptance lengths, as `draftlab simulate`
reads them, or a table of sums. The file says whose its numbers are, and what they do not say.
"""

import argparse
import hashlib
import os
import sys
from typing import Dict, List, Optional, Union

from draftlab import commands
from draftlab.audit.faults import DataError, Unavailable, UsageError, lacks
from draftlab.foreign.decodes import Decodes, walk_all
from draftlab.foreign.lengths import write_lengths
from draftlab.foreign.reading import Reading, read
from draftlab.foreign.records import Record, plain
from draftlab.foreign.summaries import Summary, not_said, write_table
from draftlab.foreign.whole_file import whole_file

_USAGE = "draftlab import FILE --out FILE.csv|FILE.h5 --source TEXT [--drafted K,K] " \
    "[--task-name NAME]"
_LONGEST = 4096  # The largest draft length of a decoder.


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab import: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab import", usage=_USAGE, allow_abbrev=False)
    parser.add_argument("file")
    parser.add_argument("--out", required=True, metavar="OUT")
    parser.add_argument("--source", required=True, help="who measured this, and where it is from")
    parser.add_argument("--task-name", default="", help="the task, where the records do not say it")
    parser.add_argument("--drafted", default="", metavar="K,K",
                        help="the draft lengths of a trace that is made of acceptance lengths")
    return parser


def _draft_lengths(text: str) -> List[int]:
    words = text.split(",")
    if not all(word.isdigit() and int(word) <= _LONGEST for word in words) or \
            len(set(map(int, words))) < len(words):
        raise UsageError(f"draftlab import: --drafted = '{text}' has to be different whole numbers "
                         f"from 0 to {_LONGEST}, separated by commas")
    return list(map(int, words))


def _name_task(reading: Reading, task: str) -> None:
    """Gives what has no task the one that the command line names."""
    source = reading.source
    rows: List[Union[Record, Summary]] = [*source.records, *reading.summaries]
    for record in rows:
        if record.task is not None:
            raise source.fail(record.line, f"the record is of task {record.task}, so that "
                                           f"--task-name = '{task}' contradicts it")
        record.task = task
    for decode in reading.decodes:
        if decode is not None:
            decode.prompt = f"{task}/{decode.prompt}"


def _decodes(reading: Reading, drafted: str) -> Decodes:
    """The steps that a trace is made of."""
    source = reading.source
    if source.records:
        if not drafted:
            raise UsageError("draftlab import: --drafted is missing: acceptance lengths hold for "
                             "drafts of any length, and the steps of a trace have some; usage: "
                             f"{_USAGE}")
        return walk_all(source, _draft_lengths(drafted))
    if drafted:
        raise UsageError(f"draftlab import: --drafted = '{drafted}' is for acceptance lengths, and "
                         f"{source.path} is {source.format}")
    for row, decode in zip(reading.summaries, reading.decodes):
        if decode is None:
            raise source.fail(row.line, "this answer has no 'per_step_accepted' and "
                                        "'per_step_drafted' of any step, which a trace is made of; "
                                        "give --out a .csv, or serve with "
                                        "--per-request-spec-decode-metrics detailed")
    if not reading.decodes:
        raise DataError(f"{source.path}: {source.format} gives sums and no steps, which a trace is "
                        "made of; give --out a .csv")
    return Decodes(source, [decode for decode in reading.decodes if decode is not None])


def _families(names: List[str], known: List[str]) -> List[str]:
    """The names, with PREFIX_* for three and more that are all that begins so."""
    short: List[str] = []
    for name in names:
        parts = name.split("_")
        for end in range(2, len(parts)):
            prefix = "_".join(parts[:end]) + "_"
            family = [other for other in known if other.startswith(prefix)]
            if len(family) > 2 and set(family) <= set(names):
                name = prefix + "*"
                break
        if name not in short:
            short.append(name)
    return short


def _write_trace(decodes: Decodes, out: str, whose: Dict[str, str]) -> str:
    try:
        from draftlab.foreign.schema import read_schema
        from draftlab.foreign.trace_file import TraceFile
    except ModuleNotFoundError as error:
        raise Unavailable(lacks("draftlab import to a trace", str(error.name))) from error
    schema = read_schema()
    trace = TraceFile(schema, decodes, whose)
    trace.write(out)
    known = [column.name for columns in schema.tables.values() for column in columns]
    missing = trace.not_said()
    return (f"{out}: samples: {trace.lengths['sample']}, arms: {trace.lengths['run']}, steps: "
            f"{trace.lengths['step']}; not said, and NaN, 0 or empty: "
            f"{', '.join(_families(missing, known))}")


def _write_csv(reading: Reading, out: str, whose: Dict[str, str]) -> str:
    source = reading.source
    missing = source.not_said() if source.records else not_said(reading.summaries)
    with whole_file(out) as partial, \
            open(partial, "w", encoding="utf-8", newline="") as file:
        for key, text in whose.items():
            file.write(f"# {key}: {text}\n")
        if source.records:
            write_lengths(source, missing, file)
        else:
            file.write(f"# not said by the source: {', '.join(missing) or 'nothing'}\n")
            write_table(reading.summaries, file)
    count = len(source.records) or len(reading.summaries)
    return f"{out}: {count} records; NaN: {', '.join(missing) or 'none'}"


def _import(flags: argparse.Namespace) -> str:
    to_trace = flags.out.endswith(".h5")
    if flags.drafted and not to_trace:
        raise UsageError(f"draftlab import: --drafted = '{flags.drafted}' is for traces, and --out "
                         f"= '{flags.out}' does not end in .h5")
    reading = read(flags.file)
    if flags.task_name:
        _name_task(reading, plain(flags.task_name))
    with open(flags.file, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    source = reading.source
    whose = {"source": plain(" ".join(flags.source.split())),
             "read from": f"{plain(os.path.basename(source.path))}, {source.format}, sha256 "
                          f"{digest}"}
    if not to_trace:
        return _write_csv(reading, flags.out, whose)
    decodes = _decodes(reading, flags.drafted)
    whose["steps"] = "walked by draftlab through acceptance lengths, with drafts of fixed length" \
        if source.records else "as the source has them; others than verifications it does not have"
    return _write_trace(decodes, flags.out, whose)


def main(words: Optional[List[str]] = None) -> int:
    flags = None
    try:
        flags = _parser().parse_args(words)
        print(_import(flags))
        return 0
    except (UsageError, DataError, commands.DraftlabError) as error:
        print(error, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"draftlab: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 65 if flags and error.filename == flags.file else 73
