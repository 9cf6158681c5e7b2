"""A cost surface: the seconds of a step, by the tokens in the caches and the rows of a forward."""

import configparser
import math
from dataclasses import dataclass
from typing import Any, Dict

from draftlab.audit.faults import DataError


@dataclass(frozen=True)
class Forward:
    """The seconds of one forward: cached * (tokens in the caches) + row * rows + fixed."""

    cached: float
    row: float
    fixed: float

    def seconds(self, cached: Any, rows: Any) -> Any:
        return self.cached * cached + self.row * rows + self.fixed


@dataclass(frozen=True)
class Draft:
    """The seconds that drafting takes: a forward of its own and a share of the target's forward."""

    forward: Forward
    share: float
    always: bool  # Whether the published simulator charges it in a step without drafts, too.

    def seconds(self, target_seconds: Any, cached: Any, rows: Any) -> Any:
        """`rows` are those of one sequence: the draft and the token before it."""
        return self.forward.seconds(cached, rows) + self.share * target_seconds


@dataclass(frozen=True)
class CostSurface:
    """What a step costs. `source` says who measured or fitted the numbers."""

    source: str
    target: Forward
    drafts: Dict[str, Draft]
    engine: float  # Seconds that every step takes besides the forwards.

    def draft(self, proposer: str) -> Draft:
        if proposer not in self.drafts:
            raise DataError(f"the cost surface has no section [{proposer}]; it has "
                            f"{', '.join(sorted(self.drafts))}")
        return self.drafts[proposer]

    def prefill(self, prompt_tokens: Any) -> Any:
        """The seconds of the step that reads prompts and commits their first tokens."""
        return self.target.seconds(0, prompt_tokens) + self.engine

    def step(self, proposer: str, batch: int, cached: Any, drafted: Any) -> Any:
        """The seconds of a step of `batch` equal sequences that draft `drafted` tokens each.

        `cached` counts the tokens of all sequences. A step without drafts does not call the
        drafter.
        """
        target = self.target.seconds(cached, batch * (drafted + 1))
        draft = self.draft(proposer).seconds(target, cached, drafted + 1)
        return target + draft * (drafted > 0) + self.engine


def read_cost(path: str) -> CostSurface:
    """Reads a cost surface from an INI file: [cost], [target], [engine], a section a drafter."""
    parser = configparser.ConfigParser(interpolation=None, comment_prefixes=(";", "#"))
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: this is no INI file: {' '.join(str(error).split())}") from error
    drafter_keys = {"cached", "row", "fixed", "share", "always"}
    allowed = {"cost": {"source"}, "engine": {"fixed"}, "target": {"cached", "row", "fixed"}}
    for section in ("cost", "target", "engine"):
        if section not in parser:
            raise DataError(f"{path}: section [{section}] is missing")
    for section in parser.sections():
        for key in parser[section]:
            if key not in allowed.get(section, drafter_keys):
                raise DataError(f"{path}: section [{section}] has no key '{key}'")
    for section, keys in allowed.items():
        for key in sorted(keys - set(parser[section])):
            raise DataError(f"{path}: key '{section}.{key}' is missing")

    def number(section: str, key: str) -> float:
        text = parser[section].get(key, "0")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0):
            raise DataError(f"{path}: '{section}.{key} = {text}' has to be a number of at least 0")
        return value

    def forward(section: str) -> Forward:
        return Forward(number(section, "cached"), number(section, "row"), number(section, "fixed"))

    def always(section: str) -> bool:
        text = parser[section].get("always", "no")
        if text not in ("yes", "no"):
            raise DataError(f"{path}: '{section}.always = {text}' has to be yes or no")
        return text == "yes"

    drafts = {name: Draft(forward(name), number(name, "share"), always(name))
              for name in parser.sections() if name not in allowed}
    if number("target", "fixed") == 0:
        raise DataError(f"{path}: 'target.fixed' has to be above 0")
    return CostSurface(parser["cost"]["source"], forward("target"), drafts,
                       number("engine", "fixed"))
