"""Does a model with a state take it back? Speculative decoding feeds drafts to the target, and
where a recurrent model's drafts are rejected its state has to become what it was.

    @dl.recurrent_model("mine", vocabulary=256)
    class Mine:
        def step(self, token): ...       # the logits of the next token, [vocabulary]
        def snapshot(self): ...          # what `restore` takes; the model goes on
        def restore(self, snapshot): ...

A new object stands at the start of a text. The witness of every comparison is such an object that
was fed the committed tokens alone, and never a draft.
"""

import inspect
import itertools
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from draftlab.audit.faults import UsageError

MARK = "_draftlab_recurrent_model"
# Drafts are taken back by a snapshot of the state before them, after which the accepted ones run
# again; by a snapshot before each draft; or by the first snapshot, restored twice in a row after
# two branches, as a tree of drafts does.
WAYS = ("replay", "snapshots", "tree")
# Of the largest logit: what another order of sums may cost.
_ROUNDING = 4096
# So many tokens follow a rollback, because a short convolution forgets what it held.
_AFTER = 5


@dataclass
class RecurrentModel:
    name: str
    subject: Any
    vocabulary: int


def recurrent_model(name: str, *, vocabulary: int) -> Callable:
    """Marks a class with step, snapshot and restore, to be audited."""
    if not (isinstance(vocabulary, int) and vocabulary >= 2):
        raise UsageError(
            f"recurrent model '{name}': vocabulary = {vocabulary!r} must be at least 2")

    def mark(subject):
        missing = [method for method in ("step", "snapshot", "restore")
                   if not callable(getattr(subject, method, None))]
        if not inspect.isclass(subject) or missing:
            raise UsageError(f"recurrent model '{name}' must be a class with step, snapshot and "
                             f"restore; it has no {', '.join(missing) or 'instances'}")
        setattr(subject, MARK, RecurrentModel(name, subject, vocabulary))
        return subject

    return mark


def models_of(module) -> List[RecurrentModel]:
    """Returns every marked model of a module, in the order in which they were written."""
    return [getattr(value, MARK) for value in vars(module).values()
            if inspect.isclass(value) and MARK in vars(value)]


@dataclass
class Case:
    """A text, drafts behind it of which the first `accepted` stay, and what is fed then."""

    way: str
    text: List[int]
    drafts: List[int]
    accepted: int
    after: List[int]

    def __str__(self) -> str:
        def tokens(some: List[int]) -> str:
            return " ".join(map(str, some)) or "nothing"

        return (f"text {tokens(self.text)}, drafts {tokens(self.drafts)}, {self.accepted} "
                f"accepted, then {tokens(self.after)}")


@dataclass
class RecurrentReport:
    name: str
    verdict: str
    tested: int = 0
    of: int = 0
    # The smallest case whose logits differ, the token of `after` that shows it, and by how much.
    case: Optional[Case] = None
    shows_at: int = 0
    difference: float = 0.0
    # Of the state, where the snapshots of model and witness differ.
    places: List[str] = field(default_factory=list)
    # The largest difference that rounding explains.
    rounding: float = 0.0
    error: str = ""

    @property
    def status(self) -> int:
        return 0 if self.verdict in ("taken back", "taken back up to rounding") else 1

    def __str__(self) -> str:
        late = self.case is None and not self.error and self.tested < self.of
        lines = [f"{self.name}: {self.verdict}",
                 f"  {self.tested} rollbacks" + (f" of {self.of}, out of time" if late else "")]
        if self.error:
            lines.append(f"  {self.error}")
        if self.case is not None:
            where = "while the drafts are fed"
            if self.shows_at >= 0:
                where = (f"after token {self.shows_at + 1} of what follows, which is "
                         f"{self.case.after[self.shows_at]}")
            lines += [f"  smallest case    {self.case.way}: {self.case}",
                      f"  shows            {where}: logits differ by {self.difference:.3g}"]
            hidden = "something that no snapshot shows"
            lines.append(f"  not taken back   {', '.join(self.places) or hidden}")
        if self.rounding > 0:
            lines.append(f"  rounding         logits differ by at most {self.rounding:.3g}")
        return "\n".join(lines)

    def to_dict(self) -> Dict[str, Any]:
        case = self.case
        return {"name": self.name, "verdict": self.verdict, "rollbacks": self.tested,
                "of": self.of,
                "case": vars(case) if case else None, "shows_at": self.shows_at if case else None,
                "difference": self.difference, "not_taken_back": self.places,
                "rounding": self.rounding, "error": self.error or None}


def _cases(vocabulary: int, random: np.random.Generator) -> List[Case]:
    """Two of every kind. Small ones stand first, so that the first that fails is a smallest one."""
    sizes = sorted(itertools.product(range(5), range(1, 6)), key=lambda size: (sum(size), size))
    cases = []
    for text, drafts in sizes:
        for accepted, way, _ in itertools.product(range(drafts), WAYS, range(2)):
            draw = random.integers(0, vocabulary, text + drafts + _AFTER).tolist()
            cases.append(Case(way, draw[:text], draw[text:text + drafts], accepted,
                              draw[text + drafts:]))
    return cases


