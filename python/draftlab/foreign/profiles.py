"""Reads NVIDIA's speculation_profile.json, schema 1.0.

The fields are those of NVIDIA/Model-Optimizer, examples/specdec_bench/specdec_bench/
speculation_profile.py at edf879d3, and `draftlab export --profile` writes them. A profile is the
sum of a run: its rows are the run, and each category of prompts.
"""

from typing import Any, Dict, List, Optional

from draftlab.foreign.records import Source, plain
from draftlab.foreign.summaries import Summary

_ROUNDING = 2e-6  # Profiles have six digits behind the point.


def holds(said: Any) -> bool:
    """Whether a JSON object is of this format."""
    return isinstance(said, dict) and "schema_version" in said and "measured" in said


def _number(source: Source, where: str, said: Dict[str, Any], key: str) -> Optional[float]:
    value = said.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))
                              or not 0 <= value < 1e9):
        raise source.fail(1, f"{where}{key} = {value!r} has to be a number of at least 0")
    return value


def _rates(source: Source, where: str, said: Dict[str, Any], key: str) -> Optional[List[float]]:
    values = said.get(key)
    if values is None:
        return None
    if not isinstance(values, list) or any(
            isinstance(v, bool) or not isinstance(v, (int, float)) or not 0 <= v <= 1
            for v in values):
        raise source.fail(1, f"'{where}{key}' has to be a list of numbers between 0 and 1")
    return values


def _histogram(source: Source, said: Dict[str, Any]) -> Dict[int, int]:
    counts = said.get("acceptance_length_histogram") or {}
    if not isinstance(counts, dict) or not all(
            key.isdigit() and int(key) > 0 and isinstance(n, (int, float)) and n >= 0
            for key, n in counts.items()):
        raise source.fail(1, "'acceptance_length_histogram' has to hold counts by lengths of at "
                             "least 1")
    return {int(key): int(n) for key, n in counts.items()}


def _category(source: Source, name: str, said: Any, row: Summary) -> Summary:
    if not isinstance(said, dict):
        raise source.fail(1, f"'per_category.{name}' has to be an object")
    where = f"per_category.{name}."
    steps = _number(source, where, said, "num_steps")
    below = _rates(source, where, said, "conditional_accept_rates")
    depths: Optional[List[float]] = None if below is None else []
    reached = 1.0
    for rate in below or ():
        reached *= rate
        depths = [*(depths or ()), round(reached, 6)]
    return Summary(1, task=plain(name), method=row.method, draft_length=row.draft_length,
                   steps=None if steps is None else int(steps),
                   mean_length=_number(source, where, said, "mean_accept_length"),
                   accepted_by_depth=depths)


def read_profile(source: Source, said: Dict[str, Any]) -> List[Summary]:
    """The run, and then its categories by their names."""
    version = said["schema_version"]
    if str(version).split(".")[0] != "1":
        raise source.fail(1, f"schema_version = {version!r} has to be of the schemas 1.x")
    if said["measured"] is not True:
        raise source.fail(1, f"measured = {said['measured']!r}: the profile is a stub, which "
                             "measured nothing")
    method = said.get("method")
    length = _number(source, "", said, "num_speculative_tokens")
    row = Summary(1, method=None if method is None else plain(str(method)),
                  draft_length=None if length is None else int(length),
                  mean_length=_number(source, "", said, "mean_accept_length"),
                  accepted_by_depth=_rates(source, "", said, "marginal_accept_rates"))
    counts = _histogram(source, said)
    if counts:
        row.steps = sum(counts.values())
        row.accepted_tokens = sum((length - 1) * n for length, n in counts.items())
        mean = 1 + row.accepted_tokens / max(row.steps, 1)
        if row.mean_length is not None and abs(row.mean_length - mean) > _ROUNDING:
            raise source.fail(1, f"mean_accept_length = {row.mean_length} contradicts "
                                 f"acceptance_length_histogram, which makes it {mean:g}")
    categories = said.get("per_category") or {}
    if not isinstance(categories, dict):
        raise source.fail(1, "'per_category' has to be an object")
    return [row, *(_category(source, name, of_one, row)
                   for name, of_one in sorted(categories.items()))]
