"""The parts that `draftlab bench wire` asks: they do next to nothing, so that the wire is timed."""

import numpy as np

import draftlab as dl
from draftlab.models import Question


@dl.router("wire-bench")
class Router:
    """A comparison, as min-span makes it."""

    def decide(self, step):
        return step.span.length >= 2


@dl.drafter("wire-bench")
class Drafter:
    """Yields so many effects and proposes nothing, or drafts from so many laws of its own."""

    effects: int = dl.option(1, low=0, high=1000, help="Effects that are yielded.")
    laws: int = dl.option(0, low=0, high=64, help="Laws that a step drafts from.")
    vocabulary: int = dl.option(2, low=2, high=10000000, help="Tokens of a law.")

    def __init__(self):
        self.ready = np.random.default_rng(0).random((self.laws, self.vocabulary))

    def state(self):
        return ""

    def propose(self, step):
        if self.laws:
            tokens = yield step.draw(list(self.ready))
            return dl.Proposal.path(tokens, drawn_from=list(self.ready))
        for attempt in range(self.effects):
            yield step.below(0.5, step.window[0], attempt=attempt)
        return dl.Proposal()


@dl.model("wire-bench")
class Model:
    """Logits that are there already."""

    rows: int = dl.option(8, low=1, high=4096, help="Rows of logits.")
    vocabulary: int = dl.option(152000, low=2, high=10000000, help="Tokens.")
    forms = ["committed"]

    def load(self, machine):
        generator = np.random.default_rng(0)
        self.ready = generator.standard_normal((self.rows, self.vocabulary), np.float32)

    def answer(self, questions: "list[Question]"):
        return self.ready
