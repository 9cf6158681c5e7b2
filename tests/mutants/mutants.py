#!/usr/bin/env python3
"""Breaks one line of the program at a time and looks which test suite notices.

  mutants.py --tree COPY --build BUILD [--only NAME,...] [--sample N] [--table FILE]
  mutants.py --make COPY          a copy of this checkout, built without torch, for --tree and --build
  mutants.py --check              whether each mutant of the list names one line of the checkout

A mutant is a block of list.txt:

  [name] FILE : SUITE [CASES]     CASES: a doctest filter on the test's source file
  why it matters
  - the text as it stands, within one line, which occurs once in the file
  + the text that replaces it
  = why it may survive            (of the few that no test can see)

The tree is changed in place and put back, so it must be a copy. Exit status: 0 when every mutant was
caught, 1 when one survived, 2 when the list or the build is wrong.
"""
import argparse
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
MOST_SECONDS = 900  # of a suite: a mutant that never ends is caught

# What builds a suite, and what runs it; {build}, {tree} and {cases} are filled in.
SUITES = {
    "core": (["test_core"], "{build}/bin/test_core -tse=fuzz,sigkill {cases}"),
    "plugins": (["test_plugins"], "{build}/bin/test_plugins {cases}"),
    "experiments": (["test_experiments"], "{build}/bin/test_experiments -tse=page {cases}"),
    "conformance": (["test_conformance"], "{build}/bin/test_conformance {cases}"),
    "certify": (["draftlab"], "ls {tree}/configs/certify/*.ini | grep -v cspd | xargs {build}/bin/draftlab certify"),
    "command_line": (["draftlab", "test_core"], "sh {tree}/tests/command_line.sh {build}/bin/draftlab {build}/bin {tree}/configs"),
    "sweep": (["draftlab", "compare_traces", "test_crashes"],
              "sh {tree}/tests/sweep.sh {build}/bin/draftlab {build}/bin/compare_traces {build}/bin/libtest_crashes.so"),
    "kill": (["test_kill"], "{build}/bin/test_kill"),
}


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


def make_copy(copy):
    copy.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, check=True, capture_output=True).stdout
    for name in filter(None, files.decode().split("\0")):
        source, target = CHECKOUT / name, copy / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue  # keeps its time, so that nothing is built anew
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    build = copy / "build"
    subprocess.run(["cmake", "-S", copy, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DDRAFTLAB_WITH_TORCH=OFF"], check=True, stdout=subprocess.DEVNULL)
    targets = sorted({target for needed, _ in SUITES.values() for target in needed})
    subprocess.run(["ninja", "-C", build, *targets], check=True, stdout=subprocess.DEVNULL)
    print(f"--tree {copy} --build {build}")


def built(build, targets):
    done = subprocess.run(["ninja", "-C", build, *targets], capture_output=True, text=True)
    return done.returncode == 0, done.stdout[-2000:]


def passes(command):
    try:
        return subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=MOST_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def run(mutant, tree, build):
    """caught, survived, or why neither can be said."""
    targets, command = SUITES[mutant.suite]
    cases = f"-sf='*{mutant.cases}*'" if mutant.cases else ""
    command = command.format(build=build, tree=tree, cases=cases)
    file = tree / mutant.file
    before = file.read_text()
    try:
        file.write_text(before.replace(mutant.text, mutant.replacement))
        good, said = built(build, targets)
        if not good:
            return "does not build: " + said
        return "survived" if passes(command) else "caught"
    finally:
        file.write_text(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--make", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the sample; 0: of the day")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.make:
        make_copy(arguments.make.resolve())
        arguments.tree = arguments.make.resolve()
        arguments.build = arguments.tree / "build"
    tree = (arguments.tree or CHECKOUT).resolve()
    mutants = read_list()
    found = list(faults(mutants, tree))
    if found:
        wrong("\n".join(found))
    if arguments.check:
        print(f"{len(mutants)} mutants, each of one line")
        return 0
    if not arguments.tree or not arguments.build:
        wrong("--tree and --build name the copy that is broken, or --make makes one")
    if arguments.only:
        mutants = [m for m in mutants if m.name in arguments.only.split(",")]
    if arguments.sample:
        chance = random.Random(arguments.seed or int(time.time()) // 86400)
        mutants = chance.sample(mutants, min(arguments.sample, len(mutants)))

    # A suite that fails on the program as it stands would catch everything.
    for suite in sorted({m.suite for m in mutants}):
        targets, _ = SUITES[suite]
        good, said = built(arguments.build, targets)
        if not good:
            wrong(f"{suite} does not build: {said}")
    for suite, cases in sorted({(m.suite, m.cases) for m in mutants}):
        pattern = f"-sf='*{cases}*'" if cases else ""
        if not passes(SUITES[suite][1].format(build=arguments.build, tree=tree, cases=pattern)):
            wrong(f"suite {suite} {cases} fails before anything is broken")

    rows, survivors, broken = [], 0, 0
    for mutant in mutants:
        began = time.time()
        result = run(mutant, tree, arguments.build)
        broken += result.startswith("does not build")
        if result == "survived" and not mutant.survives:
            survivors += 1
        suite = f"{mutant.suite} {mutant.cases}".strip()
        note = mutant.survives if result == "survived" and mutant.survives else mutant.why
        rows.append(f"| {mutant.name} | `{mutant.file}` | {suite} | {result.splitlines()[0]} | {note} |")
        print(f"{result.splitlines()[0]:10} {mutant.name} ({time.time() - began:.0f} s)", flush=True)
    table = "\n".join(["| mutant | file | suite | result | why it matters |", "|---|---|---|---|---|", *rows])
    if arguments.table:
        arguments.table.write_text(table + "\n")
    print(f"{len(mutants)} mutants, {survivors} survived unexplained, {broken} did not build")
    return 2 if broken else 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
