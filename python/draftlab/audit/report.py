"""What an audit says: a table for people, an object for programs."""

import json
import math
import textwrap
from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional, Tuple

import numpy as np

from draftlab.audit import laws
from draftlab.audit.judge import Finding
from draftlab.audit.sampled import POWER
from draftlab.audit.sampling import Sampling
from draftlab.audit.toys import Toy

OUT_OF_TIME = "out of time"
_OF_SEVERAL = ("by context", "wide")  # Toys that come with several vocabularies.
_MOST_PROBABILITIES = 32  # Laws of more tokens than the event needs are shown up to this size.

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
    allowed: float = 0.0  # Seconds of processor time.
    seed: int = 0
    # What was not looked at, and why; and the numbers of drafts that the sampler takes.
    unseen: List[Tuple[Toy, str]] = field(default_factory=list)
    declared: List[int] = field(default_factory=list)
    # What the sampler draws from where the audit cannot answer.
    sources: List[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The worst that any toy showed; nothing is exact that the time did not suffice for."""
        worst = min((f.verdict for f in self.findings), key=_ORDER.index, default="not shown")
        return "not shown" if worst == "exact" and self.unseen else worst

    @property
    def rule(self) -> str:
        """The verdict on the rule alone, without what its arithmetic adds."""
        worst = min((f.rule for f in self.findings), key=_ORDER.index, default="not shown")
        return "not shown" if worst == "exact" and self.unseen else worst

    @property
    def rounded(self) -> List[Finding]:
        """The laws in which the arithmetic costs something that the rule does not."""
        return [f for f in self.findings if f.rounding or f.of_arithmetic]

    @property
    def status(self) -> int:
        """The exit status: 0 exact, 1 biased or crashes, 2 not shown."""
        return _STATUS[self.verdict]

    @property
    def shown(self) -> Optional[Finding]:
        """The smallest case that has the verdict."""
        return next((f for f in self.findings if f.verdict == self.verdict), None)

    @property
    def largest(self) -> Optional[Finding]:
        """The largest bias found."""
        biased = [f for f in self.findings if f.verdict == "biased"]
        return max(biased, key=lambda found: found.variation, default=None)

    @property
    def tv(self) -> float:
        """The largest total variation found."""
        return max((f.variation for f in self.findings if not math.isnan(f.variation)),
                   default=float("nan"))

    @property
    def tested(self) -> List[int]:
        """The numbers of drafts of which at least one law was looked at."""
        return sorted({f.toy.drafts for f in self.findings} & set(self.declared))

    def __str__(self) -> str:
        return to_text(self)

    def to_dict(self) -> Dict:
        shown, largest = self.shown, self.largest
        return {
            "sampler": self.name, "battery": self.battery, "verdict": self.verdict,
            "status": self.status, "rule": self.rule, "arithmetic": _arithmetic(self),
            "seconds": round(self.seconds, 3), "random_seed": self.seed,
            "k_declared": self.declared, "k_tested": self.tested,
            "not_looked_at": [{"toy": toy.name, "why": why, **_place(toy)}
                              for toy, why in self.unseen],
            "draws_from": self.sources,
            "published": self.published,
            "largest_bias": _case(largest) if largest else None,
            "smallest_case": _case(shown) if shown else None,
            "toys": [_case(finding) for finding in self.findings],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)


def _place(toy: Toy) -> Dict:
    return {"vocabulary": toy.vocabulary, "drafts": toy.drafts, "tokens": toy.steps,
            "row": toy.row}


def _case(found: Finding) -> Dict:
    toy = found.toy
    case = {
        "toy": toy.name, **_place(toy), "laws": toy.described(), "verdict": found.verdict,
        "depth": found.depth, "tv": None if math.isnan(found.variation) else found.variation,
        "fault": found.fault, "note": found.note, "runs": found.runs,
        "seconds": round(found.seconds, 4),
    }
    for name, event in (("event", found.event), ("forbidden", found.forbidden)):
        if event:
            case[name] = {"begins_with": list(event.tokens), "target": event.target,
                          "found": event.found}
    if found.emitted is not None:
        case["emitted_law"], case["target_law"] = found.emitted.tolist(), found.target.tolist()
    if found.drawn:
        case["interval"] = [found.drawn.low, found.drawn.high]
        case["detectable_tv"] = found.drawn.detectable
        case["power"] = POWER
    return case


def event_text(found: Finding) -> str:
    event = found.event
    return f"P({_tokens(event)}) is {event.found:.6g} instead of {event.target:.6g}"


def forbidden_text(found: Finding) -> str:
    """Says that a token of probability zero comes out, how often, and what that breaks."""
    event, sampling = found.forbidden, found.toy.sampling
    filters = [name.replace("_", "-") for name in ("top_k", "top_p", "min_p", "logit_bias")
               if getattr(sampling, name) != getattr(Sampling(), name)]
    breaks = " and ".join(filters) if filters else "grammar masks, top-k and top-p"
    power = f" (2^{math.log2(event.found):.3g})" if event.found < 1e-5 else ""
    return (f"P({_tokens(event)}) is {event.found:.3g}{power} instead of 0: a token that the "
            f"target forbids comes out, which breaks {breaks}; this is no rounding")


def _tokens(event) -> str:
    return " ".join(str(token) for token in event.tokens)


def _what(found: Finding) -> str:
    if found.verdict == "crashes":
        return f"{found.fault}: {found.note}"
    if found.verdict == "biased":
        if found.event is found.forbidden:
            return forbidden_text(found)
        text = f"TV {found.variation:.4g}, {event_text(found)}"
        if found.drawn:
            text += f" (TV in [{found.drawn.low:.3g}, {found.drawn.high:.3g}])"
        return text
    if found.drawn:
        text = f"{found.drawn.draws:,} draws; in this law, TV {found.drawn.detectable:.2g} " \
               f"would have been found with probability {POWER}"
        return f"{text}; {found.note}" if found.note else text
    return found.note or f"TV {found.variation:.1g}"


def _size(toy: Toy) -> str:
    size = f"V {toy.vocabulary}" + (f", k {toy.drafts}" if toy.drafts else "")
    size += f", {toy.steps} tokens" if toy.steps > 1 else ""
    return size + (f", row {toy.row}" if toy.row else "")


def described(toy: Toy) -> str:
    """A toy's name and size."""
    return f"{toy.name} ({_size(toy)})"


def _coverage(report: Report) -> List[str]:
    """What was looked at, and what was not: this comes before any finding."""
    lines = []
    if report.declared:
        missing = [k for k in report.declared if k not in report.tested]
        lines.append(f"k tested: {len(report.tested)} of {len(report.declared)}" + (
            f", not {', '.join(map(str, missing))}" if missing else ""))
    whys: Dict[str, Dict[str, List[str]]] = {}
    for toy, why in report.unseen:
        place = _size(replace(toy, row=0)).split(", ", 1)[-1] if toy.drafts else "tree"
        name = toy.name + (f" of {toy.vocabulary}" if toy.name in _OF_SEVERAL else "")
        name += f" in row {toy.row}" if toy.row else ""
        whys.setdefault(why, {}).setdefault(place, []).append(name)
    for why, places in whys.items():
        count = sum(len(names) for names in places.values())
        named = "; ".join(f"{place}: {', '.join(names)}" for place, names in places.items())
        lines += textwrap.wrap(f"not looked at, {why}: {count} law{'s' * (count > 1)}: {named}",
                               96, subsequent_indent="  ")
    return ["  " + line for line in lines]


def _arithmetic(report: Report) -> str:
    """What rounding costs, apart from the rule."""
    lost = [f.rounding for f in report.rounded if f.rounding]
    said = []
    for gone, ending in ((True, "float64 has none of it"),
                         (False, "it could not be run in float64")):
        costs = [cost.variation for cost in lost if cost.gone == gone]
        if costs:
            said.append(f"rounding costs TV {max(costs):.2g} at most, in {_laws(costs)}; {ending}")
    passed = [f.forbidden.found for f in report.rounded if f.of_arithmetic and f.forbidden]
    if passed:
        said.append(f"a forbidden token comes out with probability {max(passed):.2g} at most, in "
                    f"{_laws(passed)}")
    ended = [f.chance for f in report.rounded if f.chance]
    if ended:
        said.append(f"it crashes with probability {max(ended):.2g} at most, in {_laws(ended)}")
    if not any(f.drawn is None for f in report.findings):
        said.append("not told from the rule, since no law was walked")
    return "; ".join(said) or "adds nothing in the laws that were walked"


def _laws(some: List) -> str:
    return f"{len(some)} law{'s' * (len(some) > 1)}"


def _two_lines(report: Report) -> List[str]:
    """The verdict, the rule apart from its arithmetic."""
    if report.rule == "crashes":
        return []
    biases = [f.variation for f in report.findings if f.rule == "biased"]
    bias = f", TV {max(biases):.4g}" if biases else ""
    return [f"  the rule         {report.rule}{bias}",
            *textwrap.wrap(_arithmetic(report), 98, initial_indent="  the arithmetic   ",
                           subsequent_indent=" " * 19)]


def _law(found: Finding, law: np.ndarray, length: int) -> str:
    """The law of the first tokens, without what neither of the two laws gives a probability."""
    shown = laws.beginnings(law, length)
    some = laws.beginnings(found.emitted, length) + laws.beginnings(found.target, length) > 0
    return ", ".join(f"P({' '.join(map(str, at))})\u00a0{shown[at]:.4g}".replace(" ", "\u00a0")
                     for at in np.ndindex(*shown.shape) if some[at])


def _headline(report: Report) -> List[str]:
    """The largest bias with its two laws, then the smallest case that shows one."""
    largest, shown = report.largest, report.shown
    if report.verdict == "crashes":
        return [f"  {_what(shown)}",
                f"  smallest case    {shown.toy.name}: {_size(shown.toy)}, "
                f"{shown.toy.described()}"]
    if not largest:
        return []
    length = len(largest.event.tokens)
    while (length < largest.emitted.ndim
           and largest.toy.vocabulary ** (length + 1) <= _MOST_PROBABILITIES):
        length += 1
    lines = [f"  {_what(largest)}",
             f"  largest bias     {largest.toy.name}: {_size(largest.toy)}, "
             f"{largest.toy.described()}"]
    for title, law in (("emitted law", largest.emitted), ("target's law", largest.target)):
        text = f"{title:<17}".replace(" ", "\u00a0") + _law(largest, law, length)
        lines += [line.replace("\u00a0", " ") for line in textwrap.wrap(
            text, 98, initial_indent="  ", subsequent_indent=" " * 19)]
    forbidden = [f for f in report.findings if f.forbidden]
    if forbidden and forbidden[0].event is not forbidden[0].forbidden:
        lines.append(f"  forbidden token  {forbidden[0].toy.name}: {forbidden_text(forbidden[0])}")
    if shown is not largest:
        lines.append(f"  smallest case    {shown.toy.name}: {_size(shown.toy)}, "
                     f"{shown.toy.described()}: {_what(shown)}")
    return lines


def to_text(report: Report) -> str:
    """The verdict; what was not looked at; rule and arithmetic; the biases; one line a toy."""
    lines = [f"{report.name}: {report.verdict}", *_coverage(report), *_two_lines(report),
             *_headline(report)]
    if report.sources:
        lines += textwrap.wrap(f"{', '.join(report.sources)}; the audit cannot answer that, so it "
                               "only counts what comes out", 98,
                               initial_indent="  draws from       ", subsequent_indent=" " * 19)
    if report.published:
        lines.append(f"  published        {report.published}")
    rows = [(f.toy.name, _size(f.toy), f.verdict, f.depth, _what(f)) for f in report.findings]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths))
        lines.append(f"  {cells}  {row[4]}")
    if any(why == OUT_OF_TIME for _, why in report.unseen):
        lines.append(f"  out of time      --seconds {8 * report.allowed:.0f} may do; --continue "
                     "FILE keeps what was walked and goes on from it")
    lines.append(f"  seconds          {report.seconds:.2f} ({report.battery} battery, "
                 f"--random-seed {report.seed})")
    return "\n".join(lines)
