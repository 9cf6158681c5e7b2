#!/usr/bin/env python3
"""Breaks lines that nobody chose, drawn at random from the syntax tree, and looks who notices.

  mechanical.py [--draw N] [--seed N] [--folders F] [--minutes N] [--jobs N] [--share X]
  mechanical.py --show [--draw N] [--seed N]    what is known so far; breaks nothing
  mechanical.py --list [--draw N] [--seed N]    what would be broken; breaks and copies nothing

A file of FOLDERS, or of --folders, is drawn in proportion to its size, then a site of it
(syntax.py), then what stands there instead. The N-th mutant of a seed is always the same on the
same sources. It is looked at by the test cases that reach it, the quickest first, until one fails
(suites.py); one that does not build is not counted, and another is drawn. As many as may be are
built together (switched.py), and --jobs of them are looked at side by side. As in mutants.py
nothing is broken in the checkout: the build folder is a copy of build/release, mounted where this
process alone sees it.

Every result is appended to build/mechanical.jsonl in the copy and never looked for again, so a run
that was stopped goes on where it was (--minutes stops it, in the middle of a mutant).
equivalent.txt says of which survivors a reader found that they change nothing that could be
noticed. Exit status: 0, or 1 when less than --share of those that are not equivalent were noticed
(of five or more), 2 when the sources do not build or their tests fail before anything is broken.
"""
import argparse
import itertools
import json
import pathlib
import random
import sys
import time

import mutants
import syntax
from mutants import BUILD, CHECKOUT, HERE
from suites import OutOfTime, Suites

RESULTS = "build/mechanical.jsonl"
FOLDERS = (
    "core/loop core/metrics core/trace plugins/verifiers plugins/unmaskers plugins/routers "
    "plugins/estimators plugins/acceptance analysis/report "
    "experiments/sweep"
).split()
FEWEST = 5  # A share of fewer mutants says nothing.


def files(folders):
    found = []
    for folder in folders:
        place = CHECKOUT / folder
        found += sorted(place.glob("*.cc")) if place.is_dir() else [place]
    return [str(file.relative_to(CHECKOUT)) for file in found]


class Draw:
    """The mutants of a seed, one after the other."""

    def __init__(self, seed, folders=None):
        self.chance = random.Random(seed)
        self.files = files(folders or FOLDERS)
        self.sizes = [(CHECKOUT / file).stat().st_size for file in self.files]
        self.sites = {}
        self.drawn = set()

    def __iter__(self):
        while True:
            file = self.chance.choices(self.files, self.sizes)[0]
            if file not in self.sites:
                self.sites[file] = syntax.sites(file, CHECKOUT, BUILD)
            if not self.sites[file]:
                continue
            site = self.chance.choice(self.sites[file])
            mutant = Mutant(file, site, self.chance.choice(site.replacements))
            if mutant.key() not in self.drawn:
                self.drawn.add(mutant.key())
                yield mutant


class Mutant:
    def __init__(self, file, site, replacement):
        self.file, self.site, self.replacement = file, site, replacement
        text = (CHECKOUT / file).read_bytes()
        self.broken = text[: site.begin] + replacement.encode() + text[site.end :]
        first = text.rfind(b"\n", 0, site.begin) + 1
        self.line = text.count(b"\n", 0, first) + 1
        self.before = squeezed(text[first : end_of_line(text, site.end)])
        end = site.begin + len(replacement.encode())
        self.after = squeezed(self.broken[first : end_of_line(self.broken, end)])

    def key(self):
        return f"{self.file}: {self.before} => {self.after}"


def end_of_line(text, at):
    end = text.find(b"\n", at)
    return len(text) if end < 0 else end


def squeezed(text):
    return " ".join(text.decode().split())


def equivalents():
    """Why a mutant that survives cannot be noticed, by its key."""
    reasons, key = {}, None
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line.startswith("  "):
            reasons[key] = f"{reasons[key]} {line.strip()}".strip()
        elif line and not line.startswith("#"):
            key = line
            reasons[key] = ""
    return reasons


