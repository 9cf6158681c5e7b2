"""Judges every sampler in numpy here with ten seeds at full power, and prints the second table of
docs/results/audits.md.

    python3 examples/audits/seeds.py RESULTS.jsonl [SEEDS]

A seed chooses what is drawn, and the ten random laws of the full battery, which every sampler that
can be walked gets with each seed. One that can only be drawn from gets one toy a seed, drawn from
until a total variation of 0.005 would have been found with probability 0.99. What stands in
RESULTS.jsonl already is not done again; two processes may share it.
"""

import fcntl
import importlib
import json
import pathlib
import sys
import time
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import draftlab as dl  # noqa: E402
from draftlab.audit.judge import Plan, draw  # noqa: E402
from draftlab.audit.run import LEVELS, toys_of  # noqa: E402
from table import SECONDS, files, samplers_in  # noqa: E402

DETECTABLE = LEVELS["full"].detectable
ONLY_DRAWN = ("hidden-generator",)
TOY = "two residual tokens"


def judged(sampler, seed):
    """(verdict, depth, largest TV or the one that would have been found)."""
    if sampler.name.startswith(ONLY_DRAWN):
        toy = next(toy for toy in toys_of(sampler, "full") if toy.name == TOY)
        found = draw(sampler, toy, Plan(DETECTABLE, SECONDS, seed))
        tv = found.variation if found.verdict == "biased" else found.drawn.detectable
        return found.verdict, found.depth, tv
    report = dl.audit(sampler, "full", seed=seed, seconds=SECONDS)
    depths = {found.depth for found in report.findings if found.depth}
    return report.verdict, " and ".join(sorted(depths)), report.tv


def claim(path, name, seed):
    """Says whether nobody has this one yet; it is this process's then."""
    with open(path, "a+") as results:
        fcntl.flock(results, fcntl.LOCK_EX)
        results.seek(0)
        lines = [json.loads(line) for line in results]
        if any(line["name"] == name and line["seed"] == seed for line in lines):
            return False
        results.write(json.dumps({"name": name, "seed": seed, "began": time.time()}) + "\n")
        return True


def work(path, seeds):
    for seed in range(seeds):
        for name, sampler in everything():
            if claim(path, name, seed):
                verdict, depth, tv = judged(sampler, seed)
                with open(path, "a") as results:
                    fcntl.flock(results, fcntl.LOCK_EX)
                    line = {"name": name, "seed": seed, "verdict": verdict, "depth": depth,
                            "tv": tv}
                    results.write(json.dumps(line) + "\n")


def everything():
    for path in files():
        for sampler in samplers_in(path):
            yield f"{path.stem}:{sampler.name}", sampler


def table(path):
    wanted = json.loads((HERE / "verdicts.json").read_text())
    done = [json.loads(line) for line in open(path) if "verdict" in line]
    wrong = sum(line["verdict"] != wanted[line["name"]] for line in done)
    print(f"{len(done)} audits, {wrong} of them with another verdict than verdicts.json has")
    print()
    print("| sampler | should be | found | depth | largest TV, or TV found at 0.99 |")
    print("|---|---|---|---|---|")
    for name, _ in everything():
        mine = [line for line in done if line["name"] == name]
        found = Counter(line["verdict"] for line in mine)
        cells = [name.split(":")[1], wanted[name],
                 ", ".join(f"{verdict} {count}" for verdict, count in found.items()),
                 " or ".join(sorted({line["depth"] for line in mine})),
                 f"{max(line['tv'] or 0 for line in mine):.3g}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    table(sys.argv[1])
