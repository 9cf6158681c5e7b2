#!/usr/bin/env python3
"""Breaks one line of the program at a time and looks which test suite notices.

  mutants.py [--only NAME,...] [--sample N] [--resume] [--jobs N] [--table FILE]
  mutants.py --check              whether each mutant of the list names one line of the checkout
  mutants.py --show --table FILE  writes the table of what is known so far, and breaks nothing

A mutant is a block of list.txt:

  [name] FILE : SUITE [CASES]     CASES: part of the path of the tests' source files, or of the
                                  certificates' names
  why it matters
  - the text as it stands, within one line, which occurs once in the file
  + the text that replaces it
  = why it may survive            (of the few that no test can see)

Nothing is broken in the checkout: the script works in a copy, with a build folder that begins as a
copy of build/release. The copy is mounted over the checkout where this process alone sees it, so
every path in the build folder holds and only what depends on the broken line is built. What is
found is appended to results.jsonl in the copy: --resume leaves out what is there, and the table
shows the last result of every mutant. Exit status: 0 when every mutant was caught, 1 when one
survived, 2 when the list or the build is wrong.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
BUILD = "build/release"
KEPT = ("build/", "results.jsonl")  # These stay in a copy.
MOST_SECONDS = 900  # A suite may take so long: a mutant that never ends is caught.

# What builds a suite, and what runs it; {build}, {tree} and {cases} are filled in. Those that take
# longest come last.
SUITES = {
    "core": (["test_core"], "{build}/bin/test_core -tse=fuzz,sigkill -sf='*{cases}*'"),
    "plugins": (["test_plugins"], "{build}/bin/test_plugins -sf='*{cases}*'"),
    "torch": (["test_torch"], "{build}/bin/test_torch -sf='*{cases}*'"),
    "experiments": (["test_experiments"], "{build}/bin/test_experiments -tse=page -sf='*{cases}*'"),
    "conformance": (["test_conformance"], "{build}/bin/test_conformance -sf='*{cases}*'"),
    "certify": (
        ["draftlab"],
        "{build}/bin/draftlab certify {tree}/configs/certify/*/*{cases}*.ini",
    ),
    "python": (
        ["draftlab", "compare_traces"],
        "DRAFTLAB_BINARIES={build}/bin sh {tree}/tests/python/pytest.sh '{cases}' 'not long'",
    ),
    "command_line": (
        ["draftlab", "test_core"],
        "sh {tree}/tests/command_line.sh {build}/bin/draftlab {build}/bin {tree}/configs",
    ),
    "sweep": (
        ["draftlab", "compare_traces", "test_crashes"],
        "sh {tree}/tests/sweep.sh {build}/bin/draftlab {build}/bin/compare_traces "
        "{build}/bin/libtest_crashes.so",
    ),
    "kill": (["test_kill"], "{build}/bin/test_kill"),
    "power_cut": (
        ["draftlab", "compare_traces", "power_cut"],
        "{tree}/tests/kill/power_cut.py {build}/bin/draftlab {build}/bin/compare_traces "
        "{build}/bin/libpower_cut.so 10",
    ),
    "slow_network": (
        ["draftlab", "compare_traces", "slow_network"],
        "{tree}/tests/kill/slow_network.py {build}/bin/draftlab {build}/bin/compare_traces "
        "{build}/bin/libslow_network.so 16 1",
    ),
}

# What is broken leaves functions and parameters unused, which is an error where warnings are.
NO_WARNINGS = "".join(
    f'#pragma GCC diagnostic ignored "-Wunused-{what}"\n'
    for what in ("function", "variable", "parameter", "but-set-variable", "const-variable", "value")
)


@dataclass
class Mutant:
    name: str
    file: str
    suite: str
    cases: str = ""
    why: str = ""
    text: str = ""
    replacement: str = ""
    survives: str = ""

    def key(self):
        """Names what is broken and by what it should be noticed: a result is of this."""
        parts = (self.file, self.text, self.replacement, self.suite, self.cases)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def looked_at_by(self):
        return f"{self.suite} {self.cases}".strip()


def wrong(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(2)


def read_list():
    mutants = []
    for number, line in enumerate((HERE / "list.txt").read_text().splitlines(), 1):
        head = re.fullmatch(r"\[([\w-]+)\] (\S+) : (\w+)(?: (\S+))?", line)
        if head:
            mutants.append(Mutant(head[1], head[2], head[3], head[4] or ""))
        elif not line.strip() or line.startswith("#"):
            continue
        elif line.startswith("- "):
            mutants[-1].text = line[2:]
        elif line.startswith("+ ") or line == "+":
            mutants[-1].replacement = line[2:]
        elif line.startswith("= "):
            mutants[-1].survives = line[2:]
        elif mutants:
            mutants[-1].why = (mutants[-1].why + " " + line).strip()
        else:
            wrong(f"list.txt:{number}: '{line}' belongs to no mutant")
    return mutants


def faults(mutants, tree):
    names = set()
    for mutant in mutants:
        if mutant.name in names:
            yield f"two mutants are named {mutant.name}"
        names.add(mutant.name)
        if mutant.suite not in SUITES:
            yield f"{mutant.name}: there is no suite '{mutant.suite}'"
        if not mutant.why or not mutant.text or mutant.text == mutant.replacement:
            yield f"{mutant.name}: a mutant has a reason, a text and another text"
        file = tree / mutant.file
        times = file.read_text().count(mutant.text) if file.is_file() else 0
        if times != 1:
            yield f"{mutant.name}: '{mutant.text}' occurs {times} times in {mutant.file}"


def copy_checkout(copy):
    """Files keep their times, so ninja finds no more to do in the copy than in ours."""
    copy.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, check=True, capture_output=True
    ).stdout
    names = {name for name in listed.decode().split("\0") if (CHECKOUT / name).is_file()}
    for name in names:
        source, target = CHECKOUT / name, copy / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # What a run that was killed left broken is newer than what was built of it, once whole.
        copied = shutil.copy if target.exists() else shutil.copy2
        copied(source, target, follow_symlinks=False)
    for file in copy.rglob("*"):  # What the checkout no longer has is removed.
        name = str(file.relative_to(copy))
        if file.is_file() and name not in names and not name.startswith(KEPT):
            file.unlink()
    if not (copy / BUILD).exists():
        if not (CHECKOUT / BUILD / "build.ninja").exists():
            wrong(f"there is no {BUILD}; build it first")
        (copy / BUILD).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", CHECKOUT / BUILD, copy / BUILD], check=True)


def go_where_the_copy_is_the_checkout(copy):
    """Runs this script again in a mount namespace of its own, and ends with its status."""
    # A broken program may replace a device. Root's could, and every other process would see it.
    devices = "mount --rbind /dev /dev && mount -o remount,bind,ro /dev && "
    script = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
    if os.geteuid() == 0:
        script = devices + script
    script_again = str(pathlib.Path(sys.argv[0]).resolve())
    again = [sys.executable, script_again, *sys.argv[1:], "--inside"]
    room = ["unshare", "--mount"]
    if os.geteuid() != 0:
        room += ["--user", "--map-root-user"]
        again = ["unshare", "--user", f"--map-user={os.getuid()}", *again]
    return subprocess.run([*room, "sh", "-c", script, str(copy), str(CHECKOUT), *again]).returncode


def built(targets, jobs, seconds=float("inf")):
    command = ["ninja", "-C", CHECKOUT / BUILD, "-j", str(jobs), *targets]
    if seconds < float("inf"):
        command = ["timeout", "-k", "5", str(seconds), *command]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def noticed_by(suite, cases="", seconds=MOST_SECONDS, **variables):
    """None where the suite passes, and else the first test that does not."""
    command = SUITES[suite][1].format(build=CHECKOUT / BUILD, tree=CHECKOUT, cases=cases)
    try:
        done = subprocess.run(
            command,
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            env={**os.environ, **variables},
        )
    except subprocess.TimeoutExpired:
        return "it never ended"
    if done.returncode == 0:
        return None
    said = done.stdout.decode(errors="replace").strip()
    test = re.search(r"^TEST CASE:\s+(.*)$", said, re.MULTILINE)
    return (test[1] if test else (said.splitlines() or ["no word"])[-1])[:120]


class Broken:
    """While this stands, the line of a mutant is broken."""

    def __init__(self, mutant):
        self.file = CHECKOUT / mutant.file
        self.before = self.file.read_text()
        self.text = NO_WARNINGS + self.before.replace(mutant.text, mutant.replacement)

    def __enter__(self):
        self.file.write_text(self.text)

    def __exit__(self, *_):
        self.file.write_text(self.before)


def run(mutant, jobs):
    """The result of one mutant, and what noticed it."""
    with Broken(mutant):
        good, said = built(SUITES[mutant.suite][0], jobs)
        if not good:
            return "does not build", said[-2000:]
        test = noticed_by(mutant.suite, mutant.cases)
    return ("caught", test) if test else ("survived", "")


def known(results):
    """The last result of every mutant, by its key."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {one["key"]: one for one in map(json.loads, lines)}