def known():
    file = CHECKOUT / RESULTS
    lines = file.read_text().splitlines() if file.exists() else []
    return {one["key"]: one for one in map(json.loads, lines)}


def results(arguments, found):
    """Of the first mutants of a seed that build, those which were looked at."""
    failures = sum(one["result"] == "does not build" for one in found.values())
    drawn = itertools.islice(Draw(arguments.seed, arguments.folders), arguments.draw + failures)
    looked_at = [found[mutant.key()] for mutant in drawn if mutant.key() in found]
    return [one for one in looked_at if one["result"] != "does not build"][: arguments.draw]


def list_them(arguments):
    """Prints the first mutants of a seed, those included that would turn out not to build."""
    for mutant in itertools.islice(Draw(arguments.seed, arguments.folders), arguments.draw):
        print(f"line {mutant.line} of {mutant.key()}  [{mutant.site.kind}]", flush=True)
    return 0


def break_them(arguments):
    suites = Suites(arguments.jobs, arguments.minutes)
    found, draw, wanted = known(), iter(Draw(arguments.seed, arguments.folders)), arguments.draw
    try:
        while wanted:
            drawn = list(itertools.islice(draw, wanted))
            fresh = [mutant for mutant in drawn if mutant.key() not in found]
            for mutant, result, by, seconds in suites.judge(fresh):
                found[mutant.key()] = record(mutant, result, by, seconds)
            wanted = sum(found[mutant.key()]["result"] == "does not build" for mutant in drawn)
    except OutOfTime:
        print(f"out of time after {arguments.minutes:g} min")
    return summary(arguments, results(arguments, found))


def record(mutant, result, by, seconds):
    one = {"key": mutant.key(), "line": mutant.line, "kind": mutant.site.kind}
    one |= {"result": result, "by": by, "seconds": seconds}
    with (CHECKOUT / RESULTS).open("a") as file:
        file.write(json.dumps(one) + "\n")
    print(f"{result:9} {one['seconds']:4} s {one['key']}  [{by}]", flush=True)
    return one


def summary(arguments, results):
    reasons = equivalents()
    noticed = sum(one["result"] == "noticed" for one in results)
    survived = [one for one in results if one["result"] == "survived"]
    equivalent = [one for one in survived if one["key"] in reasons]
    print(
        f"seed {arguments.seed}: {len(results)} of {arguments.draw} mutants were run; {noticed} "
        f"were noticed, {len(equivalent)} of {len(survived)} survivors are equivalent"
    )
    for one in survived:
        print(f"  line {one['line']} of {one['key']}  [{reasons.get(one['key'], 'survived')}]")
    judged = len(results) - len(equivalent)
    return 1 if judged >= FEWEST and noticed < arguments.share * judged else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draw", type=int, default=400, help="so many that build")
    parser.add_argument("--folders", type=str.split, help="draw in these; default: FOLDERS")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; 0: of the day")
    parser.add_argument("--minutes", type=float, default=0, help="end after so many; 0: no limit")
    parser.add_argument("--share", type=float, default=0, help="so much must be noticed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--copy", type=pathlib.Path, help="default: build/mutants")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--list", action="store_true", help="what would be broken, and end")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.seed = arguments.seed or int(time.time()) // 86400
    if not (arguments.inside or arguments.list):
        copy = (arguments.copy or CHECKOUT / "build/mutants").resolve()
        mutants.copy_checkout(copy)
        sys.argv.append(f"--seed={arguments.seed}")
        return mutants.go_where_the_copy_is_the_checkout(copy)
    print(f"seed {arguments.seed}", flush=True)
    if arguments.list:
        return list_them(arguments)
    if arguments.show:
        return summary(arguments, results(arguments, known()))
    return break_them(arguments)


if __name__ == "__main__":
    sys.exit(main())
