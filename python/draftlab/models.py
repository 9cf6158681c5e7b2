"""Models: questions as Python sees them, and how their logits are sent back."""

from types import SimpleNamespace
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from draftlab import instances, values

ROOT = values.ROOT


class Question:
    """What one sequence asks a model.

    `canvas`: what is committed; `nodes`: drafted tokens as a tree on top of it (parent, position,
    token); `asked`: (node, position) pairs in the order in which they are answered, node -1 being
    the committed state; `view` is causal or bidirectional, `kind` what it counts as; `blocks` how
    decoding cuts the canvas. A model sets `rows` and `positions` to what it computed.
    """

    def __init__(self, header: Dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        self.sequence: int = header["sequence"]
        self.kind, self.view, self.shallow = header["kind"], header["view"], header["shallow"]
        self.nodes = [values.Node(*node) for node in header["nodes"]]
        self.asked = [(node, p) for node, positions in header["asks"] for p in positions]
        size, origin, part = header["blocks"]
        self.blocks = SimpleNamespace(size=size, origin=origin, part=part)
        self.canvas = values.Canvas(
            arrays[f"tokens {self.sequence}"],
            arrays[f"order {self.sequence}"],
            header["tentative"],
        )
        self.rows, self.positions = 1, 0

    def path(self, node: int) -> List[values.Node]:
        """The drafted tokens that a node stands on, itself last; none for the committed state."""
        path: List[values.Node] = []
        while node != ROOT:
            path.append(self.nodes[node])
            node = self.nodes[node].parent
        return path[::-1]

    def tokens(self, node: int, mask: int) -> np.ndarray:
        """The canvas with the path to a node filled in, and `mask` where there is no token."""
        tokens = np.where(self.canvas.tokens < 0, mask, self.canvas.tokens).astype(np.int64)
        for each in self.path(node):
            tokens[each.position] = each.token
        return tokens

    def block_of(self) -> np.ndarray:
        """The index of the block of every position: [length] int64."""
        positions = np.arange(self.canvas.length)
        if self.blocks.size == 0:
            return np.zeros_like(positions)
        index = (positions - self.blocks.origin) // self.blocks.size
        return index + (1 if self.blocks.origin > 0 else 0)


class Weights:
    """Probabilities in double precision, up to a factor, instead of logits: [asked, vocabulary]."""

    def __init__(self, weights: Any) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)


_FACTS = {
    "vocabulary": 0,
    "longest": 0,
    "mask": -1,
    "family": "",
    "checkpoint": "",
    "digest": "",
    "parameters": 0,
}


def load(part: Any, machine: Dict[str, Any]) -> Tuple[Any, Any]:
    """Loads a model, and says what it is."""
    if callable(getattr(part, "load", None)):
        part.load(SimpleNamespace(**machine))
    facts: Dict[str, Any] = {
        name: getattr(part, name, default) for name, default in _FACTS.items()
    }
    facts["mask"] = -1 if facts["mask"] is None else int(facts["mask"])
    facts["family"] = facts["family"] or part.draftlab_name
    facts["stops"] = [int(token) for token in getattr(part, "stops", ())]
    return {"r": facts}, None


def _as_floats(given: Any, into: Any, shape: Tuple[int, int]) -> Any:
    """Logits as float32, written into `into` where that is given; torch tensors from any device."""
    if hasattr(given, "detach"):
        import torch

        given = given.detach()
        if into is not None and tuple(given.shape) == shape:
            torch.from_numpy(into).copy_(given)
            return into
        given = given.to("cpu", torch.float32).numpy()
    given = np.asarray(given)
    if into is not None and given.shape == shape:
        np.copyto(into, given, casting="same_kind")
        return into
    return given.astype(np.float32)


def answer(part: Any, header: Dict[str, Any], arrays: Any, lent: Any) -> Tuple[Any, Any]:
    """Answers the questions of a batch: costs in the header, logits in lent memory or behind it."""
    questions = [Question(each, arrays) for each in header["batch"]]
    given = part.answer(questions)
    reply: Dict[str, Any] = {"r": [[int(q.rows), int(q.positions)] for q in questions]}
    if given is None:
        raise instances.wrong("answer", given, "it returns [asked, vocabulary] logits")
    if isinstance(given, Weights):
        return {**reply, "gives": "weights"}, [("weights", given.weights)]
    shape = (sum(len(question.asked) for question in questions), int(part.vocabulary))
    into = None
    if "into" in header and shape[0] > 0:
        into = np.frombuffer(lent[header["into"]], np.float32, shape[0] * shape[1]).reshape(shape)
    logits = _as_floats(given, into, shape)
    if into is not None and logits is into:
        return {**reply, "gives": "shared", "shape": list(shape)}, None
    return {**reply, "gives": "logits"}, [("logits", logits)]


def forget(part: Any, sequence: int) -> None:
    if callable(getattr(part, "forget", None)):
        part.forget(sequence)
