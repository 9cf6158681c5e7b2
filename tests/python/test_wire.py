"""What crosses the wire: laws that a part computed are arrays, received arrays may be written to, a
memo comes back to the router that made it, and what cannot be sent or read is a sentence."""

import pytest
from conftest import BLOCKS, ORDERED, ROOT

LAWS = """
import numpy as np
import draftlab as dl

def laws(answer):
    return HOW

@dl.drafter("laws")
class Laws:
    asks = ["committed"]

    def propose(self, step):
        step.canvas.tokens[:] = 7  # These are arrays of the part's own.
        answer = yield step.ask(step.window[: step.decode.draft_length])
        drawn = laws(answer)
        tokens = yield step.draw(drawn)
        return dl.Proposal.path(tokens, drawn_from=drawn, raw=answer, positions=step.window)
"""
HANDLES = "[law.drawn() for law in answer]"
ROWS = "[np.multiply(row, 4, out=row) for row in (law.drawn().numpy() for law in answer)]"
NARROW = f"[np.round(row * 256).astype(np.float32) for row in {ROWS}]"


def test_laws_that_a_part_computed_are_drawn_from_as_those_of_draftlab(program):
    path = program.write("a.ini", ORDERED)
    for name, how in (("handles", HANDLES), ("rows", ROWS)):
        program.write("laws.py", LAWS.replace("HOW", how))
        words = ["--plugin", "laws.py", "--drafter", "laws", "--out", f"{name}.h5"]
        program.ok("run", path, *words)
    program.same("handles.h5", "rows.h5", "run_libraries", "draft_drawn", "draft_accept")


@pytest.mark.parametrize("how", [ROWS, NARROW, f"np.stack({ROWS})"])
def test_a_certificate_holds_for_laws_of_either_precision(program, how):
    program.write("laws.py", LAWS.replace("HOW", how))
    file = str(ROOT / "configs/certify/assd/assd-self-k3.ini")
    words = ["--plugin", "laws.py", "--drafter", "laws", "--certify.worst_nfe", 0]
    assert ": holds" in program.ok("certify", file, *words, timeout=100)


MEMO = """
import numpy as np
import draftlab as dl

@dl.router("memo")
class Memo:
    def __init__(self):
        self.seen = 0

    def decide(self, step):
        return dl.Route(step.span.length > 1, flip=0.25, memo=[step.step, step.masked, np.pi])

    def observe(self, canvas, route, verdict):
        assert route.memo.tolist()[2] == np.pi and route.memo[0] >= self.seen
        assert route.memo[1] == len(canvas.masked) + len(verdict.commits)
        route.memo[:] = 0  # It may be written to.
        self.seen += 1
"""


def test_a_memo_comes_back_to_the_router_that_made_it(program):
    program.write("memo.py", MEMO)
    path = program.write("a.ini", BLOCKS)
    program.ok("run", path, "--plugin", "memo.py", "--router", "memo", "--out", "a.h5")
    fault = program.write("memo.py", MEMO.replace("np.pi]", "3.0]")) and program.fails(
        76, "run", path, "--plugin", "memo.py", "--router", "memo", "--out", "b.h5"
    )
    assert "AssertionError" in fault and "memo.py" in fault


def test_a_memo_is_no_part_of_a_state(program):
    """A certificate walks and merges as much as it does without one."""
    file = str(ROOT / "configs/certify/assd/assd-self-k3.ini")
    said = []
    for text in (MEMO, MEMO.replace(", memo=[step.step, step.masked, np.pi]", "")):
        body = text.split("    def observe")[0]
        program.write("memo.py", body + "    def state(self):\n        return ''\n")
        words = ["--plugin", "memo.py", "--router", "memo", "--certify.worst_nfe", 0]
        said.append(program.ok("certify", file, *words, timeout=100).split("seconds")[0])
    assert said[0] == said[1] and " merged" in said[0]


ROUTER = """
import numpy as np
import draftlab as dl
from draftlab import calls

@dl.router("bad")
class Bad:
    def decide(self, step):
        BODY
"""


@pytest.mark.parametrize("body, expected", [
    ("return dl.Route(None)", "Route.verify is None, and True or False is due"),
    ("return dl.Route(True, score='x')", "Route.score is 'x', and a number is due"),
    ("return dl.Route(True, flip=None)", "Route.flip is None, and a number is due"),
    ("return dl.Route(True, context=2**100)", "Route.context is 12676506002282294014967032053"),
    ("return dl.Route(True, context=2**40)", "and a whole number of 32 bits is due"),
    ("return dl.Route(True, memo=[[1.0]])", "Route.memo has the shape (1, 1), and a row"),
    ("raise ValueError('\\\\ud800')", "ValueError: \\\\ud800 at bad.py"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt at bad.py"),
    ("raise SystemExit(3)", "SystemExit: 3 at bad.py"),
    ("yield step", "decide yields something; only propose and judge may ask and draw"),
    ("calls.Worker.reply = staticmethod(lambda *_: ({'r': 7}, None))",
     "answered {\"r\":7}, which docs/WIRE.md does not allow: a list or a map is wanted where"),
    ("calls.Worker.reply = staticmethod(lambda *_: ({'r': ['x', 0, 0, 0, None]}, None))",
     "which docs/WIRE.md does not allow: type must be boolean, but is string"),
    ("calls.Worker.reply = staticmethod(lambda *_: ({'r': [True]}, None))", "a list is too short"),
    ("calls.Worker.reply = staticmethod(lambda *_: ({'s': 1}, None))", "key 'r' not found"),
])  # fmt: skip
def test_what_a_router_must_not_say_is_one_sentence(program, body, expected):
    program.write("bad.py", ROUTER.replace("BODY", body.replace("\\\\", "\\")))
    path = program.write("a.ini", BLOCKS)
    fault = program.fails(76, "run", path, "--plugin", "bad.py", "--router", "bad")
    assert "router 'bad' (bad.py)" in fault and expected.replace("\\\\", "\\") in fault, fault
    for raw in ("Traceback", "json.exception", "msgpack", "draftlab/calls.py"):
        assert raw not in fault, fault


IDLE = """
import draftlab as dl

@dl.unmasker("idle")
class Idle:
    def choose(self, step, proposal):
        return []

    def top_up(self, step, proposal, verdict):
        return []
"""


def test_a_step_that_commits_nothing_names_the_part(program):
    program.write("idle.py", IDLE)
    path = program.write("a.ini", BLOCKS)
    words = ["--plugin", "idle.py", "--unmasker", "idle", "--router", "never"]
    fault = program.fails(76, "run", path, *words)
    assert "unmasker 'idle' (idle.py) commits nothing in step 0, for which drafter" in fault
