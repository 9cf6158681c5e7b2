"""The columns of a trace, as `draftlab check-trace --schema` prints them."""

import re
from dataclasses import dataclass
from typing import Dict, List

from draftlab import commands
from draftlab.audit.faults import DataError
from draftlab.trace import TABLES

_ROW = re.compile(r"\| `([a-z0-9_]+)` \| (\w+) \| (.*?) \| (.*?) \| (.*) \|")
_FLAG = re.compile(r"(-?\d+) ([\w-]+)")
_PARENT = re.compile(r"row of the (\w+) table")
_CHILD = re.compile(r"`sample_dimension` is `(\w+)`")
_SINCE = re.compile(r"; since 1\.(\d+)")


@dataclass(frozen=True)
class Column:
    """A row of the printed tables."""

    name: str
    type: str
    unit: str
    range: str
    meaning: str

    def flags(self) -> Dict[int, str]:
        """The values of an enumeration, and what each means."""
        if self.type != "int8":
            return {}
        return {int(value): word for value, word in _FLAG.findall(self.range)}

    def attributes(self) -> Dict[str, str]:
        """What the file says of the column, its flags apart."""
        said = {"long_name": self.meaning}
        if self.unit:
            said["units"] = self.unit
        for key, pattern in (("instance_dimension", _PARENT), ("sample_dimension", _CHILD)):
            found = pattern.search(self.meaning)
            if found:
                said[key] = found.group(1)
        return said

    def line(self) -> str:
        return "\t".join((self.name, self.type, self.unit, self.range, self.meaning))


@dataclass(frozen=True)
class Schema:
    """The columns of each table, and the version that they make."""

    tables: Dict[str, List[Column]]
    version: str

    def text(self) -> str:
        """The attribute `schema`: a line a column."""
        return "".join(column.line() + "\n" for columns in self.tables.values()
                       for column in columns)


def parse(printed: str) -> Schema:
    """Reads what `draftlab check-trace --schema` prints."""
    tables: Dict[str, List[Column]] = {}
    heading = ""
    for line in printed.splitlines():
        if line.startswith("### "):
            heading = line[4:].strip("`")
        row = _ROW.fullmatch(line)
        if row and heading in TABLES:
            tables.setdefault(heading, []).append(Column(*row.groups()))
    missing = [table for table in TABLES if table not in tables]
    if missing:
        raise DataError("draftlab check-trace --schema: it prints no table "
                        f"'{missing[0]}', which a trace has")
    # Every minor version so far brought a column or an attribute, which names it.
    return Schema(tables, f"1.{max(map(int, _SINCE.findall(printed)), default=0)}")


def read_schema() -> Schema:
    """The schema of the program that is installed."""
    return parse(commands.call(["check-trace", "--schema"], show=False))
