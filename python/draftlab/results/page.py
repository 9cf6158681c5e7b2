"""A page of results: commands, and below them what they print.

    ```
    ./draftlab run configs/bpd/models.ini --threads 1 --out out/models.h5
    ./draftlab report out/models.h5 --metric bleu,tokens_per_step,nfe
    ```

    <!-- printed in 20 s -->

    | ... |

    <!-- end of what was printed -->

The block is that right above the first marker, and what stands between the markers are the tables
that its last command printed. A command may begin with variables, as in a shell:
`DRAFTLAB_INSTRUCTIONS=avx2 ./draftlab run ...`. `python3 FILE.py ...` is a command, too.

A marker may also say which vector instructions computed the tables, and by which others they came
out the same: `<!-- printed in 20 s by avx512; again by avx2 -->`. Where all numbers are those of a
machine, as a benchmark's, it says of which:
`<!-- timed in 20 s on AMD EPYC (family 25, model 17, avx512), 2 cores -->`.
"""

import re
import shlex
from typing import Dict, List, NamedTuple, Optional, Tuple

SECONDS = r"(?: in (?P<seconds>[0-9.]+) s)?"
BEGIN = re.compile(rf"<!-- printed{SECONDS}(?: by (?P<by>[a-z0-9]+))?"
                   r"(?:; again by (?P<again>[a-z0-9]+(?:, [a-z0-9]+)*))? -->")
TIMED = re.compile(rf"<!-- timed{SECONDS}(?: on (?P<machine>[^<>]+))? -->")
END = "<!-- end of what was printed -->"


VARIABLE = re.compile(r"[A-Z_]+=.*")


class PageError(Exception):
    """A page that is not as pages must be: one sentence with file and line."""


class Command(NamedTuple):
    """What follows the program's name, the variables that stand before it, and whether the program
    is Python instead of draftlab."""

    words: List[str]
    environment: Dict[str, str]
    python: bool = False

    def __str__(self) -> str:
        return shlex.join(["python3" if self.python else "draftlab", *self.words])


def command_of(line: str) -> Optional[Command]:
    """The command of a line, if it is one of draftlab or a file of Python."""
    words = shlex.split(line)
    first = next((at for at, word in enumerate(words) if not VARIABLE.fullmatch(word)), 0)
    python = words[first:first + 1] == ["python3"]
    if not words or not (python or words[first].endswith("draftlab")):
        return None
    pairs = [word.partition("=") for word in words[:first]]
    return Command(words[first + 1:], {name: value for name, _, value in pairs}, python)


class Printed:
    """A block of commands, the lines [begin, end) of the page that its output fills, and what its
    first marker says: the seconds of the commands, whether the numbers are those of a machine,
    that machine or the vector instructions by which the table was printed ("" where nobody wrote
    them down), and the instructions by which it came out the same."""

    def __init__(self, commands: List[Command], begin: int, marker: "re.Match[str]") -> None:
        self.commands, self.begin, self.end = commands, begin, -1
        says = marker.groupdict()
        self.timed = "machine" in says
        self.seconds = float(says["seconds"] or 0)
        self.by = says["machine" if self.timed else "by"] or ""
        again = says.get("again")
        self.again: List[str] = again.split(", ") if again else []

    @property
    def text(self) -> str:
        return "\n".join(shlex.join(command.words) for command in self.commands)

    @property
    def marker(self) -> str:
        if self.timed:
            return f"<!-- timed in {self.seconds:.0f} s on {self.by} -->"
        by = f" by {self.by}" if self.by else ""
        again = f"; again by {', '.join(self.again)}" if self.again else ""
        return f"<!-- printed in {self.seconds:.0f} s{by}{again} -->"


class Page:
    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.printed: List[Printed] = []
        commands: List[Command] = []
        begin, at = -1, 0
        while at < len(self.lines):
            line = self.lines[at]
            if line.startswith("```"):
                commands, at = self._block(at)
            elif begin >= 0 and line == END:
                self.printed[-1].end, begin = at, -1
            elif found := BEGIN.fullmatch(line) or TIMED.fullmatch(line):
                if begin >= 0 or not commands:
                    self.fail(at, "stands below no block of commands" if begin < 0
                              else "stands before the one above it has its end")
                begin = at
                self.printed.append(Printed(commands, at, found))
                commands = []
            elif line and begin < 0:
                commands = []  # Prose between a block and a marker parts them.
            at += 1
        if begin >= 0:
            self.fail(begin, f"has no end; its end is the line {END}")

    def fail(self, line: int, why: str) -> None:
        raise PageError(f"{self.path}:{line + 1}: the marker '{self.lines[line]}' {why}")

    def _block(self, first: int) -> Tuple[List[Command], int]:
        """The commands of the fenced block that begins here, and the line of its end."""
        end = first + 1
        while end < len(self.lines) and not self.lines[end].startswith("```"):
            end += 1
        text = "\n".join(self.lines[first + 1:end]).replace("\\\n", " ")
        found = [command_of(line) for line in text.split("\n")]
        return [command for command in found if command], end

    def shown(self, printed: Printed) -> List[str]:
        """What the page shows now, without the empty lines around it."""
        return "\n".join(self.lines[printed.begin + 1:printed.end]).strip("\n").split("\n")

    def show(self, printed: Printed, table: List[str], seconds: float, by: str) -> None:
        """Writes what was printed into the lines, so that later blocks keep their places."""
        printed.seconds, printed.by, printed.again = seconds, by, []
        new = [printed.marker, "", *table, ""]
        more = len(new) - (printed.end - printed.begin)
        self.lines[printed.begin:printed.end] = new
        for other in self.printed:
            if other.begin > printed.begin:
                other.begin, other.end = other.begin + more, other.end + more
        printed.end += more

    def sign(self, printed: Printed, by: str) -> None:
        """Writes down that the table came out the same by these vector instructions, too."""
        if by not in (printed.by, *printed.again):
            printed.again.append(by)
            self.lines[printed.begin] = printed.marker

    def write(self) -> None:
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines))