def break_them(mutants, results, jobs):
    whole, survivors, broken = set(), 0, 0
    order = list(SUITES)
    for mutant in sorted(mutants, key=lambda m: (order.index(m.suite), m.cases, m.file)):
        # A suite that fails on the program as it stands would catch everything.
        if mutant.looked_at_by() not in whole:
            good, said = built(SUITES[mutant.suite][0], jobs)
            if not good:
                wrong(f"{mutant.suite} does not build: {said[-2000:]}")
            test = noticed_by(mutant.suite, mutant.cases)
            if test:
                wrong(f"{mutant.looked_at_by()} fails before anything is broken: {test}")
            whole.add(mutant.looked_at_by())
        began = time.time()
        result, by = run(mutant, jobs)
        seconds = round(time.time() - began)
        one = {"key": mutant.key(), "name": mutant.name, "result": result, "by": by}
        with results.open("a") as file:
            file.write(json.dumps({**one, "seconds": seconds}) + "\n")
        print(f"{result:10} {mutant.name} ({seconds} s) {by.strip()[-120:]}", flush=True)
        survivors += result == "survived" and not mutant.survives
        broken += result == "does not build"
    print(f"{len(mutants)} mutants, {survivors} survived unexplained, {broken} did not build")
    return 2 if broken else 1 if survivors else 0


