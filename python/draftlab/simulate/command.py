"""The command line of `draftlab simulate`."""

import argparse
import sys
from typing import Callable, Dict, List, Optional, Sequence, Tuple, TypeVar

from draftlab.audit.faults import DataError, Unavailable, UsageError

_USAGE = ("draftlab simulate ACCEPTANCE.csv --cost FILE [--show speedups|routers|bound|arrivals], "
          "or draftlab simulate FORWARDS --fit FILE --source TEXT")
_Value = TypeVar("_Value")

# Which flags belong to what is shown; `learn` and `fit` are what --learn and --fit do.
_SIMULATED = {"cost", "proposer", "tasks"}
_FLAGS = {
    "speedups": {*_SIMULATED, "batches", "drafted", "match"},
    "routers": {*_SIMULATED, "batches", "table", "half", "split", "resamples"},
    "bound": {*_SIMULATED, "batches", "table", "half", "split", "resamples"},
    "arrivals": {*_SIMULATED, "drafted", "table", "half", "split", "rate", "slots", "requests"},
    "learn": {*_SIMULATED, "half", "split", "depths"},
    "fit": {"source"},
}
_HELP = {
    "cost": "the cost surface, an INI file",
    "proposer": "whose acceptance lengths; eagle3 where it is not given",
    "tasks": "comma-separated; all where it is not given",
    "source": "who measured the forwards, and on what",
    "batches": "copies of a request in a batch, comma-separated; 1,8,64 where it is not given",
    "drafted": "tokens drafted a step, comma-separated; 'oracle' drafts what will be accepted",
    "match": "TASK=P,...: a step of a lookup that accepts nothing has a draft with chance P",
    "table": "the learned table of a router",
    "half": "learning, held-out or all: which requests; reports take the held-out ones",
    "split": "seed of the order of which halves are taken; 1",
    "resamples": "resamples of requests for intervals; 1000",
    "rate": "requests a second, comma-separated",
    "slots": "how many requests are decoded at a time; 64",
    "requests": "how many requests arrive; 1000",
    "depths": "longest draft of the table that is learned; 12",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab simulate: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab simulate", usage=_USAGE, allow_abbrev=False)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--show", default="", choices=[*list(_FLAGS)[:-2], ""])
    parser.add_argument("--learn", default="", metavar="TABLE.csv", help="learn a table, write it")
    parser.add_argument("--fit", default="", metavar="SURFACE.ini",
                        help="fit a cost surface to measured forwards, write it")
    for flag, text in _HELP.items():
        parser.add_argument(f"--{flag}", default=None, help=text)
    return parser


def _several(flag: str, text: str, one: Callable[[str], _Value]) -> List[_Value]:
    try:
        return [one(word) for word in text.split(",")]
    except ValueError as error:
        raise UsageError(f"draftlab simulate: --{flag} = '{text}' {error}; "
                         f"usage: {_USAGE}") from error


def _whole(low: int, high: int) -> Callable[[str], int]:
    def one(word: str) -> int:
        if not word.isdigit() or not low <= int(word) <= high:
            raise ValueError(f"has to hold whole numbers in [{low}, {high}]")
        return int(word)

    return one


