"""Decodes that records tell of, step by step, and what a trace's rows say of them.

A step is what it is in a trace (docs/TRACE_FORMAT.md). Nothing stands here that the records do not
say: the trace gets nothing, NaN or 0 in its place, and a list of the columns that mean nothing.
"""

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from draftlab.audit.faults import DataError
from draftlab.foreign.records import Record, Source

# Values of the enumerations step_stop and token_source that are needed by name.
_STOPS = ("complete", "wrong_token", "end_of_text", "unverified")
_SOURCES = ("accepted", "resampled", "bonus")
UNKNOWN_TOKEN = "?"  # How a trace spells tokens of which the source says nothing.


@dataclass(frozen=True)
class Arm:
    """What the decodes of an arm have in common; None is what the source does not say."""

    drafter: Optional[str]
    draft_length: int

    def settings(self) -> List[Tuple[str, str, int]]:
        """Key, value, and whether it names a part."""
        named = [] if self.drafter is None else [("drafter", self.drafter, 1)]
        return [*named, ("decode.draft_length", str(self.draft_length), 0)]


@dataclass
class Decode:
    """One request. The arrays have an entry a step; the first `prefills` steps come from one."""

    arm: Arm
    prompt: str
    drafted: np.ndarray
    accepted: np.ndarray
    committed: np.ndarray
    stop: List[str]
    prefills: int = 0
    prompt_tokens: Optional[int] = None
    prompt_ids: Optional[Sequence[int]] = None
    ids: Optional[Sequence[int]] = None


@dataclass
class Decodes:
    """All requests of a file, in its order."""

    source: Source
    decodes: List[Decode] = field(default_factory=list)


def walk(record: Record, draft_length: int) -> Decode:
    """The steps that the lengths of a record make with drafts of one length.

    The first token comes from the prefill. A step that begins after token i + 1 commits what entry
    i says, or its drafts and one if they are fewer; the last one ends where the lengths end.
    Without drafts each step draws one token of the target, as the drafter `stepwise` does.
    """
    lengths = record.lengths
    drafted, accepted, committed, stops = [0], [0], [1], ["unverified"]
    made = 1
    while made < len(lengths):
        whole = min(lengths[made - 1], draft_length + 1)
        now = min(whole, len(lengths) - made)
        # A token that is drawn is its own draft, which needs no test.
        drafted.append(max(draft_length, 1))
        accepted.append(min(whole - 1, now) if draft_length else 1)
        committed.append(now)
        full = whole - 1 == draft_length
        stops.append("end_of_text" if now < whole else "complete" if full else "wrong_token")
        made += now
    name = f"line {record.line}" if record.request is None else record.request
    known = record.ids if record.ids is not None and len(record.ids) >= made else None
    return Decode(Arm(record.method, draft_length),
                  name if record.task is None else f"{record.task}/{name}",
                  np.array(drafted), np.array(accepted), np.array(committed), stops, 1,
                  record.prompt_tokens, record.prompt_ids, known)


def walk_all(source: Source, draft_lengths: Iterable[int]) -> Decodes:
    """Every record with every draft length."""
    lengths = list(draft_lengths)
    return Decodes(source, [walk(record, k) for record in source.records for k in lengths])


