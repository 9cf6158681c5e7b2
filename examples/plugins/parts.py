"""A router and a drafter in Python, for `--plugin examples/plugins/parts.py`."""

import draftlab as dl


@dl.router("long-spans-py")
class LongSpans:
    """Verify spans of at least `span` tokens."""

    span: int = dl.option(2, low=1, high=4096, help="Shortest span worth verifying, in tokens.")

    def decide(self, step):
        return step.span.length >= self.span


@dl.drafter("few-at-once")
class FewAtOnce:
    """The target drafts up to `most` tokens independently in one forward."""

    most: int = dl.option(4, low=1, high=64, help="Tokens drafted a step.")
    asks = ["committed"]

    def propose(self, step):
        positions = step.window[: self.most]
        answer = yield step.ask(positions)
        drawn = [law.drawn() for law in answer]
        tokens = yield step.draw(drawn, positions)
        # The first draft is the target's own draw, so that no test is needed for it.
        return dl.Proposal.path(tokens, drawn_from=drawn, raw=answer, exact=1)
