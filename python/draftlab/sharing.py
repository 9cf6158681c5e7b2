"""The models of a server: one of each name and options for all clients, so that a model is on the
GPU once, and what clients ask at the same time is one forward."""

import itertools
import json
import threading
from types import SimpleNamespace
from typing import Any, Dict, List, Optional

import numpy as np

from draftlab import instances, models, parts


class _Waiting:
    """The questions of one client, and what they are answered."""

    def __init__(self, questions: List[models.Question]) -> None:
        self.questions = questions
        self.given: Any = None
        self.error: Optional[BaseException] = None
        self.done = False


class Shared:
    """One model. Whoever has the turn answers everybody who waits. Two clients would otherwise take
    turns for ever, each asking while the other is answered; so who has the turn gives the others
    `gather` seconds to ask, too."""

    def __init__(self, model: Any, gather: float) -> None:
        self.model, self.gather = model, gather
        self._turn, self._queue = threading.Lock(), threading.Condition()
        self._waiting: List[_Waiting] = []
        self._decoding = 0  # How many clients are in the middle of a sample.
        self._machine: Optional[Dict[str, Any]] = None
        self.forwards = 0

    def load(self, machine: Dict[str, Any]) -> None:
        """Loads it for the first client; another one may not want another device or type."""
        with self._turn:
            if self._machine is None:
                if callable(getattr(self.model, "load", None)):
                    self.model.load(SimpleNamespace(**machine))
                self._machine = machine
            for key in ("device", "dtype"):
                if machine[key] != self._machine[key]:
                    raise parts.ConfigError(
                        f"the model is loaded with {key} = {self._machine[key]}, and a client "
                        f"asks for {machine[key]}; serve it once more for that"
                    )

    def answer(self, questions: List[models.Question]) -> Any:
        mine = _Waiting(questions)
        with self._queue:
            self._waiting.append(mine)
            self._queue.notify_all()
        with self._turn:
            if not mine.done:
                with self._queue:
                    self._queue.wait_for(lambda: len(self._waiting) >= self._decoding, self.gather)
                    those, self._waiting = self._waiting, []
                self._forward(those)
        if mine.error is not None:
            raise mine.error
        return mine.given

    def _forward(self, those: List[_Waiting]) -> None:
        try:
            self._divide(those)
        except Exception as error:
            if len(those) > 1:  # Nobody fails because of another client's question.
                for each in those:
                    self._forward([each])
                return
            those[0].error = error
        for each in those:
            each.done = True

    def _divide(self, those: List[_Waiting]) -> None:
        self.forwards += 1
        given = self.model.answer([question for each in those for question in each.questions])
        if len(those) == 1:
            those[0].given = given
            return
        weights = isinstance(given, models.Weights)
        rows = given.weights if weights else given
        counts = [sum(len(question.asked) for question in each.questions) for each in those]
        if len(rows) != sum(counts):
            raise ValueError(f"answered {sum(counts)} positions with {len(rows)} rows")
        ends = np.cumsum(counts).tolist()
        for each, count, end in zip(those, counts, ends):
            part = rows[end - count : end]
            each.given = models.Weights(part) if weights else part

    def decodes(self, change: int) -> None:
        """One client more, or less, is in the middle of a sample."""
        with self._queue:
            self._decoding += change
            self._queue.notify_all()

    def forget(self, sequences: List[int]) -> None:
        forget = getattr(self.model, "forget", None)
        if not callable(forget):
            return
        with self._turn:
            for sequence in sequences:
                forget(sequence)


_numbers = itertools.count(1)


class Handle:
    """A shared model as one connection sees it: its sequences have numbers of their own there."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self._sequences: Dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shared.model, name)

    def load(self, machine: Any) -> None:
        self.shared.load(vars(machine))

    def answer(self, questions: List[models.Question]) -> Any:
        if not self._sequences:
            self.shared.decodes(+1)
        for question in questions:
            if question.sequence not in self._sequences:
                self._sequences[question.sequence] = next(_numbers)
            question.sequence = self._sequences[question.sequence]
        return self.shared.answer(questions)

    def forget(self, sequence: int) -> None:
        if sequence in self._sequences:
            self._forget([sequence])

    def close(self) -> None:
        """The client is gone, perhaps without a word."""
        self._forget(list(self._sequences))

    def _forget(self, sequences: List[int]) -> None:
        gone = [self._sequences.pop(sequence) for sequence in sequences]
        if gone and not self._sequences:
            self.shared.decodes(-1)
        self.shared.forget(gone)


class SharedModels:
    """The models that a server has made so far."""

    def __init__(self, gather: float) -> None:
        self.gather = gather  # A client's question waits so many seconds for those of the others.
        self._models: Dict[str, Shared] = {}

    def take(self, header: Dict[str, Any]) -> Handle:
        key = json.dumps([header["name"], header["options"]], sort_keys=True)
        if key not in self._models:
            self._models[key] = Shared(instances.create(header), self.gather)
        return Handle(self._models[key])