class _Different(Exception):
    """The logits of a case differ from the witness's."""

    def __init__(self, shows_at: int, difference: float):
        super().__init__()
        self.shows_at, self.difference = shows_at, difference


def _numbers(name: str, logits: Any, vocabulary: int) -> np.ndarray:
    if hasattr(logits, "detach"):
        logits = logits.detach().cpu().double().numpy()
    array = np.array(logits, dtype=float)  # A copy: the model may write into its own later.
    if array.shape != (vocabulary,) or not np.isfinite(array).all():
        raise UsageError(f"recurrent model '{name}': step returned an array of shape "
                         f"{list(array.shape)}, and must return [{vocabulary}] finite logits")
    return array


def _leaves(value: Any, place: str = "state") -> Iterator[Tuple[str, np.ndarray]]:
    """The arrays of a snapshot, and where they stand in it."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{place}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for at, part in enumerate(value):
            yield from _leaves(part, f"{place}[{at}]")
    elif isinstance(value, (np.ndarray, int, float)):
        yield place, np.asarray(value)


class _Audit:
    def __init__(self, model: RecurrentModel):
        self.model = model
        self.rounding = 0.0
        self.known: Dict[Tuple[int, ...], np.ndarray] = {}

    def fed(self, tokens: List[int]) -> Any:
        """A new object that was fed these tokens and nothing else."""
        made = self.model.subject()
        for token in tokens:
            made.step(token)
        return made

    def witness(self, tokens: List[int]) -> np.ndarray:
        """The logits behind a text."""
        key = tuple(tokens)
        if key not in self.known:
            made = self.fed(tokens[:-1])
            self.known[key] = self.logits(made, tokens[-1])
        return self.known[key]

    def logits(self, made: Any, token: int) -> np.ndarray:
        return _numbers(self.model.name, made.step(token), self.model.vocabulary)

    def compare(self, found: np.ndarray, tokens: List[int], shows_at: int) -> None:
        wanted = self.witness(tokens)
        difference = float(np.abs(found - wanted).max())
        eps = float(np.finfo(np.float32).eps)
        if difference > _ROUNDING * eps * max(1.0, float(np.abs(wanted).max())):
            raise _Different(shows_at, difference)
        self.rounding = max(self.rounding, difference)

    def places(self, case: Case) -> List[str]:
        """Where the state behind the rollback is not that of an object which saw no draft."""
        mine = dict(_leaves(self.taken_back(case).snapshot()))
        right = dict(_leaves(self.fed(case.text + case.drafts[:case.accepted]).snapshot()))
        return [place for place in right if place in mine and (
            mine[place].shape != right[place].shape or
            not np.allclose(mine[place], right[place], rtol=1e-4, atol=1e-6))]

    def taken_back(self, case: Case, compares: bool = False) -> Any:
        """An object that was fed text and drafts, and took back those that were rejected."""
        made = self.fed(case.text)
        before = []
        for at, token in enumerate(case.drafts):
            before.append(made.snapshot())
            logits = self.logits(made, token)
            if compares:
                self.compare(logits, case.text + case.drafts[:at + 1], -1)
        if case.way == "snapshots":
            made.restore(before[case.accepted])
            return made
        made.restore(before[0])
        if case.way == "tree":  # Another branch, and back to the same node.
            for token in reversed(case.drafts):
                made.step(token)
            made.restore(before[0])
        for token in case.drafts[:case.accepted]:
            made.step(token)
        return made

    def run(self, case: Case) -> None:
        """Raises _Different where a decode with this rollback leaves the witness's path."""
        made = self.taken_back(case, compares=True)
        kept = case.text + case.drafts[:case.accepted]
        for at, token in enumerate(case.after):
            self.compare(self.logits(made, token), kept + case.after[:at + 1], at)

    def repeats_itself(self) -> bool:
        tokens = [token % self.model.vocabulary for token in (1, 0, 1, 1, 0)]
        one, other = (self.logits(self.fed(tokens), tokens[0]) for _ in range(2))
        return bool((one == other).all())


def audit_recurrent(model: RecurrentModel, seed: int = 1, seconds: float = 60) -> RecurrentReport:
    """Takes back drafts in every way, behind texts of up to four tokens, for at most so many
    seconds of processor time."""
    audit = _Audit(model)
    cases = _cases(model.vocabulary, np.random.default_rng(seed))
    report = RecurrentReport(model.name, "taken back", of=len(cases))
    began = time.process_time()
    try:
        if not audit.repeats_itself():
            report.verdict = "does not repeat itself"
            report.error = "two new objects that were fed the same tokens have other logits"
            return report
        for case in cases:
            if report.tested > 0 and time.process_time() - began > seconds:
                break
            report.tested += 1
            audit.run(case)
    except _Different as found:
        report.verdict = "not taken back"
        report.case, report.shows_at = case, found.shows_at
        report.difference, report.places = found.difference, audit.places(case)
        return report
    except UsageError:
        raise
    except Exception as error:
        report.verdict = "crashes"
        report.error = f"{type(error).__name__}: {error}"
        return report
    report.rounding = audit.rounding
    if audit.rounding > 0:
        report.verdict = "taken back up to rounding"
    return report
