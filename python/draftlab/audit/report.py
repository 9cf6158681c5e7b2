"""What an audit says: a table for people, an object for programs."""

import json
import math
from dataclasses import dataclass, field
from typing import Dict, List, Optional

from draftlab.audit.judge import Finding
from draftlab.audit.sampled import POWER

_ORDER = ("crashes", "biased", "not shown", "exact")
_STATUS = {"exact": 0, "biased": 1, "crashes": 1, "not shown": 2}


@dataclass
class Report:
    """The audit of one sampler."""

    name: str
    battery: str
    seconds: float
    findings: List[Finding] = field(default_factory=list)
    published: str = ""
    hurried: int = 0  # toys that were drawn from since the time did not suffice to walk them
    allowed: float = 0.0  # seconds of processor time

    @property
    def verdict(self) -> str:
        """The worst that any toy showed."""
        return min((f.verdict for f in self.findings), key=_ORDER.index)

    @property
    def status(self) -> int:
        """The exit status: 0 exact, 1 biased or crashes, 2 not shown."""
        return _STATUS[self.verdict]

    @property
    def shown(self) -> Optional[Finding]:
        """The smallest case that has the verdict."""
        return next((f for f in self.findings if f.verdict == self.verdict), None)

    @property
    def tv(self) -> float:
        """The largest total variation found."""
        return max((f.variation for f in self.findings if not math.isnan(f.variation)),
                   default=float("nan"))

    def __str__(self) -> str:
        return to_text(self)

    def to_dict(self) -> Dict:
        shown = self.shown
        return {
            "sampler": self.name, "battery": self.battery, "verdict": self.verdict,
            "status": self.status, "seconds": round(self.seconds, 3),
            "out_of_time": self.hurried,
            "published": self.published, "smallest_case": _case(shown) if shown else None,
            "toys": [_case(finding) for finding in self.findings],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)


def _case(found: Finding) -> Dict:
    toy = found.toy
    case = {
        "toy": toy.name, "vocabulary": toy.vocabulary, "drafts": toy.drafts, "tokens": toy.steps,
        "row": toy.row, "laws": toy.described(), "verdict": found.verdict, "depth": found.depth,
        "tv": None if math.isnan(found.variation) else found.variation,
        "fault": found.fault, "note": found.note, "runs": found.runs,
        "seconds": round(found.seconds, 4),
    }
    if found.event:
        case["event"] = {"begins_with": list(found.event.tokens), "target": found.event.target,
                         "found": found.event.found}
    if found.drawn:
        case["interval"] = [found.drawn.low, found.drawn.high]
        case["detectable_tv"] = found.drawn.detectable
        case["power"] = POWER
    return case


def event_text(found: Finding) -> str:
    event = found.event
    tokens = " ".join(str(token) for token in event.tokens)
    return f"P({tokens}) is {event.found:.6g} instead of {event.target:.6g}"


def _what(found: Finding) -> str:
    if found.verdict == "crashes":
        return f"{found.fault}: {found.note}"
    if found.verdict == "biased":
        text = f"TV {found.variation:.4g}, {event_text(found)}"
        if found.drawn:
            text += f" (TV in [{found.drawn.low:.3g}, {found.drawn.high:.3g}])"
        return text
    if found.drawn:
        text = f"{found.drawn.draws:,} draws; TV {found.drawn.detectable:.2g} would have been " \
               f"found with probability {POWER}"
        return f"{text}; {found.note}" if found.note else text
    return found.note or f"TV {found.variation:.1g}"


def _size(found: Finding) -> str:
    toy = found.toy
    size = f"V {toy.vocabulary}" + (f", k {toy.drafts}" if toy.drafts else "")
    size += f", {toy.steps} tokens" if toy.steps > 1 else ""
    return size + (f", row {toy.row}" if toy.row else "")


def to_text(report: Report) -> str:
    """One line a toy, after the verdict and the smallest case that shows it."""
    shown = report.shown
    lines = [f"{report.name}: {report.verdict}"]
    if report.verdict in ("biased", "crashes"):
        lines += [f"  {_what(shown)}",
                  f"  smallest case    {shown.toy.name}: {_size(shown)}, {shown.toy.described()}"]
    if report.published:
        lines.append(f"  published         {report.published}")
    rows = [(f.toy.name, _size(f), f.verdict, f.depth, _what(f)) for f in report.findings]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths))
        lines.append(f"  {cells}  {row[4]}")
    if report.hurried:
        lines.append(f"  out of time      before {report.hurried} of the laws were walked; "
                     f"--seconds {8 * report.allowed:.0f} may do")
    lines.append(f"  seconds          {report.seconds:.2f} ({report.battery} battery)")
    return "\n".join(lines)
