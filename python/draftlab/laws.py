"""Handles of distributions: they stay in draftlab, and Python asks for what it wants to know."""

import threading
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np


class _Active(threading.local):
    """Each thread has the scope of the call that it answers."""

    scope: Optional["Scope"] = None


active = _Active()


class Scope:
    """What the handles of one call refer to. It ends with the call.

    A call that is made again, to see whether it decides the same, hears the answers of the first
    time as long as it asks the same questions: handles of distributions are then the same, too.
    """

    def __init__(self, ask: Any, number: int, vocabulary: int = 0, twice: bool = False) -> None:
        self._ask, self.number, self.vocabulary = ask, number, vocabulary
        self._twice = twice
        self._heard: List[Tuple[Any, Any]] = []  # The questions and their answers, in order.
        self._again: List[Tuple[Any, Any]] = []  # The questions that a second call has yet to ask.

    def repeat(self) -> None:
        """From here on the call is made again."""
        self._again = list(self._heard)

    def ask(self, question: str, **about: Any) -> Tuple[Any, Any]:
        query = {"q": question, "scope": self.number, **about}
        if self._again and self._again[0][0] == query:
            return self._again.pop(0)[1]
        self._again = []
        header, arrays = self._ask(query)
        if self._twice:
            self._heard.append((query, (header, arrays.copy())))
        return header, arrays


class Distribution:
    """A distribution over token ids, as a model answered it or a drafter drew from it.

    `p[token]` is a probability, `p.top(5)` the most probable tokens, `p.entropy` its entropy in
    nats, `p.numpy()` the whole row. Each of these is one question to draftlab.
    """

    def __init__(self, scope: Scope, ref: Any) -> None:
        self._scope, self.ref = scope, ref
        self._numbers: Optional[np.ndarray] = None

    def __getitem__(self, token: int) -> float:
        header, _ = self._scope.ask("p", of=[self.ref], tokens=[int(token)])
        return header["a"][0]

    def top(self, count: int = 1) -> List[Tuple[int, float]]:
        """The most probable tokens with their probabilities, most probable first."""
        _, arrays = self._scope.ask("top", of=self.ref, n=int(count))
        return list(zip(arrays["tokens"].tolist(), arrays["p"].tolist()))

    def numpy(self) -> np.ndarray:
        """Every probability: [vocabulary] float64, an array of the part's own."""
        return self._scope.ask("row", of=self.ref)[1]["p"]

    def _summary(self) -> np.ndarray:
        if self._numbers is None:
            self._numbers = self._scope.ask("numbers", of=[self.ref])[1]["numbers"][0]
        return self._numbers

    @property
    def max(self) -> float:
        """The largest probability."""
        return float(self._summary()[0])

    @property
    def margin(self) -> float:
        """The largest less the second largest probability."""
        return float(self._summary()[1])

    @property
    def entropy(self) -> float:
        """The entropy in nats."""
        return float(self._summary()[2])

    @property
    def renyi2(self) -> float:
        """The sum of squared probabilities."""
        return float(self._summary()[3])

    def drawn(
        self,
        temperature: Optional[float] = None,
        top_k: Optional[int] = None,
        top_p: Optional[float] = None,
    ) -> "Distribution":
        """Returns what a token is drawn from, after temperature, top-k and top-p; those of the
        config's [decode] hold where none is given."""
        return Distribution(self._scope, ["drawn", self.ref, temperature, top_k, top_p])

    def residual(self, other: "Distribution") -> "Distribution":
        """max(p - q, 0), normalised: what replaces a rejected draft."""
        return Distribution(self._scope, ["residual", self.ref, other.ref])

    def __repr__(self) -> str:
        return f"Distribution({self.ref})"


class Answer:
    """What a model answered: a distribution for each position asked, in the order of asking.

    Raw: at temperature 1, with the mask token removed. `answer[i]` is the i-th, `answer.at(node,
    position)` one of them; iterate over all.
    """

    def __init__(
        self,
        scope: Scope,
        number: int,
        first: int,
        places: Sequence[Tuple[int, int]],
        nodes: Sequence[Sequence[int]] = (),
    ):
        self._scope, self.number = scope, number
        self.nodes = list(nodes)  # [parent, position, token] of each drafted token it was told
        self.places = list(places)  # (node, position); node -1 is the committed state
        self._laws = [Distribution(scope, first + i) for i in range(len(self.places))]

    @property
    def positions(self) -> List[int]:
        return [position for _, position in self.places]

    def __len__(self) -> int:
        return len(self._laws)

    def __getitem__(self, index: int) -> Distribution:
        return self._laws[index]

    def __iter__(self) -> Iterator[Distribution]:
        return iter(self._laws)

    def at(self, node: int, position: int) -> Distribution:
        return self._laws[self.places.index((node, position))]


class Carry:
    """What the last step's answer says of this one (`step.carry`)."""

    def __init__(self, scope: Scope, number: int, node: int, unseen_commits: int) -> None:
        self._scope, self.number = scope, number
        self.node, self.unseen_commits = node, unseen_commits

    def find(self, position: int, node: Optional[int] = None) -> Optional[Distribution]:
        """The distribution of a position at the node where the verdict stopped; None: not asked."""
        header, _ = self._scope.ask(
            "find",
            answer=self.number,
            node=self.node if node is None else node,
            position=int(position),
        )
        return None if header["a"] is None else Distribution(self._scope, header["a"])


Law = Union[Distribution, np.ndarray]


def reference(law: Any) -> Any:
    """Names a distribution on the wire: by a handle, or by weights that Python computed."""
    if isinstance(law, Distribution):
        if law._scope is not active.scope:
            raise ValueError("a distribution of another step was used; it holds for one call only")
        return law.ref
    given = np.asarray(law)
    single = given.dtype == np.float32
    weights = np.array(given, np.float32 if single else np.float64)  # A part may use its own again.
    if weights.ndim != 1:
        raise TypeError("a distribution is a handle, or an array of one weight a token")
    return ["weights", weights]


def references(laws: Any) -> Optional[List[Any]]:
    """Returns what drafts are drawn from, for each distribution of a list or of an answer."""
    if laws is None:
        return None
    if isinstance(laws, Answer):
        return [reference(law.drawn()) for law in laws]
    return [reference(law) for law in laws]
