"""A run says when a part draws random numbers of its own, or falsely calls drafts the target's own
draws; of parts that do neither it says nothing."""

import pytest
from conftest import BLOCKS, ORDERED, ROOT

ROUTER = """
import random
import numpy as np
import draftlab as dl

generator = np.random.default_rng(0)

@dl.router("bad")
class Bad:
    def __init__(self):
        self.mine = random.Random(1)

    def state(self):
        return ""

    def decide(self, step):
        return BODY
"""


@pytest.mark.parametrize("draw, source", [
    ("random.random() < 0.5", "random"),
    ("bool(np.random.rand() < 0.5)", "numpy.random"),
    ("bool(generator.random() < 0.5)", "generator"),
    ("self.mine.random() < 0.5", "self.mine"),
])  # fmt: skip
def test_a_router_that_draws_numbers_of_its_own_is_named(program, draw, source):
    program.write("bad.py", ROUTER.replace("BODY", draw))
    path = program.write("a.ini", BLOCKS)
    done = program.run("run", path, "--plugin", "bad.py", "--router", "bad", "--out", "a.h5")
    assert done.returncode == 0, done.stderr
    said = f"router 'bad' (bad.py) drew random numbers of its own in decide ({source}): no seed"
    assert done.stderr.count(said) == 1, done.stderr


DRAFTER = """
import numpy as np
import draftlab as dl

@dl.drafter("bad")
class Bad:
    asks = ["committed"]

    def propose(self, step):
        law = np.full(step.vocabulary, 1.0)
        BODY
        return dl.Proposal.path(tokens, drawn_from=laws, positions=step.window[:1], exact=1)
"""


@pytest.mark.parametrize("body, expected", [
    ("yield step.ask(step.window[-1:])\n        laws = [law]\n"
     "        tokens = yield step.draw(laws)",
     "calls its first draft the target's own draw (`exact`), and did not ask the target for the"),
    ("answer = yield step.ask(step.window[:1])\n        laws = [law]\n"
     "        tokens = yield step.draw(laws)",
     "calls its first draft the target's own draw (`exact`), and drew it with probability 0.25"),
    ("answer = yield step.ask(step.window[:1])\n        laws = [law.drawn() for law in answer]\n"
     "        tokens = yield step.draw(laws)", ""),
])  # fmt: skip
def test_a_drafter_that_calls_its_drafts_exact_falsely_is_named(program, body, expected):
    program.write("bad.py", DRAFTER.replace("BODY", body))
    path = program.write("a.ini", ORDERED)
    done = program.run("run", path, "--plugin", "bad.py", "--drafter", "bad", "--out", "a.h5")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("drafter 'bad' (bad.py) " + expected) == bool(expected), done.stderr
    assert expected or "bad.py" not in done.stderr


@pytest.mark.parametrize("file, part", [
    ("examples/plugins/parts.py", ["--drafter", "few-at-once", "--router", "long-spans-py"]),
    ("examples/python/learning.py", ["--drafter", "two-rounds", "--router", "learned-gain"]),
])  # fmt: skip
def test_nothing_is_said_of_honest_parts(program, file, part):
    path = program.write("a.ini", ORDERED)
    done = program.run("run", path, "--plugin", ROOT / file, *part, "--out", "a.h5")
    assert done.returncode == 0, done.stderr
    assert "of its own" not in done.stderr and "exact" not in done.stderr
