"""What parts see of a step: numbers for routers and estimators, a step that can ask and draw for
drafters and verifiers."""

from types import SimpleNamespace
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from draftlab import laws, values


class Span(NamedTuple):
    first: int
    length: int  # How many drafts a chain may judge.


class Block(NamedTuple):
    """Of the current block, in positions."""

    index: int  # type: ignore[assignment]  # Tuples have a method of this name.
    size: int
    given: int
    masked: int


class Numbers:
    """What routers and estimators see: numbers of the drafted span.

    `confidence`, `margin`, `entropy` (nats), `renyi2`: [drafts] float64, of the whole proposal;
    its first `drafts` are those of the span. `spread`, `surprise`, `deviation`: of drafts that are
    vectors, what their trajectories show; empty where drafts are ids. `masked`: positions left,
    `progress`: the share of generated positions that is committed, `preview`: confident drafts
    (N_hi), `expected`: the accepted prefix that the chosen estimator expects, NaN without one.
    """

    __slots__ = (
        "sequence span block step length masked vocabulary progress preview expected _columns"
    ).split()

    def __init__(self, header: Dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        n = header["step"]
        self.sequence = n[0]
        self.span = Span(n[1], n[2])
        self.block = Block(n[3], n[4], n[5], n[6])
        self.step, self.length, self.masked, self.vocabulary = n[7], n[8], n[9], n[10]
        self.progress, self.preview, self.expected = n[11], n[12], n[13]
        self._columns = arrays

    @property
    def confidence(self) -> np.ndarray:
        return self._columns["confidence"]

    @property
    def margin(self) -> np.ndarray:
        return self._columns["margin"]

    @property
    def entropy(self) -> np.ndarray:
        return self._columns["entropy"]

    @property
    def renyi2(self) -> np.ndarray:
        return self._columns["renyi2"]

    @property
    def spread(self) -> np.ndarray:
        return self._columns.get("spread", np.empty(0))

    @property
    def surprise(self) -> np.ndarray:
        return self._columns.get("surprise", np.empty(0))

    @property
    def deviation(self) -> np.ndarray:
        return self._columns.get("deviation", np.empty(0))

    @property
    def drafts(self) -> int:
        """Drafts of the span: the leading ones of each array."""
        return min(self.span.length, len(self.entropy))


class Ask:
    """A question for a model, to be yielded."""

    def __init__(self, effect: Dict[str, Any]) -> None:
        self.effect = effect

    def result(self, scope: laws.Scope, value: Any) -> laws.Answer:
        places = [(node, p) for node, positions in self.effect["asks"] for p in positions]
        return laws.Answer(scope, value[0], value[1], places, self.effect["nodes"])


class Draw:
    """Random numbers at addresses, to be yielded."""

    def __init__(self, effect: Dict[str, Any], single: bool) -> None:
        self.effect, self.single = effect, single

    def result(self, scope: laws.Scope, value: Any) -> Any:
        if self.single:
            return value[0]
        if self.effect["do"] == "draw":
            return values.Drafts(value, self.effect["at"])
        return value


class Step:
    """One step as drafters, verifiers and unmaskers see it.

    `window`: positions that may be filled, in the order of commitment, the first `span` of which a
    chain may judge; `canvas`; `decode`: the config's section (temperature, draft_length, ...);
    `carry`: what the last step's answer says of this one, or None. Effects are yielded:
    `ask`, `draw`, `below`, `normal`.
    """

    def __init__(
        self, header: Dict[str, Any], arrays: Mapping[str, np.ndarray], part: Any, scope: Any
    ):
        n = header["step"]
        self.sequence, self.clock, self.vocabulary, self.span, self.block = n[:5]
        self.boundary, self.blocks = n[5], SimpleNamespace(size=n[6], origin=n[7], part=n[8])
        self.window: List[int] = arrays["window"].tolist()
        self.canvas = canvas_of(header, arrays)
        self.decode = part.decode
        self.scope = scope
        carry = header.get("carry")
        self.carry = None if carry is None else laws.Carry(scope, *carry)

    # A drafter or verifier yields what these methods return.

    def ask(
        self,
        positions: Optional[Sequence[int]] = None,
        *,
        nodes: Sequence[Sequence[int]] = (),
        asks: Optional[Sequence[Any]] = None,
        kind: str = "draft",
        view: str = "causal",
        shallow: bool = False,
        model: int = 0,
    ) -> Ask:
        """A question; yields an Answer.

        `positions` are asked at the committed state. With `nodes` (parent, position, token), a
        tree of drafted tokens, `asks` lists (node, positions) instead. `kind` is draft or verify
        (what it counts as), `view` causal or bidirectional, `model` 0 the target, 1 the draft
        model. The class's `asks` declares the forms: committed, chain, branches, shallow.
        """
        if (positions is None) == (asks is None):
            raise TypeError("step.ask takes positions, or asks=[(node, positions), ...]")
        if asks is None:
            asks = [(values.ROOT, positions)]
        return Ask(
            {
                "do": "ask",
                "kind": kind,
                "view": view,
                "shallow": bool(shallow),
                "model": int(model),
                "nodes": [[int(n) for n in node] for node in nodes],
                "asks": [[int(node), [int(p) for p in those]] for node, those in asks],
            }
        )

    def draw(
        self,
        law: Any,
        positions: Any = None,
        *,
        purpose: str = "draft",
        attempt: int = 0,
        by_state: bool = False,
    ) -> Draw:
        """Tokens, drawn in draftlab at the positions' addresses; yields Drafts.

        `law`: an Answer (its distributions as [decode] shapes them, at its positions), a list of
        distributions (at the window's first positions, or at `positions`), or one distribution and
        one position, which yields one token. `by_state` addresses a draw by how much is committed,
        as stepwise decoding does.
        """
        single = isinstance(law, laws.Distribution)
        if single:
            law, positions = [law], [positions]
        if positions is None:
            positions = law.positions if isinstance(law, laws.Answer) else self.window[: len(law)]
        effect = self._random("draw", positions, purpose, attempt, by_state)
        effect["of"] = laws.references(law)
        return Draw(effect, single)

    def below(
        self, probability: Any, positions: Any, *, purpose: str = "accept", attempt: int = 0
    ) -> Draw:
        """Whether a uniform number at each position's address is below a probability."""
        single = np.ndim(probability) == 0
        if single:
            probability, positions = [probability], [positions]
        effect = self._random("below", positions, purpose, attempt, False)
        effect["p"] = [float(p) for p in probability]
        return Draw(effect, single)

    def normal(self, positions: Any, *, purpose: str = "noise", attempt: int = 0) -> Draw:
        """A standard normal number at each position's address."""
        single = np.ndim(positions) == 0
        where = [positions] if single else positions
        return Draw(self._random("normal", where, purpose, attempt, False), single)

    @staticmethod
    def _random(
        what: str, positions: Sequence[int], purpose: str, attempt: int, by_state: bool
    ) -> Dict[str, Any]:
        return {
            "do": what,
            "at": [int(p) for p in positions],
            "purpose": purpose,
            "attempt": int(attempt),
            "by_state": bool(by_state),
        }


class Drafted:
    """A proposal as verifiers and unmaskers see it: `nodes`, and the distribution each was drawn
    from (None: point masses) and the model's own (None: it has none)."""

    def __init__(
        self, header: Dict[str, Any], arrays: Mapping[str, np.ndarray], scope: Any
    ) -> None:
        self.nodes = [values.Node(*row) for row in arrays["nodes"].tolist()]
        self.exact, self.lookahead = header["exact"], header["lookahead"]
        self._scope = scope
        self.drawn_from = self._laws(header["drawn_from"])
        self.raw = self._laws(header["raw"])

    def _laws(self, first: Optional[int]) -> Optional[List[laws.Distribution]]:
        if first is None:
            return None
        return [laws.Distribution(self._scope, first + i) for i in range(len(self.nodes))]

    def numbers(self, of: str = "raw") -> Dict[str, np.ndarray]:
        """Of every draft: the token's probability, max, margin, entropy (nats), renyi2, in one
        question each; `of` is raw or drawn_from. Without distributions: 1, 1, 1, 0, 1."""
        those = self.raw if of == "raw" and self.raw is not None else self.drawn_from
        count = len(self.nodes)
        if not those:
            one, zero = np.ones(count), np.zeros(count)
            return dict(probability=one, max=one, margin=one, entropy=zero, renyi2=one)
        refs = [law.ref for law in those]
        tokens = [node.token for node in self.nodes]
        probability = np.array(self._scope.ask("p", of=refs, tokens=tokens)[0]["a"])
        table = self._scope.ask("numbers", of=refs)[1]["numbers"]
        return dict(
            probability=probability,
            max=table[:, 0],
            margin=table[:, 1],
            entropy=table[:, 2],
            renyi2=table[:, 3],
        )


class Trial:
    """A drafted token under judgement: `p` and `q` are its probabilities under the target and
    under what it was drawn from; `target`, `raw`, `drawn_from` (None: a point mass) are handles."""

    def __init__(self, trial: Sequence[Any], scope: laws.Scope) -> None:
        self.token, self.p, self.q, self.depth, self.vocabulary = trial[:5]
        self._scope = scope
        self.target = laws.Distribution(scope, trial[5])
        self.raw = laws.Distribution(scope, trial[6])
        self.drawn_from = None if trial[7] is None else laws.Distribution(scope, trial[7])

    def point(self) -> laws.Distribution:
        """All mass at the drafted token."""
        return laws.Distribution(self._scope, ["point", self.token, self.vocabulary])

    def residual(self) -> laws.Distribution:
        """max(p - q, 0), normalised."""
        return self.target.residual(self.drawn_from or self.point())


class Judge:
    """The config's acceptance rule, as a verifier asks it."""

    def __init__(self, scope: laws.Scope) -> None:
        self._scope = scope

    def _ask(
        self, what: str, token: int, target: Any, drawn_from: Any, depth: int, raw: Any
    ) -> Any:
        return self._scope.ask(
            what,
            token=int(token),
            target=target.ref,
            drawn=None if drawn_from is None else drawn_from.ref,
            depth=int(depth),
            raw=(target if raw is None else raw).ref,
        )[0]["a"]

    def probability(
        self, token: int, target: Any, drawn_from: Any = None, depth: int = 0, raw: Any = None
    ) -> float:
        """With which a draft is accepted."""
        return self._ask("accept", token, target, drawn_from, depth, raw)

    def replacement(
        self, token: int, target: Any, drawn_from: Any = None, depth: int = 0, raw: Any = None
    ) -> Optional[laws.Distribution]:
        """What replaces it where it is rejected; None: nothing does."""
        ref = self._ask("replace", token, target, drawn_from, depth, raw)
        return None if ref is None else laws.Distribution(self._scope, ref)


def canvas_of(header: Dict[str, Any], arrays: Mapping[str, np.ndarray]) -> values.Canvas:
    return values.Canvas(arrays["tokens"], arrays["order"], arrays.get("tentative", ()))


def outcome_of(header: Dict[str, Any], arrays: Mapping[str, np.ndarray]) -> values.Verdict:
    """The verdict that `observe` and `top_up` see."""
    commits = [
        values.Commit(position, token, values.SOURCES[source])
        for position, token, source in arrays["commits"].tolist()
    ]
    judged = [
        values.Judged(a, b, c, bool(d), bool(e)) for a, b, c, d, e in arrays["judged"].tolist()
    ]
    return values.Verdict(commits, header["why"], judged)