def _number(low: float, high: float) -> Callable[[str], float]:
    def one(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = high + 1
        if not low <= value <= high:
            raise ValueError(f"has to hold numbers in [{low:g}, {high:g}]")
        return value

    return one


def _drafted(word: str) -> Optional[int]:
    return None if word == "oracle" else _whole(0, 64)(word)


def _match(word: str) -> Tuple[str, float]:
    task, equals, chance = word.partition("=")
    if not equals:
        raise ValueError("has to hold TASK=P")
    return task, _number(0, 1)(chance)


def _half(word: str) -> str:
    if word not in ("learning", "held-out", "all"):
        raise ValueError("has to be learning, held-out or all")
    return word


class Asked:
    """The flags, and what they stand for where they are not given."""

    def __init__(self, words: Optional[List[str]]) -> None:
        self.flags = _parser().parse_args(words)
        done = [flag for flag in ("learn", "fit", "show") if getattr(self.flags, flag)]
        if len(done) > 1:
            raise UsageError("draftlab simulate: --learn writes a table, --fit writes a surface "
                             f"and --show prints; give one of them; usage: {_USAGE}")
        self.writes = self.flags.learn or self.flags.fit
        self.show = done[0] if self.writes else self.flags.show or "speedups"
        for flag in _HELP:
            given = getattr(self.flags, flag) is not None
            if given and flag not in _FLAGS[self.show]:
                what = f"--{self.show}" if self.writes else f"--show {self.show}"
                raise UsageError(f"draftlab simulate: --{flag} says nothing to {what}; "
                                 f"usage: {_USAGE}")
            if not given and flag in _FLAGS[self.show] and flag in ("cost", "source"):
                raise UsageError(f"draftlab simulate: --{flag} is needed; usage: {_USAGE}")
        self.proposer = self.flags.proposer or "eagle3"

    def many(self, flag: str, otherwise: str, one: Callable[[str], _Value]) -> List[_Value]:
        given = getattr(self.flags, flag)
        return _several(flag, otherwise if given is None else given, one)

    def one(self, flag: str, otherwise: str, one: Callable[[str], _Value]) -> _Value:
        values = self.many(flag, otherwise, one)
        if len(values) != 1:
            raise UsageError(f"draftlab simulate: --{flag} takes one value; usage: {_USAGE}")
        return values[0]


def table_text(rows: Sequence[Dict[str, str]]) -> str:
    """Rows as a table in Markdown."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row[head] for head in heads] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _speedups(asked: Asked, cost, task: str, requests: list) -> List[Dict[str, str]]:
    from draftlab.simulate.batches import Setting, speedup

    match = dict(asked.many("match", f"{task}=1", _match))
    rows = []
    for batch in asked.many("batches", "1,8,64", _whole(1, 4096)):
        row = {"task": task, "batch": str(batch)}
        for drafted in asked.many("drafted", "1,3,5,oracle", _drafted):
            setting = Setting(cost, asked.proposer, batch, drafted, match.get(task, 1.0))
            name = "oracle length" if drafted is None else f"K = {drafted}"
            row[name] = f"{speedup(setting, requests):.4f}"
        rows.append(row)
    return rows


def _routed(asked: Asked, cost, requests: list) -> List[Dict[str, str]]:
    from draftlab.simulate import arrivals, gap
    from draftlab.simulate.table import read_table
    from draftlab.simulate.walk import World

    world = World.of(requests, asked.proposer, cost)
    table = read_table(asked.flags.table) if asked.flags.table else None
    if asked.show == "arrivals":
        fixed = asked.many("drafted", "0,3,5", _whole(0, 64))
        return arrivals.arrival_rows(world, table, asked.many("rate", "1,8,32", _number(1e-3, 1e6)),
                                     fixed, asked.one("slots", "64", _whole(1, 4096)),
                                     asked.one("requests", "1000", _whole(1, 1000000)))
    if table is None:
        raise UsageError(f"draftlab simulate: --show {asked.show} needs --table; usage: {_USAGE}")
    batches = asked.many("batches", "1,8,64", _whole(1, 4096))
    resamples = asked.one("resamples", "1000", _whole(2, 1000000))
    if asked.show == "routers":
        return gap.router_rows(world, table, batches, resamples)
    return [row for batch in batches for row in gap.bound_rows(world, table, batch, resamples)]


def _simulate(asked: Asked) -> None:
    from draftlab.simulate.acceptance import of_task, read_acceptance
    from draftlab.simulate.cost import read_cost
    from draftlab.simulate.learn import halves, learn
    from draftlab.simulate.table import write_table

    flags, cost = asked.flags, read_cost(asked.flags.cost)
    cost.draft(asked.proposer)
    everything = read_acceptance(flags.file)
    tasks = flags.tasks.split(",") if flags.tasks else sorted({r.task for r in everything})
    rows: List[Dict[str, str]] = []
    chosen = []
    for task in tasks:
        requests = of_task(everything, task, asked.proposer)
        if asked.show == "speedups":
            rows += _speedups(asked, cost, task, requests)
            continue
        half = asked.one("half", "learning" if flags.learn else "held-out", _half)
        learning, held_out = halves(requests, asked.one("split", "1", _whole(0, 1 << 31)))
        some = {"learning": learning, "held-out": held_out, "all": requests}[half]
        if len(some) == 0:
            raise DataError(f"{flags.file}: {task} has too few requests for halves")
        chosen += some
        if not flags.learn:
            rows += [{"task": task, **row} for row in _routed(asked, cost, some)]
    if flags.learn:
        table = learn(chosen, asked.proposer, cost, asked.one("depths", "12", _whole(1, 64)))
        write_table(flags.learn, table, [
            f"learned from {len(chosen)} requests of {', '.join(tasks)} by {asked.proposer}"])
        print(f"{flags.learn}: {table.deepest} depths, from {len(chosen)} requests")
        return
    print(f"Simulated, not measured. Costs: {cost.source}.\n\n{table_text(rows)}")


def _fit(asked: Asked) -> None:
    from draftlab.simulate.fit import surface_text

    text = surface_text(asked.flags.file, asked.flags.source)
    with open(asked.flags.fit, "x", encoding="utf-8") as out:
        out.write(text)
    print(text, end="")


def main(words: Optional[List[str]] = None) -> int:
    asked: Optional[Asked] = None
    try:
        asked = Asked(words)
        if asked.flags.fit:
            _fit(asked)
        else:
            _simulate(asked)
        return 0
    except (UsageError, Unavailable) as error:
        print(error, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"draftlab: '{error.filename}' cannot be opened: {error.strerror}", file=sys.stderr)
        return 73 if asked is not None and error.filename == asked.writes else 65
