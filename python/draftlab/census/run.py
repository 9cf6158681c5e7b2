"""One row judged: the audit, its negative controls, and a plain Monte Carlo of what is biased."""

import collections
import os
import time
from typing import Any, Dict, List, Optional

import numpy as np

from draftlab.audit.faults import DataError
from draftlab.audit.report import event_text
from draftlab.audit.run import Only, audit
from draftlab.census import controls, plain
from draftlab.census.rows import Missing, Row

_WORTH_SHOWING = 0.01


def judge(row: Row, sources: str, seconds: float, seed: Optional[int]) -> Dict[str, Any]:
    """What is printed of a row, as plain data."""
    began = spent()
    result: Dict[str, Any] = {
        "name": row.name, "repository": row.repository, "commit": row.commit,
        "paths": [code.path for code in row.code], "function": row.function,
        "claim": row.claim, "expected": row.expected, "not_covered": row.not_covered,
        "because": row.because, "read_from": row.read_from}
    try:
        texts = row.texts(sources)
    except Missing as missing:
        return {**result, "verdict": "missing", "missing": str(missing)}
    definitions = row.definitions(texts)
    for control in row.controls:  # One that is not there is refused before time goes by.
        try:
            controls.broken(definitions, *control)
        except DataError as error:
            raise DataError(f"row '{row.name}': control {error}") from error
    report = _audited(row, definitions, seconds, seed)
    result.update(_findings(report))
    if result["verdict"] == "biased":
        shown = _smallest(report)
        result.update(_counterexample(shown))
        if not row.batch:
            result.update(plain.confirm(row, texts, shown))
    result["controls"] = [[*control, controls.verdict_of(row, definitions, control)]
                          for control in row.controls]
    result["seconds"] = round(spent() - began, 1)
    return {**result, "as_expected": as_expected(result)}


def over_seeds(row: Row, sources: str, seconds: float, seeds: range) -> Dict[str, Any]:
    """How often each verdict is found with other random laws and other draws; no controls."""
    began = spent()
    result: Dict[str, Any] = {"name": row.name, "expected": row.expected}
    try:
        definitions = row.definitions(row.texts(sources))
    except Missing as missing:
        return {**result, "verdict": "missing", "missing": str(missing)}
    found = [_findings(_audited(row, definitions, seconds, seed)) for seed in seeds]
    verdicts = collections.Counter(one["verdict"] for one in found)
    return {**result, "verdicts": dict(verdicts), "tv": max(one["tv"] for one in found),
            "walked": sum(one["walked"] for one in found),
            "drawn": sum(one["drawn"] for one in found),
            "seconds": round(spent() - began, 1),
            "as_expected": verdicts == {row.expected: len(seeds)}}


def spent() -> float:
    """Processor time of this thread and of the processes that it has waited for: the Monte Carlo,
    and the compiler of what is in C++."""
    children = os.times()
    return time.thread_time() + children.children_user + children.children_system


def _audited(row: Row, definitions: List[Any], seconds: float, seed: Optional[int]):
    """The battery's report; of one toy, where that is biased and known to be."""
    sampler = row.sampler(definitions)
    if row.shown_by:
        report = audit(sampler, "quick", seed=seed, seconds=seconds, only=Only(toy=row.shown_by))
        if report.verdict == "biased":
            return report
    return audit(sampler, "quick", seed=seed, seconds=seconds)


def as_expected(result: Dict[str, Any]) -> bool:
    """The verdict is the one that the commit is known to have, controls are caught, and a plain
    Monte Carlo that shares nothing with the audit agrees."""
    agrees = result.get("plain") is None or result["plain"]["agrees"]
    return result["verdict"] == result["expected"] and agrees and \
        all(verdict == "biased" for _, _, verdict in result["controls"])


def _findings(report) -> Dict[str, Any]:
    """The rule's verdict, and apart from it what the arithmetic adds."""
    rule = [found for found in report.findings if not found.of_arithmetic]
    walked = [found for found in rule if found.verdict == "exact"]
    worst = next((kind for kind in ("crashes", "biased")
                  if any(found.verdict == kind for found in rule)), None)
    passed = [found.variation for found in report.findings
              if found.of_arithmetic and found.forbidden]
    ended = [found for found in report.findings if found.chance]
    known = [found.variation for found in rule
             if found.verdict == "biased" and np.isfinite(found.variation)]
    crash = next((found for found in rule if found.verdict == "crashes"), None)
    drawn = [found.drawn.detectable for found in rule if found.verdict == "not shown" and
             found.drawn]
    return {"verdict": worst or ("exact" if walked else "not shown"),
            "tv": max(known, default=0.0),
            "walked": len(walked) + len(known) + len(passed) + len(ended),
            "drawn": len(drawn), "detectable": max(drawn, default=0.0),
            "unseen": len(report.unseen), "forbidden": max(passed, default=0.0),
            "ends_in": [max(one.chance for one in ended), ended[0].fault] if ended else [],
            "seed": report.seed, "fault": f"{crash.fault}: {crash.note}" if crash else ""}


def _smallest(report):
    """The smallest case whose bias can be seen in some thousand draws, else the clearest one."""
    single: List[Any] = [found for found in report.findings if found.verdict == "biased"
                         and not found.of_arithmetic and found.toy.steps == 1]
    clear = [found for found in single if found.variation >= _WORTH_SHOWING]
    size = {id(found): found.toy.vocabulary ** (found.toy.drafts + 1) for found in clear}
    return min(clear, key=lambda found: size[id(found)]) if clear else \
        max(single, key=lambda found: found.variation)


def _counterexample(found) -> Dict[str, Any]:
    toy = found.toy
    return {"case": {"toy": toy.name, "vocabulary": toy.vocabulary, "drafts": toy.drafts,
                     "laws": toy.described(), "tv": found.variation, "event": event_text(found)}}
