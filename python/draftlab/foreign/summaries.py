"""Sums over steps, as servers log and profile them: rows of a table, of which no step can be told.

Each row is what one line of the source says. Lengths count the replacement or bonus token. What a
row does not say is None here and NaN in the table.
"""

import csv
from dataclasses import dataclass, fields
from typing import Any, List, Optional, Sequence, TextIO


@dataclass
class Summary:
    """One line of a source: a request, a stretch of time, or a category of prompts."""

    line: int
    request: Optional[str] = None
    task: Optional[str] = None
    method: Optional[str] = None
    running_requests: Optional[int] = None
    draft_length: Optional[int] = None
    steps: Optional[int] = None
    drafted_tokens: Optional[int] = None
    accepted_tokens: Optional[int] = None
    generated_tokens: Optional[int] = None
    mean_length: Optional[float] = None
    acceptance_rate: Optional[float] = None
    accepted_by_depth: Optional[Sequence[float]] = None
    tokens_per_second: Optional[float] = None


COLUMNS = tuple(field.name for field in fields(Summary))


def not_said(rows: List[Summary]) -> List[str]:
    """The columns that at least one row says nothing of."""
    return [name for name in COLUMNS if any(getattr(row, name) is None for row in rows)]


def _text(value: Any) -> str:
    if value is None:
        return "NaN"
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def write_table(rows: List[Summary], file: TextIO) -> None:
    """Writes the rows as a CSV, with a head; numbers of one field are separated by blanks."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_text(getattr(row, name)) for name in COLUMNS] for row in rows)
