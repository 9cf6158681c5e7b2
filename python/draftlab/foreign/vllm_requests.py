"""Reads what vLLM attaches to the answer to a request under --per-request-spec-decode-metrics.

The fields are those of vllm-project/vllm, docs/features/speculative_decoding/acceptance_metrics.md
at cd199986: `metrics.speculative_decoding`, in `summary` and in `detailed`, which adds the drafted
and accepted tokens of every step. A line is an answer as vLLM sends it, or a line that
`draftlab export --requests` wrote. An answer of several sequences has null there, and is left out.
"""

from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from draftlab.foreign.decodes import Arm, Decode
from draftlab.foreign.records import LARGEST, Source, plain
from draftlab.foreign.summaries import Summary

_COUNTS = {"num_spec_steps": "steps", "num_accepted_draft_tokens": "accepted_tokens",
           "num_draft_tokens": "drafted_tokens", "num_spec_tokens": "draft_length"}
_MEANS = {"mean_acceptance_length": "mean_length", "draft_acceptance_rate": "acceptance_rate"}
_ROUNDING = 1e-9


def holds(said: Any) -> bool:
    """Whether a line of JSON is of this format."""
    return isinstance(said, dict) and isinstance(said.get("metrics"), dict) and \
        "speculative_decoding" in said["metrics"]


def _counts(source: Source, line: int, key: str, values: Any) -> List[int]:
    if not isinstance(values, list) or any(
            type(value) is not int or not 0 <= value <= LARGEST for value in values):
        raise source.fail(line, f"'{key}' has to be a list of whole numbers of at least 0")
    return values


def _agree(source: Source, line: int, key: str, said: Any, other: float, what: str) -> None:
    if said is not None and abs(said - other) > _ROUNDING * max(1.0, abs(other)):
        raise source.fail(line, f"{key} = {said} contradicts {what}, which makes it {other:g}")


def _summary(source: Source, line: int, said: Dict[str, Any], metrics: Dict[str, Any]) -> Summary:
    row = Summary(line)
    identity = said.get("request_id", said.get("id"))
    row.request = None if identity is None else plain(str(identity))
    usage = said.get("usage")
    if isinstance(usage, dict) and type(usage.get("completion_tokens")) is int:
        row.generated_tokens = usage["completion_tokens"]
    for key, name in _COUNTS.items():
        value = metrics.get(key)
        if value is not None and (type(value) is not int or value < 0):
            raise source.fail(line, f"{key} = {value!r} has to be a whole number of at least 0")
        setattr(row, name, value)
    for key, name in _MEANS.items():
        value = metrics.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))
                                  or not 0 <= value < 1e9):
            raise source.fail(line, f"{key} = {value!r} has to be a number of at least 0")
        setattr(row, name, value)
    if "acceptance_histogram" in metrics:
        counts = _counts(source, line, "acceptance_histogram", metrics["acceptance_histogram"])
        steps, accepted = sum(counts), sum(a * n for a, n in enumerate(counts))
        _agree(source, line, "num_spec_steps", row.steps, steps, "acceptance_histogram")
        _agree(source, line, "num_accepted_draft_tokens", row.accepted_tokens, accepted,
               "acceptance_histogram")
        row.steps, row.accepted_tokens = steps, accepted
        row.accepted_by_depth = tuple(sum(counts[a:]) / steps for a in range(1, len(counts))
                                      ) if steps else None
    if row.steps and row.accepted_tokens is not None:
        _agree(source, line, "mean_acceptance_length", row.mean_length,
               1 + row.accepted_tokens / row.steps, "the counts")
    if row.drafted_tokens and row.accepted_tokens is not None:
        _agree(source, line, "draft_acceptance_rate", row.acceptance_rate,
               row.accepted_tokens / row.drafted_tokens, "the counts")
    return row


def _decode(source: Source, row: Summary, metrics: Dict[str, Any]) -> Optional[Decode]:
    """The steps of a request, where the answer has them."""
    if "per_step_accepted" not in metrics or "per_step_drafted" not in metrics:
        return None
    accepted, drafted = (np.array(_counts(source, row.line, key, metrics[key]), dtype=int)
                         for key in ("per_step_accepted", "per_step_drafted"))
    if len(accepted) != len(drafted):
        raise source.fail(row.line, f"'per_step_accepted' has {len(accepted)} entries and "
                                    f"'per_step_drafted' {len(drafted)}, and a step is in both")
    wrong = np.flatnonzero(accepted > drafted)
    if len(wrong):
        raise source.fail(row.line, f"step {wrong[0]} accepts {accepted[wrong[0]]} of "
                                    f"{drafted[wrong[0]]} drafts, and can accept no more than all")
    _agree(source, row.line, "num_spec_steps", row.steps, len(accepted), "'per_step_accepted'")
    _agree(source, row.line, "num_accepted_draft_tokens", row.accepted_tokens, accepted.sum(),
           "'per_step_accepted'")
    _agree(source, row.line, "num_draft_tokens", row.drafted_tokens, drafted.sum(),
           "'per_step_drafted'")
    if len(accepted) == 0:
        return None
    length = int(drafted.max()) if row.draft_length is None else row.draft_length
    stops = np.where(accepted == drafted, "complete", "wrong_token").tolist()
    return Decode(Arm(None, length), row.request or f"line {row.line}", drafted, accepted,
                  accepted + 1, stops)


def read_request(source: Source, line: int, said: Dict[str, Any]
                 ) -> Iterator[Tuple[Summary, Optional[Decode]]]:
    """What an answer says in sum, and its steps where it has them."""
    metrics = said["metrics"]["speculative_decoding"]
    if metrics is None:
        return
    if not isinstance(metrics, dict):
        raise source.fail(line, "'metrics.speculative_decoding' has to be an object, or null")
    row = _summary(source, line, said, metrics)
    yield row, _decode(source, row, metrics)
