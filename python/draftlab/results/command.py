"""`draftlab results [PAGE...]`: runs the commands of pages and writes what they print, or compares.

Commands run in a folder of their own that has links to what lies in the tree, so that nothing of an
earlier run is read. Canonical tables are computed by one thread with one set of vector instructions
(`--instructions avx2`), whatever more the processor has, so that every processor computes the same
bits; with others, a draw that falls between two roundings may become another token. A marker says
which instructions computed a table, and `--check --sign` adds those by which it came out the same.
A table that was timed says what a machine can do: its commands compute with all that the machine
has, and of such a table words are compared and numbers are not.
A page may name public weights and data, which are no part of the tree: `--files FOLDER,FOLDER` says
where they lie, and a block whose files are not there is skipped.
"""

import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, NamedTuple, Set, Tuple

from draftlab.results.page import Command, Page, PageError, Printed
from draftlab.results.paper import with_paper, without_paper
from draftlab.results.times import time_titles, without_numbers, without_times

ROOT = pathlib.Path(__file__).resolve().parents[3]
SKIPPED = {"build", "out", ".git", "draftlab"}
DATA = {".bin", ".csv", ".h5", ".jsonl", ".npy", ".so", ".txt"}


class Instructions(NamedTuple):
    """A set of vector instructions: how libtorch and OpenBLAS call it, and the flag of a processor
    that has it (tests/isa.sh)."""

    libtorch: str
    openblas: str
    flag: str


INSTRUCTIONS = {"none": Instructions("default", "Nehalem", "sse4_2"),
                "avx2": Instructions("avx2", "Haswell", "avx2"),
                "avx512": Instructions("avx512", "SkylakeX", "avx512dq")}


def environment_of(name: str) -> Dict[str, str]:
    """The variables by which our own kernels, libtorch and OpenBLAS choose what they compute
    with."""
    chosen = INSTRUCTIONS[name]
    return {"DRAFTLAB_INSTRUCTIONS": name, "ATEN_CPU_CAPABILITY": chosen.libtorch,
            "OPENBLAS_CORETYPE": chosen.openblas}


