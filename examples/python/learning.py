"""Two routers that learn, and a drafter that asks twice a step."""

import numpy as np

import draftlab as dl


@dl.router("learned-gain")
class LearnedGain:
    """Verify spans of a length that has given at least `worth` tokens so far, in the mean."""

    rate: float = dl.option(0.2, low=0, high=1, help="Weight of the newest step in the mean.")
    worth: float = dl.option(2.0, low=0, high=64, help="Tokens that a verification must commit.")

    def __init__(self):
        self.gain = {}  # by length of the span; what is not known yet is hoped for

    def decide(self, step):
        gain = self.gain.get(step.span.length, float(step.span.length))
        return dl.Route(gain >= self.worth, score=gain, context=step.span.length)

    def observe(self, canvas, route, verdict):
        if route.verify:
            gain = self.gain.get(route.context, float(route.context))
            self.gain[route.context] = gain + self.rate * (len(verdict.commits) - gain)


@dl.router("predicted-gain")
class PredictedGain:
    """Verify where a linear model, learnt from the steps so far, expects `worth` tokens."""

    worth: float = dl.option(2.0, low=0, high=64, help="Tokens that a verification must commit.")

    def __init__(self):
        self.moments = np.eye(3)  # of what was seen; at first each draft of a span is hoped for
        self.gains = np.array([0.0, 1.0, 0.0])

    def decide(self, step):
        seen = np.array([1.0, step.span.length, step.entropy[: step.drafts].sum()])
        expected = float(np.linalg.solve(self.moments, self.gains) @ seen)
        return dl.Route(expected >= self.worth, score=expected, memo=seen)

    def observe(self, canvas, route, verdict):
        if route.verify:
            self.moments += np.outer(route.memo, route.memo)
            self.gains += len(verdict.commits) * route.memo


@dl.drafter("two-rounds")
class TwoRounds:
    """Draft `first` tokens in one forward, and `second` more, which know these, in another."""

    first: int = dl.option(2, low=1, high=64, help="Tokens of the first question.")
    second: int = dl.option(2, low=0, high=64, help="Tokens of the second question.")
    asks = ["committed", "chain"]

    def propose(self, step):
        positions = step.window[: self.first]
        answer = yield step.ask(positions)
        raw = list(answer)
        tokens = yield step.draw(answer)
        positions = step.window[self.first : self.first + self.second]
        if positions:
            path = dl.Proposal.path(tokens).nodes
            answer = yield step.ask(nodes=path, asks=[(len(path) - 1, positions)])
            raw += answer
            tokens = tokens + (yield step.draw(answer))
        drawn = [law.drawn() for law in raw]
        return dl.Proposal.path(tokens, drawn_from=drawn, raw=raw, exact=1)
