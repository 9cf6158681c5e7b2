"""Columns of a table that hold a paper's numbers: whoever writes the page types them, beside those
that are printed. The title of such a column begins with "the paper". Its cells belong to the row
whose first cell is theirs, and stay there when the table is printed anew.
"""

from typing import Dict, List

from draftlab.results.times import cells_of

TITLE = "the paper"


def _line(cells: List[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _typed(head: str) -> List[int]:
    return [at for at, cell in enumerate(cells_of(head)) if cell.startswith(TITLE)]


def without_paper(table: List[str]) -> List[str]:
    """The tables as they were printed: typed columns are left out."""
    out: List[str] = []
    typed: List[int] = []
    for before, line in zip([""] + table, table):
        if not line.startswith("|"):
            out.append(line)
            continue
        if not before.startswith("|"):
            typed = _typed(line)
        kept = [cell for at, cell in enumerate(cells_of(line)) if at not in typed]
        rule = all(set(cell) <= set(":-") and cell for cell in kept)
        out.append("|" + "|".join(kept) + "|" if rule else _line(kept))
    return out


def _parts(table: List[str]) -> List[List[str]]:
    """The tables among these lines, each a list of its lines."""
    parts: List[List[str]] = []
    for before, line in zip([""] + table, table):
        if line.startswith("|"):
            if not before.startswith("|"):
                parts.append([])
            parts[-1].append(line)
    return parts


def _with_columns(table: List[str], shown: List[str]) -> List[str]:
    typed = _typed(shown[0])
    if not typed:
        return table
    rows: Dict[str, List[str]] = {}
    for line in shown:
        cells = cells_of(line)
        rows[cells[0]] = [cells[at] if at < len(cells) else "" for at in typed]
    out = [_line(cells_of(table[0]) + [cells_of(shown[0])[at] for at in typed]),
           table[1] + "---|" * len(typed)]
    return out + [_line(cells_of(line) + rows.get(cells_of(line)[0], [""] * len(typed)))
                  for line in table[2:]]


def with_paper(table: List[str], shown: List[str]) -> List[str]:
    """What was printed, with the typed columns of the tables that the page shows."""
    out: List[str] = []
    old = _parts(shown)
    parts = iter(_with_columns(part, old[at]) if at < len(old) else part
                 for at, part in enumerate(_parts(table)))
    for before, line in zip([""] + table, table):
        if not line.startswith("|"):
            out.append(line)
        elif not before.startswith("|"):
            out += next(parts)
    return out
