"""`draftlab audit --log FILE.jsonl`: what an engine logged of its decisions, against the rule.

A log can show a fault and never exactness: the verdict is `biased` or `not shown`. Each decision
is checked by itself (log_rules.py), then all of them together (log_fit.py).
"""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, Iterator, List

from draftlab.audit.faults import DataError
from draftlab.audit.log_fit import Fit
from draftlab.audit.log_rules import Decision, Violation, violations

_SHOWN = 5


@dataclass
class LogReport:
    """What a log shows."""

    path: str
    decisions: int = 0
    drafts: int = 0
    tests: int = 0
    seconds: float = 0.0
    violations: List[Violation] = field(default_factory=list)  # The first few violations.
    counts: Counter = field(default_factory=Counter)  # How many violations of each kind there are.
    misfits: List[str] = field(default_factory=list)
    fits: List[str] = field(default_factory=list)
    silent: List[str] = field(default_factory=list)  # Sentences that say what this log cannot show.

    @property
    def verdict(self) -> str:
        return "biased" if self.counts or self.misfits else "not shown"

    @property
    def status(self) -> int:
        return 1 if self.verdict == "biased" else 2

    def to_dict(self) -> Dict:
        return {
            "log": self.path, "verdict": self.verdict, "status": self.status,
            "decisions": self.decisions, "drafts": self.drafts, "tests": self.tests,
            "violations": dict(self.counts), "first": [vars(v) for v in self.violations],
            "misfits": self.misfits, "fits": self.fits, "cannot_show": self.silent,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        lines = [f"{self.path}: {self.verdict}",
                 f"  decisions        {self.decisions:,}, {self.drafts:,} drafts, "
                 f"{self.tests:,} tests"]
        for kind, count in self.counts.most_common():
            lines.append(f"  broken           {kind}: {count:,} decisions")
            lines += [f"    line {v.line}: {v.what}" for v in self.violations if v.kind == kind]
        lines += [f"  does not fit     {text}" for text in self.misfits]
        lines += [f"  fits             {text}" for text in self.fits]
        lines += [f"  cannot show      {text}" for text in self.silent]
        lines.append(f"  seconds          {self.seconds:.2f}")
        return "\n".join(lines)


def read_log(path: str) -> Iterator[Decision]:
    """The decisions of a file; a line that is none is refused in a sentence."""
    try:
        with open(path, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                if not text.strip():
                    continue
                try:
                    value = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"{path}:{number}: this is no JSON: {error}") from error
                yield Decision.read(value, f"{path}:{number}", number)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no UTF-8: {error}") from error


def judge_log(path: str) -> LogReport:
    """Reads and judges a log."""
    began = time.monotonic()
    report, fit = LogReport(path), Fit()
    for decision in read_log(path):
        report.decisions += 1
        report.drafts += len(decision.drafts)
        for violation in violations(decision):
            report.counts[violation.kind] += 1
            if report.counts[violation.kind] <= _SHOWN:
                report.violations.append(violation)
        fit.add(decision)
    if report.decisions == 0:
        raise DataError(f"{path}: there is no decision in it")
    report.tests = fit.tests
    report.misfits, report.fits, report.silent = fit.conclusions()
    report.seconds = time.monotonic() - began
    return report


def audit_log(path: str, form: str = "text") -> int:
    """Prints the verdict on a log; returns the exit status."""
    report = judge_log(path)
    print(json.dumps(report.to_dict(), allow_nan=False) if form == "json" else report)
    return report.status
