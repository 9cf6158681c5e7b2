"""Writes acceptance lengths as the CSV that `draftlab simulate` reads (simulate/acceptance.py)."""

import csv
from typing import List, TextIO

from draftlab.foreign.records import Source
from draftlab.simulate.acceptance import COLUMNS

# What no record of these formats says, although a trace of ours would.
NEVER_SAID = ("seconds of steps", "arrival times", "the drafters' confidences", "temperature")


def write_lengths(source: Source, missing: List[str], file: TextIO) -> None:
    """Writes the records below a comment on the columns that have NaN."""
    file.write(f"# not said by the source: {', '.join([*missing, *NEVER_SAID])}\n")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in source.records:
        fields = [record.task, record.request, record.prompt_tokens, record.generated_tokens,
                  record.method]
        writer.writerow(["NaN" if value is None else value for value in fields]
                        + [" ".join(map(str, record.lengths))])
