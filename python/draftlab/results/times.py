"""Which cells of a printed table are times. The metric says it: its unit is s or 1/s. What is
printed of it, its factor and its difference differ from run to run, and are compared with nothing.
Of a table that was timed, all numbers are the machine's.
"""

import re
from typing import Any, Dict, List, Set

TIME_UNITS = {"s", "s-1"}
BRACKETS = "(factor)"  # Among titles of times: factors that stand in brackets behind a value.


def time_titles(report: Dict[str, Any], speedup: str = "") -> Set[str]:
    """The titles of the metrics of `draftlab report --format json` that are times, and BRACKETS
    where the metric that `--speedup` names is one."""
    times = [metric for metric in report["metrics"] if metric["unit"] in TIME_UNITS]
    brackets = {BRACKETS for metric in times if metric["name"] == speedup}
    return {metric["title"] for metric in times} | brackets


def cells_of(line: str) -> List[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def without_times(table: List[str], titles: Set[str]) -> List[List[str]]:
    """The cells of these tables; those of times are a dash, and verdicts on times are left out. A
    column that then holds nothing is not there: verdicts on times come and go."""
    return [row for rows in _tables(table, titles) for row in _without_columns(rows, titles)]


def without_numbers(table: List[str], titles: Set[str]) -> List[List[str]]:
    """What stays the same where every number is a time of some machine: the rows' names, the
    columns' titles, and cells without a digit."""
    return [row if at == 0 else
            [row[0], *("-" if re.search("[0-9]", cell) else cell for cell in row[1:])]
            for rows in _tables(table, titles)
            for at, row in enumerate(_without_columns(rows, titles))]


def _without_columns(rows: List[List[str]], titles: Set[str]) -> List[List[str]]:
    if BRACKETS in titles:
        rows = [[re.sub(r" \([0-9.]+x\*?\)$", "", cell) for cell in row] for row in rows]
    times: Set[int] = set()
    for column, head in enumerate(rows[0]):
        of_time = re.sub("^(fewer|more) ", "", head) in titles
        follows = head == "difference" and column - 1 in times
        if of_time or follows:
            times.add(column)
    body = [[("-" if column in times else _verdicts(cell, titles))
             for column, cell in enumerate(row)]
            for row in rows if not all(re.fullmatch(":?-+:?", cell) for cell in row)]
    kept = [column for column in range(len(body[0]))
            if any(row[column] for row in body[1:] if column < len(row))]
    return [[row[column] for column in kept if column < len(row)] for row in body]


def _tables(lines: List[str], titles: Set[str]) -> List[List[List[str]]]:
    """The cells of each table's rows. Above a table whose columns are the values of a key (k=1,
    k=2) stands its metric: where that is a time, what was measured is a dash."""
    tables: List[List[List[str]]] = []
    timed = False
    for before, line in zip(["", *lines], lines):
        if line.startswith("|"):
            row = cells_of(line)
            if not before.startswith("|"):
                tables.append([row])
                continue
            head = tables[-1][0]
            tables[-1].append(["-" if timed and "=" in of_column else cell
                               for of_column, cell in zip(head, row)])
        elif line.strip():
            timed = line.split(":")[0] in titles
    return tables


def _verdicts(cell: str, titles: Set[str]) -> str:
    kept = [part for part in cell.split("; ") if part.split(":")[0] not in titles]
    return "; ".join(kept)
