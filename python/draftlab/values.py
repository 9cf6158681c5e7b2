"""What parts return: routes, proposals, verdicts, windows, prompts."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from draftlab import laws

NAN = float("nan")
ROOT = -1  # The root is the committed state itself.


def real(what: str, value: Any) -> float:
    """A number that is sent; `what` names it in the sentence that refuses it."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what} is {value!r:.60}, and a number is due") from None


def whole(what: str, value: Any) -> int:
    """A whole number of 32 bits that is sent."""
    try:
        number = int(value)
        if number == value and -(2**31) <= number < 2**31:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{what} is {value!r:.60}, and a whole number of 32 bits is due")


def row(what: str, value: Any, kinds: Sequence[Any]) -> List[Any]:
    """A tuple that is sent, each of whose values is made by the function of its place."""
    try:
        values = list(value)
    except TypeError:
        values = []
    if len(values) != len(kinds):
        raise TypeError(f"{what} is {value!r:.60}, and {len(kinds)} values are due")
    return [kind(what, each) for kind, each in zip(kinds, values)]


def text(what: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{what} holds {value!r:.60} where a word is due")


def flag(what: str, value: Any) -> bool:
    return bool(value)


@dataclass
class Route:
    """A router's decision. `score` is recorded; with probability `flip` the loop reverses the
    decision and records with which propensity. `context`, a number, and `memo`, an array of numbers
    that `decide` computed, come back in `observe` as they were; neither is part of a state."""

    verify: bool
    score: float = NAN
    flip: float = 0.0
    context: int = 0
    propensity: float = 1.0
    memo: Any = ()

    def packed(self) -> List[Any]:
        if not isinstance(self.verify, (bool, np.bool_)):
            raise TypeError(f"Route.verify is {self.verify!r:.60}, and True or False is due")
        memo = np.array(self.memo, np.float64)
        if memo.ndim != 1:
            raise TypeError(f"Route.memo has the shape {memo.shape}, and a row of numbers is due")
        return [
            bool(self.verify),
            real("Route.score", self.score),
            real("Route.flip", self.flip),
            whole("Route.context", self.context),
            memo if memo.size else None,
        ]


class Node(NamedTuple):
    """A drafted token on top of its parent's state; parent -1 is the committed state."""

    parent: int
    position: int
    token: int


class Drafts(List[int]):
    """Tokens that were drawn, with their positions. `first + later` is one path of both."""

    def __init__(self, tokens: Sequence[int], positions: Sequence[int]) -> None:
        super().__init__(tokens)
        self.positions = list(positions)

    def __add__(self, later: Any) -> Any:
        if not isinstance(later, Drafts):
            return super().__add__(later)
        return Drafts([*self, *later], self.positions + later.positions)


_COMMIT = (whole, whole, text)


class Commit(NamedTuple):
    """A token for a position; source is accepted, resampled, bonus, threshold or fallback."""

    position: int
    token: int
    source: str = "threshold"


@dataclass
class Proposal:
    """Drafted tokens as a tree over the committed state, usually one path.

    `drawn_from`: what each was really drawn from (an answer means its distributions as
    `[decode]` shapes them; None: point masses); `raw`: the model's own, at temperature 1, which
    estimators read; `exact`: how many leading drafts are the target's own draws.
    """

    nodes: List[Node] = field(default_factory=list)
    drawn_from: Any = None
    raw: Any = None
    exact: int = 0
    lookahead: int = 0
    edits: List[Commit] = field(default_factory=list)
    root_answer: Any = None

    @staticmethod
    def path(
        tokens: Sequence[int],
        drawn_from: Any = None,
        *,
        raw: Any = None,
        positions: Optional[Sequence[int]] = None,
        exact: int = 0,
        lookahead: int = 0,
    ) -> "Proposal":
        """One token after another; positions are where the tokens were drawn."""
        if positions is None:
            positions = getattr(tokens, "positions", None)
        if positions is None:
            raise TypeError(
                "Proposal.path needs positions=[...] for tokens that step.draw did not draw"
            )
        if len(positions) < len(tokens):
            raise ValueError(f"{len(tokens)} tokens for {len(positions)} positions")
        if raw is None and isinstance(drawn_from, laws.Answer):
            raw = drawn_from
        nodes = [Node(i - 1, int(positions[i]), int(t)) for i, t in enumerate(tokens)]
        return Proposal(nodes, drawn_from, raw, exact, lookahead)

    def packed(self) -> Dict[str, Any]:
        raw = self.raw
        if raw is not None:
            raw = [laws.reference(law) for law in raw]
        return {
            "nodes": [row("a node", node, (whole, whole, whole)) for node in self.nodes],
            "drawn_from": laws.references(self.drawn_from),
            "raw": raw,
            "exact": whole("Proposal.exact", self.exact),
            "lookahead": whole("Proposal.lookahead", self.lookahead),
            "edits": [row("an edit", edit, _COMMIT) for edit in self.edits],
            "root_answer": None if self.root_answer is None else self.root_answer.number,
        }


class Judged(NamedTuple):
    """What became of a draft: probabilities under the target and the drafter, of acceptance."""

    target: float = NAN
    drawn: float = NAN
    accept: float = NAN
    accepted: bool = False
    reached: bool = False


@dataclass
class Verdict:
    """Commits in order, why the step stopped, what was judged.

    `carry`, for a drafter that looks ahead (`proposal.lookahead` > 0), is what the next step may
    draft from: (answer, node, unseen). The verdict stops at this node of the answer (-1: at what
    was committed before), and so many tokens, a replacement or a bonus, are committed behind it
    that the answer does not know.
    """

    commits: List[Commit] = field(default_factory=list)
    why: str = "complete"
    judged: List[Judged] = field(default_factory=list)
    carry: Optional[Tuple[Any, int, int]] = None

    def packed(self) -> Dict[str, Any]:
        carry = self.carry
        return {
            "commits": [row("a commit", commit, _COMMIT) for commit in self.commits],
            "why": text("Verdict.why", self.why),
            "judged": [
                row("a judged draft", each, (real, real, real, flag, flag)) for each in self.judged
            ],
            "carry": None
            if carry is None
            else [carry[0].number, int(carry[1]), int(carry[2]), carry[0].nodes],
        }


@dataclass
class Window:
    """Positions a step may fill, in the order of commitment; the first `span` may be judged."""

    positions: Sequence[int]
    span: Optional[int] = None
    block: int = 0
    boundary: str = "complete"

    def packed(self) -> Dict[str, Any]:
        span = len(self.positions) if self.span is None else int(self.span)
        positions = [whole("a position of Window", each) for each in self.positions]
        return {
            "positions": positions,
            "span": span,
            "block": int(self.block),
            "boundary": self.boundary,
        }


@dataclass
class Prompt:
    """One thing to decode: `given` are (position, token) pairs on a canvas of `length`. The tokens
    `ends` end its text. With `choices`, lists of tokens, the one of them to which the target gives
    the highest probability takes the place of what would be decoded, from the first masked position
    on."""

    id: str
    length: int
    given: Sequence[Tuple[int, int]] = ()
    reference: Sequence[int] = ()
    text: str = ""
    offset: int = 0
    ends: Sequence[int] = ()
    choices: Sequence[Sequence[int]] = ()

    def packed(self) -> Dict[str, Any]:
        return {
            "id": self.id,
            "length": int(self.length),
            "given": sorted([int(p), int(t)] for p, t in self.given),
            "reference": [int(t) for t in self.reference],
            "text": self.text,
            "offset": int(self.offset),
            "ends": [int(t) for t in self.ends],
            "choices": [[int(t) for t in choice] for choice in self.choices],
        }


SOURCES = (
    *("prompt", "accepted", "resampled", "bonus"),
    *("threshold", "fallback", "edited", "taken-back"),
)


class Canvas:
    """The sequence being decoded. `tokens`: [length] int32, -1 where masked; `order`: positions
    generated so far, in the order of their commitment."""

    def __init__(self, tokens: np.ndarray, order: np.ndarray, tentative: Any = ()) -> None:
        self.tokens, self.order, self.tentative = tokens, order, tentative

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def masked(self) -> np.ndarray:
        """Positions without a token, ascending."""
        return np.flatnonzero(self.tokens < 0)

    @property
    def given(self) -> np.ndarray:
        """Positions of the prompt, ascending."""
        held = self.tokens >= 0
        held[self.order] = False
        return np.flatnonzero(held)
