"""How many of how many agree, by what was computed again."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional


@dataclass
class Count:
    agree: int = 0
    differ: int = 0
    # Decided within what a float32 column rounds.
    ties: int = 0
    # Only a bound on it follows from what is recorded.
    bounded: int = 0
    # What the first one that differs says.
    first: str = ""

    @property
    def all(self) -> int:
        return self.agree + self.differ


@dataclass
class Agreement:
    """The counts of one trace, and why some things could not be computed again."""

    counts: Dict[str, Count] = field(default_factory=dict)
    unknown: Dict[str, int] = field(default_factory=dict)

    def tell(self, what: str, agrees: bool, where: str = "", tie: bool = False,
             bounded: bool = False) -> None:
        count = self.counts.setdefault(what, Count())
        count.agree += bool(agrees)
        count.differ += not agrees
        count.ties += bool(tie)
        count.bounded += bool(bounded)
        if not agrees and not count.first:
            count.first = where

    def cannot(self, why: str, times: int = 1) -> None:
        self.unknown[why] = self.unknown.get(why, 0) + times

    @property
    def differ(self) -> int:
        return sum(count.differ for count in self.counts.values())

    def lines(self) -> List[str]:
        lines = []
        wide = max((len(name) for name in self.counts), default=0)
        for name, count in self.counts.items():
            notes = [f"{count.bounded} within bounds only"] if count.bounded else []
            notes += [f"{count.ties} at a rounding's distance"] if count.ties else []
            line = f"  {name.ljust(wide)}  {count.agree} of {count.all} agree"
            lines.append(line + (f" ({', '.join(notes)})" if notes else ""))
            if count.first:
                lines.append(f"    {count.first}")
        if self.unknown:
            lines.append("  not computed again:")
            lines += [f"    {times} {why}" for why, times in self.unknown.items()]
        return lines

    def to_json(self) -> Dict[str, object]:
        return {"agree": {name: {"of": count.all, "agree": count.agree, "ties": count.ties,
                                 "bounded": count.bounded, "first_difference": count.first or None}
                          for name, count in self.counts.items()},
                "not_computed_again": dict(self.unknown)}


def close(value: float, low: float, high: Optional[float] = None,
          relative: float = 1e-6, absolute: float = 1e-9) -> bool:
    """Whether a recorded number lies between two computed ones, up to its rounding."""
    high = low if high is None else high
    room = relative * max(abs(low), abs(high)) + absolute
    return low - room <= value <= high + room
