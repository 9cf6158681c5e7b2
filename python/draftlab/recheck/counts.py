"""Every count: function evaluations, tokens and the order of commitment."""

import numpy as np

from draftlab.recheck.agreement import Agreement, close
from draftlab.recheck.record import SOURCES, STOPS, Sample, Step

_KINDS = ("prefill", "draft", "verify", "commit", "aux")
# These test all drafts in one forward, and need none where all drafts are the target's own draws.
_ONE_FORWARD = ("chain", "k-seq", "own-draw", "block")


def _sums(sample: Sample, found: Agreement) -> None:
    for of in ("", "drafter_"):
        for unit in ("nfe", "rows", "positions"):
            for kind in _KINDS:
                column = f"{of}{unit}_{kind}"
                total = int(sample.row[column])
                steps = sum(int(step.row[column]) for step in sample.steps)
                # The prompt's forward belongs to no step.
                right = total >= steps if kind == "prefill" else total == steps
                found.tell("evaluations of samples", right,
                           f"prompt {sample.row['prompt_id']}: {column} is {total}, and its steps "
                           f"add up to {steps}")


def _tokens(step: Step, found: Agreement) -> None:
    commits = ~step.sources("edited", "taken-back")
    found.tell("tokens of steps", int(step.row["committed"]) == int(commits.sum()) and
               int(step.row["accepted"]) == int(step.sources("accepted").sum()),
               f"{step.where}: {commits.sum()} tokens are committed, "
               f"{step.sources('accepted').sum()} of them accepted")


def _verifications(sample: Sample, step: Step, found: Agreement) -> None:
    """One verification is one evaluation; what is not verified costs none."""
    row, settings = step.row, sample.settings
    if step.is_choice or settings("verifier") not in _ONE_FORWARD:
        return
    if settings("decode.shadow", "off") == "commit":
        return
    if row["routed"] == 0 and not row["verified"]:
        found.tell("evaluations of verification", row["nfe_verify"] == 0,
                   f"{step.where}: nothing is verified, with {row['nfe_verify']} evaluations")
    tested = min(int(row["span"]), int(row["drafted"])) > int(row["exact"])
    if row["verified"] and not settings.true("verifier.chain.all_spans"):
        found.tell("evaluations of verification", row["nfe_verify"] == int(tested),
                   f"{step.where}: {row['drafted']} drafts, {row['exact']} of them exact, are "
                   f"verified with {row['nfe_verify']} evaluations")


def _order(sample: Sample) -> np.ndarray:
    """Positions in the order in which they were first committed."""
    order, seen = [], set()
    for step in sample.steps:
        for position in step.tokens["position"].tolist():
            if position not in seen:
                seen.add(position)
                order.append(position)
    return np.array(order, dtype=int)


def _arness(sample: Sample, found: Agreement, window: int = 2) -> None:
    """DiffuCoder's local and global AR-ness at k = 2, over the ranks of what was generated."""
    order = _order(sample)
    if not len(order):
        return
    ranks = np.argsort(np.argsort(order))
    masked = np.ones(len(ranks), dtype=bool)
    local, everywhere = [], []
    for at, rank in enumerate(ranks):
        recent = set(ranks[max(0, at - window):at].tolist())
        local.append(at >= window and recent == {rank - d for d in range(1, window + 1)})
        everywhere.append(masked[:rank].sum() < window)
        masked[rank] = False
    seen, marks = set(), []
    for step in sample.steps:
        for position, one, other in zip(step.tokens["position"].tolist(),
                                        step.tokens["ar_local"].tolist(),
                                        step.tokens["ar_global"].tolist()):
            if position not in seen:
                seen.add(position)
                marks.append((bool(one), bool(other)))
    found.tell("AR-ness", marks == list(zip(local, everywhere)) and
               close(float(sample.row["ar_local"]), float(np.mean(local))) and
               close(float(sample.row["ar_global"]), float(np.mean(everywhere))),
               f"prompt {sample.row['prompt_id']}: {np.mean(local):.6g} and "
               f"{np.mean(everywhere):.6g} follow from the order of commitment")


def _generated(sample: Sample, found: Agreement) -> None:
    committed = sum(int(step.row["committed"]) for step in sample.steps)
    back = sum(int((step.tokens["source"] == SOURCES["taken-back"]).sum()) for step in sample.steps)
    found.tell("generated tokens", int(sample.row["generated"]) == committed - back,
               f"prompt {sample.row['prompt_id']}: {committed} are committed, {back} taken back")
    left = int(sample.row["length"]) - int(sample.row["prompt_tokens"])
    for step in sample.steps:
        masked = int(step.row["masked"])
        found.tell("open positions", masked == left,
                   f"{step.where}: {masked} positions are open, and {left} should be")
        left = masked - int(step.row["committed"])
        left += int((step.tokens["source"] == SOURCES["taken-back"]).sum())


def check_counts(sample: Sample, found: Agreement) -> None:
    _sums(sample, found)
    _generated(sample, found)
    _arness(sample, found)
    for step in sample.steps:
        _tokens(step, found)
        if step.row["stop"] != STOPS["end_of_text"]:
            _verifications(sample, step, found)