def of_processor(fact: str) -> str:
    """What /proc/cpuinfo says of the first processor, and "" where it says nothing."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        found = re.search(rf"^{fact}\s*: (.*)", file.read(), re.MULTILINE)
    return found[1] if found else ""


def processor_has(name: str) -> bool:
    return INSTRUCTIONS[name].flag in of_processor("flags").split()


def this_machine() -> str:
    """Whose times a table shows: the processor, its widest vectors, and the cores at hand."""
    widest = [name for name in INSTRUCTIONS if processor_has(name)][-1:]
    facts = [f"family {of_processor('cpu family')}", f"model {of_processor('model')}", *widest]
    return (f"{of_processor('model name') or 'a processor without a name'} ({', '.join(facts)}), "
            f"{len(os.sched_getaffinity(0))} cores")


class Workplace:
    """A folder in which the commands of one block run."""

    def __init__(self, folder: str, files: List[pathlib.Path], instructions: str) -> None:
        """Without instructions, commands choose theirs by the machine."""
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, **(environment_of(instructions) if instructions else {})}
        self.program = os.environ["DRAFTLAB_PROGRAM"]
        for entry in [*ROOT.iterdir(), *files]:
            if entry.name not in SKIPPED and not (self.folder / entry.name).is_symlink():
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / "out").mkdir()

    def expanded(self, words: List[str]) -> List[str]:
        """Patterns become the files that match, sorted, as in a shell."""
        return [path for word in words
                for path in sorted(glob.glob(word, root_dir=os.fspath(self.folder))) or [word]]

    def run(self, command: Command) -> str:
        program = sys.executable if command.python else self.program
        done = subprocess.run([program, *self.expanded(command.words)], cwd=self.folder,
                              env={**self.environment, **command.environment}, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise PageError(f"{command} ended with status {done.returncode}:\n"
                            f"{done.stderr.strip()[-2000:]}")
        return done.stdout


def check_canonical(page: Page, printed: Printed) -> None:
    for words, environment, _ in printed.commands:
        if words[0] not in ("run", "sweep"):
            continue
        flags = dict(zip(words, words[1:]))
        if flags.get("--threads", flags.get("--run.threads")) != "1":
            page.fail(printed.begin, "stands below a run without --threads 1")
        dtypes = {dtype for flag, value in flags.items() if flag.startswith("--")
                  and flag.endswith("dtype") for dtype in value.split(",")}
        if dtypes - {"f32"} and environment.get("DRAFTLAB_INSTRUCTIONS") != "avx2":
            page.fail(printed.begin, "stands below a run that is not f32, without "
                                     "DRAFTLAB_INSTRUCTIONS=avx2")


def at_hand(paths: str, names: Set[str]) -> bool:
    """Whether the block makes these files, `--files` names the folder of each, or the tree has
    it."""
    return all(path.startswith("out/") or path.split("/")[0] in names or (ROOT / path).exists()
               for path in paths.split(","))


def missing_file(printed: Printed, files: List[pathlib.Path]) -> str:
    """The first checkpoint or file of data of a block that is not at hand."""
    names = {entry.name for entry in files}
    for words, _, _ in printed.commands:
        for flag, paths in zip(words, words[1:]):
            asked = flag.endswith(".checkpoint") or pathlib.Path(paths).suffix in DATA
            if asked and not paths.startswith("--") and not at_hand(paths, names):
                return paths
    return ""


def files_of(folders: str) -> List[pathlib.Path]:
    """What lies in the folders that `--files` names."""
    return [entry for folder in folders.split(",") if folder
            for entry in sorted(pathlib.Path(folder).resolve().iterdir())]


def line_of(cells: List[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def aligned_tables(text: str) -> List[List[List[str]]]:
    """The tables among paragraphs whose columns two blanks part, as a terminal shows them. A table
    that was too wide goes on in the next paragraph, behind the same first column."""
    tables: List[List[List[str]]] = []
    for paragraph in text.split("\n\n"):
        rows = [re.split(r"\s{2,}", line.strip()) for line in paragraph.strip("\n").split("\n")]
        if len(rows) < 2 or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
            continue
        if tables and [row[0] for row in tables[-1]] == [row[0] for row in rows]:
            tables[-1] = [before + row[1:] for before, row in zip(tables[-1], rows)]
        else:
            tables.append(rows)
    return tables


def tables_of(text: str) -> List[str]:
    """The lines of markdown tables, their columns no wider than they must be, each below its title:
    the paragraph of one line right before it. Where a command prints no such table, its aligned
    columns become one."""
    lines: List[str] = []
    printed = ["", "", "", *text.split("\n")]
    for before, title, above, line in zip(printed, printed[1:], printed[2:], printed[3:]):
        if line.startswith("|"):
            if title and not before and not above and not title.startswith("|"):
                lines += [title, ""]
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rule = all(set(cell) <= set(":-") and cell for cell in cells)
            lines.append("|" + "|".join("---" for _ in cells) + "|" if rule else line_of(cells))
        elif lines and lines[-1]:
            lines.append("")  # Tables stay apart.
    if not lines:
        for head, *rows in aligned_tables(text):
            lines += [line_of(head), "|" + "---|" * len(head), *map(line_of, rows), ""]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def decode(printed: Printed, files: List[pathlib.Path],
           instructions: str) -> Tuple[List[str], Set[str], float]:
    """What the last command prints, the titles of times in it, and the seconds of all commands."""
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(folder, files, instructions)
        began, text = time.monotonic(), ""
        for command in printed.commands:
            text = place.run(command)
        seconds = time.monotonic() - began
        last, environment, _ = printed.commands[-1]
        titles: Set[str] = set()
        of_arms = last[0] == "report" and not last[1].endswith("curves.h5")
        if of_arms and not {"--format", "--cost", "--tree"} & set(last):
            report = place.run(Command([*last, "--format", "json"], environment))
            speedup = dict(zip(last, last[1:])).get("--speedup", "")
            titles = time_titles(json.loads(report), speedup)
    table = tables_of(text)
    if not table:
        raise PageError(f"{printed.commands[-1]} printed no table")
    return table, titles, seconds


def titles_of(tables: List[str]) -> List[str]:
    return [line for line in tables if line and not line.startswith("|")]


def differences(shown: List[str], table: List[str], titles: Set[str],
                timed: bool = False) -> List[str]:
    compared = without_numbers if timed else without_times
    before = compared(without_paper(shown), titles)
    now = compared(table, titles)
    before += [[title] for title in titles_of(shown)]
    now += [[title] for title in titles_of(table)]
    found = [f"  the page has  {' | '.join(a)}\n  printed was   {' | '.join(b)}"
             for a, b in zip(before, now) if a != b]
    if len(before) != len(now):
        found.append(f"  the page has {len(before)} rows, and {len(now)} were printed")
    return found


def one_page(path: str, flags: argparse.Namespace) -> Tuple[int, int, int]:
    """How many tables of a page were printed, how many differed, and how many were skipped."""
    page, ran, wrong, skipped = Page(path), 0, 0, 0
    files = files_of(flags.files)
    for printed in page.printed:
        if not printed.timed:
            check_canonical(page, printed)
        if flags.only not in printed.text or 0 < flags.longest < printed.seconds:
            continue
        where = f"{os.path.relpath(path)}:{printed.begin + 1}"
        if lacks := missing_file(printed, files):
            print(f"{where}: skipped, there is no {lacks} (--files)", flush=True)
            skipped += 1
            continue
        table, titles, seconds = decode(printed, files,
                                        "" if printed.timed else flags.instructions)
        by = (this_machine() if printed.timed else
              printed.commands[0].environment.get("DRAFTLAB_INSTRUCTIONS", flags.instructions))
        ran += 1
        if not flags.check:
            page.show(printed, with_paper(table, page.shown(printed)), seconds, by)
            page.write()
            print(f"{where}: printed in {seconds:.0f} s", flush=True)
            continue
        differ = differences(page.shown(printed), table, titles, printed.timed)
        wrong += bool(differ)
        print(f"{where}: {'differs' if differ else 'as printed'}", *differ, sep="\n", flush=True)
        if flags.sign and not differ and not printed.timed:
            page.sign(printed, by)
            page.write()
    return ran, wrong, skipped


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", default="false")
    parser.add_argument("--sign", default="false")
    parser.add_argument("--instructions", choices=list(INSTRUCTIONS), default="avx2")
    parser.add_argument("--longest", type=float, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--files", default="")
    parser.add_argument("pages", nargs="*")
    flags = parser.parse_args()
    flags.check, flags.sign = flags.check == "true", flags.sign == "true"
    if flags.sign and not flags.check:
        print("draftlab: --sign writes down what --check found, and asks for it", file=sys.stderr)
        return 64
    if not processor_has(flags.instructions):
        print(f"draftlab: this processor has no {INSTRUCTIONS[flags.instructions].flag}, which "
              f"--instructions {flags.instructions} computes with", file=sys.stderr)
        return 69
    pages = flags.pages or sorted(map(str, (ROOT / "docs" / "results").glob("*.md")))
    ran = wrong = skipped = 0
    try:
        for path in pages:
            more = one_page(path, flags)
            ran, wrong, skipped = ran + more[0], wrong + more[1], skipped + more[2]
    except PageError as error:
        print(f"draftlab: {error}", file=sys.stderr)
        return 65
    except OSError as error:
        print(f"draftlab: '{error.filename}' cannot be read: {error.strerror}", file=sys.stderr)
        return 66
    if ran + skipped == 0:
        print("draftlab: no table of these pages is printed by a command", file=sys.stderr)
        return 65
    done = f"{ran - wrong} of {ran} tables as printed" if flags.check else f"{ran} tables printed"
    print(f"{done}, by {flags.instructions}")
    return 1 if wrong else 0
