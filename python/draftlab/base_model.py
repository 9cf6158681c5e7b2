"""`dl.Model`: a stateless model, always right; `dl.CachedModel`: one that keeps keys and values."""

from typing import Any, Dict, List, Tuple

import numpy as np

from draftlab.models import Question


class Model:
    """A model without memory: each question's nodes are laid out as rows of a batch.

    Set `vocabulary`, `mask` and `view`, and define `logits`. `view` says what the network is:

    - "bidirectional": an asked position holds `mask`, and its own row answers it;
    - "causal": logits at a position tell the next one's token (every position before an asked one
      must hold a token).
    """

    view = "bidirectional"
    mask: Any = None
    vocabulary = 0
    longest = 0
    forms = ("committed", "chain", "branches")

    def logits(
        self, ids: np.ndarray, allowed: np.ndarray, positions: np.ndarray, asked: Any
    ) -> Any:
        """`ids` [rows, L] int64; `allowed` [rows, L, L] bool, whether a position sees another;
        `positions` [rows, L] int64; `asked`: (rows, positions), two arrays that index a [rows, L,
        V] array. Returns [asked, V] float32, numpy or torch."""
        raise NotImplementedError(f"{type(self).__name__} defines no logits")

    def answer(self, questions: List[Question]) -> Any:
        layout = Layout(self.view, 0 if self.mask is None else int(self.mask))
        for question in questions:
            layout.add(question)
        ids, allowed, positions, asked = layout.arrays()
        return self.logits(ids, allowed, positions, asked)


class Layout:
    """Rows for a stateless forward: every asked node of every question, up to the last position
    that an asked one sees."""

    def __init__(self, view: str, mask: int) -> None:
        if view not in ("bidirectional", "causal"):
            raise ValueError(f"view = {view} is neither bidirectional nor causal")
        self.view, self.mask = view, mask
        # Each row has its ids and what they may see.
        self.rows: List[Tuple[np.ndarray, np.ndarray]] = []
        self.ends: List[int] = []  # The ends of the rows.
        self.asked: List[Tuple[int, int]] = []

    def add(self, question: Question) -> None:
        before = len(self.rows)
        if self.view == "causal":
            self._causal(question)
        elif question.view == "causal":
            self._one_by_one(question)
        else:
            self._bidirectional(question)
        question.rows = max(1, len(self.rows) - before)
        question.positions = sum(self.ends[before:])

    def _row(self, ids: np.ndarray, allowed: np.ndarray) -> int:
        self.rows.append((ids, allowed))
        self.ends.append(1)
        return len(self.rows) - 1

    def _ask(self, row: int, position: int) -> None:
        self.asked.append((row, position))
        seen = np.flatnonzero(self.rows[row][1][position])
        self.ends[row] = max(self.ends[row], int(seen[-1]) + 1)

    def _bidirectional(self, question: Question) -> None:
        """One row a node: everything up to the end of a position's block is seen."""
        block = question.block_of()
        seen = block[None, :] <= block[:, None]
        rows: Dict[int, int] = {}
        for node, position in question.asked:
            if node not in rows:
                rows[node] = self._row(question.tokens(node, self.mask), seen)
            self._ask(rows[node], position)

    def _one_by_one(self, question: Question) -> None:
        """The causal view of a bidirectional network, which is that of blocks of one position: the
        current block is seen from the left only, and an asked position has a row of its own."""
        length = question.canvas.length
        left = np.tri(length, dtype=bool)
        block = question.block_of()
        rows: Dict[Tuple[int, int], int] = {}
        for node, position in question.asked:
            if (node, position) not in rows:
                ids = question.tokens(node, self.mask)
                ids[position] = self.mask
                finished = block < block[position]
                whole = block[None, :] <= block[:, None]
                allowed = np.where(finished[:, None], whole, left)
                rows[node, position] = self._row(ids, allowed)
            self._ask(rows[node, position], position)

    def _causal(self, question: Question) -> None:
        """One row a node; what is asked is answered by the position before it."""
        left = np.tri(question.canvas.length, dtype=bool)
        rows: Dict[int, int] = {}
        for node, position in question.asked:
            if node not in rows:
                rows[node] = self._row(question.tokens(node, self.mask), left)
            known = question.canvas.tokens.copy()
            for each in question.path(node):
                known[each.position] = each.token
            if position == 0 or (known[:position] < 0).any():
                raise ValueError(
                    f"a causal model was asked position {position}, before which something is "
                    "unknown; decode left to right, with a token at position 0"
                )
            self._ask(rows[node], position - 1)

    def arrays(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Rows of one length: shorter ones are padded, and padding sees itself alone."""
        longest = max(self.ends, default=1)
        count = len(self.rows)
        ids = np.full((count, longest), self.mask, dtype=np.int64)
        allowed = np.zeros((count, longest, longest), dtype=bool)
        allowed[:, np.arange(longest), np.arange(longest)] = True
        for row, (its, seen) in enumerate(self.rows):
            end = min(len(its), self.ends[row])
            ids[row, :end] = its[:end]
            allowed[row, :end, :end] = seen[:end, :end]
        positions = np.broadcast_to(np.arange(longest), (count, longest))
        asked = np.array(self.asked, dtype=np.int64).reshape(-1, 2)
        return ids, allowed, positions, (asked[:, 0], asked[:, 1])


class CachedModel:
    """A model that keeps keys and values of each sequence.

    Before every question the package calls, in this order and only where there is something:

    - `truncate(sequence, length)`: what is cached from the `length`-th entry on was contradicted;
    - `extend(sequence, tokens, positions)`: these were committed, in this order.

    Then `ask(sequence, question)` returns [asked, vocabulary] float32; what it computes of drafted
    nodes must leave the cache as it was (`crop`-able caches are cropped). `forget(sequence)` ends a
    sequence. Entries are the prompt's tokens by position, then generated ones in the order of their
    commitment: the order of `Sequence`'s promises (core/README.md).
    """

    mask: Any = None
    vocabulary = 0
    longest = 0
    forms = ("committed", "chain")

    def truncate(self, sequence: int, length: int) -> None:
        raise NotImplementedError

    def extend(self, sequence: int, tokens: List[int], positions: List[int]) -> None:
        raise NotImplementedError

    def ask(self, sequence: int, question: Question) -> Any:
        raise NotImplementedError

    def answer(self, questions: List[Question]) -> Any:
        kept: Dict[int, List[Tuple[int, int]]] = self.__dict__.setdefault("_kept", {})
        answers = []
        for question in questions:
            canvas = question.canvas
            places = [*canvas.given.tolist(), *canvas.order.tolist()]
            now = [(position, int(canvas.tokens[position])) for position in places]
            old = kept.get(question.sequence, [])
            same = 0
            while same < min(len(old), len(now)) and old[same] == now[same]:
                same += 1
            if same < len(old):
                self.truncate(question.sequence, same)
            if same < len(now):
                new = now[same:]
                self.extend(question.sequence, [t for _, t in new], [p for p, _ in new])
            kept[question.sequence] = now
            question.rows, question.positions = 1, len(now) - same + len(question.nodes)
            answers.append(np.asarray(self.ask(question.sequence, question), dtype=np.float32))
        return np.concatenate([each.reshape(-1, self.vocabulary) for each in answers])

    def forget(self, sequence: int) -> None:
        self.__dict__.setdefault("_kept", {}).pop(sequence, None)
