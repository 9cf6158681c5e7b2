"""A trace as recheck reads it: arms with their settings, samples with their steps."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from draftlab.recheck.random_numbers import sequence_of
from draftlab.trace import Trace, config_keys

# Values of enumerations, by their words (docs/TRACE_FORMAT.md).
SOURCES = {"accepted": 1, "resampled": 2, "bonus": 3, "edited": 6, "taken-back": 7}
STOPS = {"wrong_token": 1, "end_of_text": 7}


class Settings:
    """The resolved config of an arm."""

    def __init__(self, text: str, vocabulary: int):
        self.keys: Dict[str, str] = config_keys(text)
        self.vocabulary = vocabulary

    def __call__(self, key: str, default: str = "") -> str:
        return self.keys.get(key, default)

    def number(self, key: str, default: float) -> float:
        return float(self.keys.get(key, default))

    def true(self, key: str, default: bool = False) -> bool:
        return self.keys.get(key, str(default).lower()) == "true"


@dataclass
class Step:
    """A row of the step table as a dict, and its tokens and drafts as columns."""

    row: Dict[str, float]
    tokens: Dict[str, np.ndarray]
    drafts: Dict[str, np.ndarray]
    where: str

    @property
    def drafted(self) -> int:
        """How many drafts were recorded."""
        return len(self.drafts["depth"])

    @property
    def is_choice(self) -> bool:
        """Whether the step scored whole texts: such steps are decided, and nobody is asked."""
        return self.row["routed"] == -1 and self.row["exact"] < self.row["drafted"]

    def sources(self, *names: str) -> np.ndarray:
        return np.isin(self.tokens["source"], [SOURCES[name] for name in names])


@dataclass
class Sample:
    row: Dict[str, Any]
    steps: List[Step]
    settings: Settings
    sequence: int


class Record:
    """The samples of a trace, one after the other."""

    def __init__(self, path: str):
        self.trace = Trace(path)
        self.settings = [Settings(text, int(vocabulary)) for text, vocabulary in
                         zip(self.trace["run_config"], self.trace["run_vocabulary"])]
        self.arms = list(self.trace["run_arm"])
        self.all_drafts = self.trace.attributes.get("drafts") == "all"
        self._tables = {table: self.trace.table(table)
                        for table in ("sample", "step", "token", "draft")}
        self._given: Optional[Dict[Tuple[int, int], Tuple[Tuple[int, int], ...]]] = None

    def given(self, sample: "Sample") -> Optional[Tuple[Tuple[int, int], ...]]:
        """The given tokens of a sample as (position, token); None where the trace has none."""
        if self.trace.attributes.get("prompts") != "all":
            return None
        if self._given is None:
            rows: Dict[Tuple[int, int], List[Tuple[int, int]]] = {}
            table = self.trace.table("given")
            for row in np.flatnonzero(table["kind"] == 0):
                key = (int(table["run_index"][row]), int(table["prompt_index"][row]))
                rows.setdefault(key, []).append((int(table["position"][row]),
                                                 int(table["id"][row])))
            self._given = {key: tuple(tokens) for key, tokens in rows.items()}
        owner = self._prompts_of(int(sample.row["run_index"]))
        return self._given.get((owner, int(sample.row["prompt_index"])), ())

    def _prompts_of(self, run: int) -> int:
        """The first arm with the same task, data and checkpoint: prompts are recorded there."""
        def facts(arm: int) -> Tuple[Any, ...]:
            task = {key: value for key, value in self.settings[arm].keys.items()
                    if key == "task" or key.startswith("task.")}
            return (task, *(str(self.trace[f"run_{column}"][arm])
                            for column in ("checkpoint", "checkpoint_digest", "data_digest")))
        return next(arm for arm in range(run + 1) if facts(arm) == facts(run))

    def __len__(self) -> int:
        return int(self.trace.rows["sample"])

    def _rows(self, table: str, first: int, count: int) -> Dict[str, np.ndarray]:
        return {name: column[first:first + count] for name, column in self._tables[table].items()}

    def _row(self, table: str, index: int) -> Dict[str, Any]:
        return {name: column[index] for name, column in self._tables[table].items()}

    def __iter__(self) -> Iterator[Sample]:
        for index in range(len(self)):
            row = self._row("sample", index)
            run = int(row["run_index"])
            steps = []
            for number in range(int(row["first_step"]), int(row["first_step"] + row["n_steps"])):
                step = self._row("step", number)
                arm = f" of arm '{self.arms[run]}'" if self.arms[run] else ""
                where = f"prompt {row['prompt_id']}{arm}, step {step['step']}"
                steps.append(Step(
                    step,
                    self._rows("token", int(step["first_token"]), int(step["n_tokens"])),
                    self._rows("draft", int(step["first_draft"]), int(step["n_drafts"])), where))
            yield Sample(row, steps, self.settings[run],
                         sequence_of(str(row["prompt_id"]), int(row["sample_index"])))