def table(mutants, found):
    rows = ["| mutant | file | result | s | noticed by |", "|---|---|---|---:|---|"]
    left = [mutant.name for mutant in mutants if mutant.key() not in found]
    for mutant in mutants:
        if mutant.name in left:
            continue
        one = found[mutant.key()]
        by = one["by"] if one["result"] == "caught" else mutant.survives
        by = by.replace("|", "\\|").replace("<", "&lt;")
        rows.append(
            f"| {mutant.name} | `{mutant.file}` | {one['result']} | {one['seconds']} | {by} |"
        )
    rows += ["", f"Not run: {len(left)} of {len(mutants)}."] if left else []
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--sample", type=int, default=0, help="so many, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; 0: of the day")
    parser.add_argument("--resume", action="store_true", help="leave out what has a result")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--copy", type=pathlib.Path, help="default: build/mutants")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    mutants = read_list()
    found = list(faults(mutants, CHECKOUT))
    if found:
        wrong("\n".join(found))
    if arguments.check:
        print(f"{len(mutants)} mutants, each of one line")
        return 0

    copy = (arguments.copy or CHECKOUT / "build/mutants").resolve()
    chosen = mutants
    if arguments.only:
        chosen = [m for m in mutants if m.name in arguments.only.split(",")]
    if arguments.sample:
        # Drawn among those that take seconds: no header, and a suite that is told which cases.
        quick = [m for m in mutants if m.cases and m.file.endswith(".cc") and not m.survives]
        chance = random.Random(arguments.seed or int(time.time()) // 86400)
        chosen = chance.sample(quick, min(arguments.sample, len(quick)))
    if arguments.inside:
        before = known(CHECKOUT / "results.jsonl") if arguments.resume else {}
        done = {key for key, one in before.items() if one["result"] != "does not build"}
        return break_them(
            [m for m in chosen if m.key() not in done],
            CHECKOUT / "results.jsonl",
            arguments.jobs,
        )
    status = 0
    if not arguments.show:
        copy_checkout(copy)
        status = go_where_the_copy_is_the_checkout(copy)
    if arguments.table:
        arguments.table.write_text(table(mutants, known(copy / "results.jsonl")))
    return status


if __name__ == "__main__":
    sys.exit(main())