class Rows:
    """The columns of a trace that the decodes say something of, by their names."""

    def __init__(self, decodes: Decodes, flags: Dict[str, Dict[str, int]]) -> None:
        self.stops = [flags["step_stop"][word] for word in _STOPS]
        self.nothing_to_decide = flags["step_routed"]["nothing_to_decide"]
        self.sources = [flags["token_source"][word] for word in _SOURCES]
        self.arms = list(dict.fromkeys(decode.arm for decode in decodes.decodes))
        self.prompts = list(dict.fromkeys(decode.prompt for decode in decodes.decodes))
        run = {arm: at for at, arm in enumerate(self.arms)}
        prompt = {name: at for at, name in enumerate(self.prompts)}
        self.order = sorted(decodes.decodes, key=lambda d: (prompt[d.prompt], run[d.arm]))
        keys = [(prompt[d.prompt], run[d.arm]) for d in self.order]
        for key, after in zip(keys, keys[1:]):
            if key == after:
                raise DataError(f"{decodes.source.path}: request '{self.prompts[key[0]]}' of "
                                f"{self.label(self.arms[key[1]]) or 'one arm'} stands here twice, "
                                "and a trace has each once")
        self.columns: Dict[str, Any] = {}
        self.in_part: List[str] = []
        self._runs()
        self._samples(keys)
        self._steps()
        self._tokens()

    def label(self, arm: Arm) -> str:
        """What tells the arm from the others; empty when there is one."""
        return ", ".join(f"{key}={value}" for key, value in self.axes(arm))

    def axes(self, arm: Arm) -> List[Tuple[str, str]]:
        values: Dict[str, List[str]] = {}
        for other in self.arms:
            for key, value, _ in other.settings():
                values.setdefault(key, []).append(value)
        return [(key, value) for key, value, _ in arm.settings() if len(set(values[key])) > 1]

    def _runs(self) -> None:
        settings = [(at, *row) for at, arm in enumerate(self.arms) for row in arm.settings()]
        axes = [(at, *row) for at, arm in enumerate(self.arms) for row in self.axes(arm)]
        self.columns.update({
            "run_arm": [self.label(arm) for arm in self.arms],
            "run_label": ["" for _ in self.arms],
            "run_sequential": [int(arm.draft_length == 0) for arm in self.arms],
            "setting_run_index": [row[0] for row in settings],
            "setting_key": [row[1] for row in settings],
            "setting_value": [row[2] for row in settings],
            "setting_part": [row[3] for row in settings],
            "axis_run_index": [row[0] for row in axes],
            "axis_key": [row[1] for row in axes],
            "axis_value": [row[2] for row in axes]})

    def _said(self, name: str, values: List[Optional[int]]) -> np.ndarray:
        """A column that some records say and some do not, which is noted."""
        if None in values:
            self.in_part.append(name)
        return np.array([value or 0 for value in values])

    def _samples(self, keys: List[Tuple[int, int]]) -> None:
        prompt = self._said("sample_prompt_tokens", [d.prompt_tokens for d in self.order])
        generated = np.array([d.committed.sum() for d in self.order])
        steps = np.array([len(d.drafted) for d in self.order])
        prefills = np.array([d.prefills for d in self.order])
        if self.in_part:
            self.in_part += ["sample_length", "token_position"]
        self.begin = prompt
        self.drawn = np.array([d.arm.draft_length == 0 for d in self.order])
        self.columns.update({
            "sample_first_step": np.cumsum(steps) - steps, "sample_n_steps": steps,
            "sample_prompt_index": [key[0] for key in keys],
            "sample_sample_index": np.zeros(len(keys), dtype=int),
            "sample_run_index": [key[1] for key in keys],
            "sample_prompt_id": [self.prompts[key[0]] for key in keys],
            "sample_status": ["done" for _ in keys],
            "sample_length": prompt + generated, "sample_prompt_tokens": prompt,
            "sample_generated": generated, "sample_valid": generated,
            "sample_nfe_prefill": prefills,
            "sample_nfe_draft": np.where(self.drawn, steps - prefills, 0),
            "sample_nfe_verify": np.where(self.drawn, 0, steps - prefills),
            # From left to right no finished block is written to a cache by a forward of its own.
            "sample_nfe_commit": np.zeros(len(keys), dtype=int)})

    def _steps(self) -> None:
        counts = [len(d.drafted) for d in self.order]
        drafted, accepted, committed = (
            np.concatenate([getattr(d, name) for d in self.order])
            for name in ("drafted", "accepted", "committed"))
        number = np.concatenate([np.arange(count) for count in counts])
        prefill = np.concatenate([np.arange(len(d.drafted)) < d.prefills for d in self.order])
        open_before = np.concatenate([d.committed[::-1].cumsum()[::-1] for d in self.order])
        stop = np.array([self.stops[_STOPS.index(word)] for d in self.order for word in d.stop])
        drawn = np.repeat(self.drawn, counts) & ~prefill
        self.committed, self.accepted, self.drafted = committed, accepted, drafted
        self.columns.update({
            "step_sample_index": np.repeat(np.arange(len(counts)), counts),
            "step_first_token": np.cumsum(committed) - committed, "step_n_tokens": committed,
            "step_first_draft": np.zeros(len(drafted), dtype=int),
            "step_n_drafts": np.zeros(len(drafted), dtype=int),
            "step_step": number, "step_masked": open_before, "step_span": drafted,
            "step_drafted": drafted, "step_exact": np.where(drawn, drafted, 0),
            "step_verified": (~prefill).astype(int),
            "step_routed": np.full(len(drafted), self.nothing_to_decide),
            "step_accepted": accepted, "step_committed": committed, "step_stop": stop,
            "step_nfe_prefill": prefill.astype(int), "step_nfe_draft": drawn.astype(int),
            "step_nfe_verify": (~prefill & ~drawn).astype(int),
            "step_nfe_commit": np.zeros(len(drafted), dtype=int)})

    def _tokens(self) -> None:
        committed = self.committed
        step = np.repeat(np.arange(len(committed)), committed)
        rank = np.arange(len(step)) - np.repeat(np.cumsum(committed) - committed, committed)
        sample = np.asarray(self.columns["step_sample_index"])[step]
        generated = np.asarray(self.columns["sample_generated"])
        place = np.arange(len(step)) - (np.cumsum(generated) - generated)[sample]
        accepted, resampled, bonus = self.sources
        behind = np.where(self.accepted == self.drafted, bonus, resampled)[step]
        self.columns.update({
            "token_step_index": step, "token_rank": rank,
            "token_position": self.begin[sample] + place,
            "token_source": np.where(rank < self.accepted[step], accepted, behind),
            # Tokens that are generated from left to right have the AR-ness that follows from it.
            "token_ar_local": (place >= 2).astype(int),
            "token_ar_global": np.ones(len(step), dtype=int),
            "sample_ar_local": np.maximum(generated - 2, 0) / generated,
            "sample_ar_global": np.ones(len(generated))})
        if all(decode.ids is not None for decode in self.order):
            self.columns["token_id"] = np.concatenate(
                [np.asarray(decode.ids)[:count] for decode, count in zip(self.order, generated)])
        else:
            # The id 0 stands for all tokens, so that it is shown as what it is.
            self.columns.update({"piece_run_index": [0], "piece_id": [0],
                                 "piece_text": [UNKNOWN_TOKEN]})
