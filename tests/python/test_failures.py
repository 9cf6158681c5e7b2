"""What a part does wrong ends its sample in one sentence, and leaves nothing running."""

import os
import signal
import subprocess
import time

import pytest
from conftest import BINARIES, BLOCKS, ORDERED, running

HEAD = "import draftlab as dl\n"


def router(body):
    return HEAD + f"@dl.router('bad')\nclass Bad:\n    def decide(self, step):\n        {body}\n"


def drafter(body, asks="['committed']"):
    lines = "\n".join("        " + line for line in body.split("\n"))
    return HEAD + (
        f"@dl.drafter('bad')\nclass Bad:\n    asks = {asks}\n"
        f"    def propose(self, step):\n{lines}\n"
    )


def verifier(carry):
    return HEAD + (
        "@dl.verifier('bad')\nclass Bad:\n    asks = ['committed']\n"
        "    def judge(self, step, proposal, acceptance):\n"
        "        answer = yield step.ask(step.window[:1], kind='verify')\n"
        f"        answer.nodes = {carry[1]}\n"
        "        draft = proposal.nodes[0]\n"
        "        commit = dl.Commit(draft.position, draft.token, 'accepted')\n"
        f"        return dl.Verdict([commit], carry=(answer, {carry[0]}, {carry[2]}))\n"
    )


@pytest.mark.parametrize(
    "text, kind, config, expected",
    [
        (
            router("return 1 / 0"),
            "router",
            BLOCKS,
            "ZeroDivisionError: division by zero at bad.py:5",
        ),
        (router("return 'yes'"), "router", BLOCKS, "decide returned str 'yes'; it returns True"),
        (router("return dl.Route(True, flip=float('nan'))"), "router", BLOCKS,
         "reverses its decision with probability"),
        (router("import os; os._exit(3)"), "router", BLOCKS,
         "router 'bad' (bad.py): its process ended while it was asked something (status 3)"),
        (router("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"), "router", BLOCKS,
         "(killed by signal 9)"),
        (drafter("yield step.ask(step.window[:2], nodes=[(-1, step.window[0], 0)],"
                 " asks=None)"), "drafter", ORDERED,
         "asks a question of the form 'chain', which its `asks` does not declare"),
        (drafter("answer = yield step.ask([99])"), "drafter", ORDERED,
         "asks position 99 of a canvas of 7"),
        (drafter("answer = yield step.ask([2])"), "drafter", ORDERED, "position 2, which is final"),
        (drafter("answer = yield step.ask(step.window[:1], view='bidirectional',"
                 " nodes=[(-1, step.window[1], 0)], asks=None)"), "drafter", ORDERED,
         "asks a question of the form 'branches'"),
        (drafter("answer = yield step.ask(nodes=[(-1, step.window[0], 0)],"
                 " asks=[(0, [step.window[1]])])"), "drafter", ORDERED,
         "asks a question of the form 'chain', which its `asks` does not declare"),
        (drafter("answer = yield step.ask(step.window[:1], model=1)"), "drafter", ORDERED,
         "asks model 1, and there are 1"),
        (drafter("answer = yield step.ask(step.window[:2])\n"
                 "tokens = yield step.draw(answer)\n"
                 "return dl.Proposal.path([0], drawn_from=answer, positions=step.window)"),
         "drafter", ORDERED, "gives 2 distributions for 1 drafts"),
        (drafter("answer = yield step.ask(step.window[:1])\n"
                 "return dl.Proposal.path([77], positions=step.window)"), "drafter", ORDERED,
         "names token 77 of a vocabulary of 4"),
        (drafter("answer = yield step.ask(step.window[:1])\n"
                 "return dl.Proposal.path([0], [[0.5, float('nan'), 0, 0]], "
                 "positions=step.window)"),
         "drafter", ORDERED, "weights of a distribution must be finite"),
        (drafter("answer = yield step.ask(step.window[:1])\n"
                 "return dl.Proposal.path([0], [[0.5, 0.5]], positions=step.window)"),
         "drafter", ORDERED, "over 2 tokens, and the vocabulary has 4"),
        (drafter("yield 7"), "drafter", ORDERED, "propose returned int 7; it may yield what"),
        (drafter("yield step.below(float('nan'), 0)"), "drafter", ORDERED,
         "a probability that is not a number"),
        (drafter("if not hasattr(dl, 'kept'):\n"
                 "    dl.kept = yield step.ask(step.window[:1])\n"
                 "    tokens = yield step.draw(dl.kept)\n"
                 "    return dl.Proposal.path(tokens, dl.kept)\n"
                 "return dl.Proposal.path([0], dl.kept, positions=step.window)"), "drafter",
         ORDERED, "a distribution of another step was used"),
        (verifier((3, [], 0)), "verifier", ORDERED, "stops at node 3 of 0 that it carries"),
        (verifier((-1, [], -1)), "verifier", ORDERED, "a negative number of unseen commits"),
        (verifier((0, [[0, 3, 0]], 0)), "verifier", ORDERED, "a node behind the node 0, which"),
        (verifier((0, [[-1, 3, 9]], 0)), "verifier", ORDERED, "carries token 9 at position 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(program, text, kind, config, expected):
    program.write("bad.py", text)
    path = program.write("a.ini", config)
    fault = program.fails(76, "run", path, "--plugin", "bad.py", f"--{kind}", "bad")
    assert expected in fault, fault
    assert f"{kind} 'bad' (bad.py)" in fault
    assert not os.path.exists(program.folder / "out/a.h5")


def test_an_exception_carries_its_traceback(program):
    text = HEAD + (
        "def deep(step):\n    raise ValueError('too deep')\n"
        "@dl.router('bad')\nclass Bad:\n    def decide(self, step):\n        return deep(step)\n"
    )
    program.write("bad.py", text)
    path = program.write("a.ini", BLOCKS)
    fault = program.fails(76, "run", path, "--plugin", "bad.py", "--router", "bad")
    assert "ValueError: too deep at bad.py:3" in fault
    assert "line 7, in decide" in fault and "line 3, in deep" in fault
    assert "draftlab/calls.py" not in fault


def test_a_part_that_hangs_is_ended(program):
    program.write("bad.py", router("import time; time.sleep(1000)"))
    path = program.write("a.ini", BLOCKS)
    began = time.monotonic()
    fault = program.fails(
        76, "run", path, "--plugin", "bad.py", "--router", "bad", "--python-timeout", "0.5"
    )
    assert "router 'bad' (bad.py) did not answer within 0.5 s" in fault
    assert time.monotonic() - began < 20


def test_options_that_do_not_go_together_are_a_fault_of_the_config(program):
    text = HEAD + (
        "@dl.router('bad')\nclass Bad:\n"
        "    def __init__(self):\n        raise dl.ConfigError('a must be below b')\n"
        "    def decide(self, step):\n        return True\n"
    )
    program.write("bad.py", text)
    path = program.write("a.ini", BLOCKS)
    fault = program.fails(78, "check", path, "--plugin", "bad.py", "--router", "bad")
    assert "a must be below b" in fault


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "import no_such_module\n",
            "ModuleNotFoundError: No module named 'no_such_module' at bad.py:1",
        ),
        ("def f(:\n", "SyntaxError"),
        ("x = 1\n", "has no part"),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4"),
        (HEAD + "@dl.router('bad')\nclass Bad:\n    pass\n", "has no method decide"),
        (HEAD + "@dl.router('bad')\nclass Bad:\n    k: int = dl.option(9, high=3, help='x')\n"
                "    def decide(self, step): pass\n", "option k = 9 is not in"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_a_fault_of_the_config(program, text, expected):
    program.write("bad.py", text)
    fault = program.fails(78, "list", "--plugin", "bad.py")
    assert expected in fault and "bad.py" in fault


def test_a_name_that_is_taken_is_refused(program):
    program.write("bad.py", router("return True").replace("'bad'", "'always'"))
    assert "router 'always' is registered twice" in program.fails(76, "list", "--plugin", "bad.py")


def test_an_interpreter_that_is_not_there_is_named(program):
    program.write("bad.py", router("return True"))
    fault = program.fails(78, "list", "--plugin", "bad.py", "--python", "/no/python")
    assert "--python" in fault


OWN_RANDOMNESS = [
    ("router", BLOCKS, router("import random; return random.random() < 0.5")),
    ("router", BLOCKS, router("dl.n = getattr(dl, 'n', 0) + 1; return dl.n % 2 == 0")),
    ("drafter", ORDERED, drafter(
        "import random\nanswer = yield step.ask(step.window[:1])\n"
        "return dl.Proposal.path([random.randrange(4)], [p.numpy() for p in answer],"
        " positions=step.window)")),
]  # fmt: skip


@pytest.mark.parametrize("kind, config, text", OWN_RANDOMNESS)
def test_randomness_of_its_own_is_found_when_it_is_certified(program, kind, config, text):
    program.write("bad.py", text)
    small = config.replace("length = 7", "length = 4").replace("[run]\nsamples = 60", "")
    path = program.write("a.ini", small)
    fault = program.fails(76, "certify", path, "--plugin", "bad.py", f"--{kind}", "bad")
    assert f"{kind} 'bad' (bad.py)" in fault and "was called twice" in fault


def test_a_decision_that_changes_the_part_is_found_when_it_is_certified(program):
    text = HEAD + (
        "@dl.router('bad')\nclass Bad:\n    def __init__(self):\n        self.seen = 0\n"
        "    def decide(self, step):\n        self.seen += 1\n        return True\n"
        "    def observe(self, canvas, route, verdict):\n        pass\n"
    )
    program.write("bad.py", text)
    config = BLOCKS.replace("[run]\nsamples = 60", "")
    path = program.write("a.ini", config)
    fault = program.fails(76, "certify", path, "--plugin", "bad.py", "--router", "bad")
    assert "decide changed what the part keeps" in fault


UNIFORM = "[[1.0] * step.vocabulary]"
TOY = """@dl.model('bad')
class Bad(dl.Model):
    vocabulary, mask, view, asked = 4, 3, 'bidirectional', 0
    def logits(self, ids, allowed, positions, asked):
        import numpy as np
        self.asked += 1
        {body}
        return made
"""


def test_an_exact_draft_without_a_question_is_a_fault(program):
    """Nobody has the target's draws who has not asked for its law."""
    program.write("bad.py", drafter(
        f"tokens = yield step.draw({UNIFORM}, step.window[:1])\n"
        f"return dl.Proposal.path(tokens, {UNIFORM}, positions=step.window[:1], exact=1)"
    ))  # fmt: skip
    path = program.write("a.ini", ORDERED)
    fault = program.fails(76, "run", path, "--plugin", "bad.py", "--drafter", "bad")
    assert "drafter 'bad' (bad.py) calls 1 drafts exact, and the target was not asked" in fault


def test_a_drafter_that_claims_another_law_than_it_drew_from_is_not_certified(program):
    """One draft does not show it, so a run goes on; the walk over all outcomes does."""
    program.write("bad.py", drafter(
        "answer = yield step.ask(step.window[:1])\n"
        f"tokens = yield step.draw({UNIFORM}, step.window[:1])\n"
        "return dl.Proposal.path(tokens, answer, positions=step.window[:1])"))  # fmt: skip
    config = ORDERED.replace("length = 7", "length = 5").replace("[run]\nsamples = 60", "")
    path = program.write("a.ini", config)
    done = program.run("certify", path, "--plugin", "bad.py", "--drafter", "bad")
    assert done.returncode == 1 and "DOES NOT HOLD" in done.stdout, done.stdout + done.stderr


def test_a_state_that_is_not_declared_is_found_when_states_are_merged(program):
    """It drafts one or two tokens by how many drafts were kept, of which its state says nothing."""
    text = drafter(
        "count = min(1 + self.kept % 2, len(step.window))\n"
        "laws = [[1.0] * step.vocabulary] * count\n"
        "tokens = yield step.draw(laws, step.window[:count])\n"
        "return dl.Proposal.path(tokens, laws, positions=step.window[:count])",
        asks="[]",
    )
    text += (
        "    def __init__(self):\n        self.kept = 0\n"
        "    def state(self):\n        return ''\n"
        "    def observe(self, canvas, route, verdict):\n"
        "        self.kept += sum(each.source == 'accepted' for each in verdict.commits)\n"
    )
    program.write("bad.py", text)
    config = ORDERED.replace("length = 7", "length = 5").replace("[run]\nsamples = 60", "")
    path = program.write("a.ini", config)
    done = program.run("certify", path, "--plugin", "bad.py", "--drafter", "bad")
    assert done.returncode in (70, 76), done.stdout + done.stderr
    assert "leaves something out of its state()" in done.stderr


def toy(program, body):
    program.write("bad.py", HEAD + TOY.format(body=body))
    config = ORDERED.replace("length = 7", "length = 5").replace("[run]\nsamples = 60", "")
    config = config.replace("model = table", "model = bad")
    config = config.replace("[model.table]\nkind = ordered\nvocabulary = 4\nlength = 5\n", "")
    config = "frontier = left-to-right\n" + config.replace("prompt = 2:1", "prompt = 0:1")
    return program.write("a.ini", config)


def test_a_model_whose_answers_change_is_found_when_it_is_certified(program):
    path = toy(program, "made = np.full((len(asked[0]), 4), self.asked % 3 * np.eye(4)[0], 'f4')")
    fault = program.fails(65, "certify", path, "--plugin", "bad.py")
    assert "the model 'bad' answered one question about position" in fault
    program.ok("run", path, "--plugin", "bad.py", "--out", "a.h5")  # A run does not ask twice.


def test_a_model_whose_vocabulary_changes_is_a_fault(program):
    body = "self.vocabulary = 4 + self.asked // 3\n"
    path = toy(program, body + "        made = np.zeros((len(asked[0]), self.vocabulary), 'f4')")
    fault = program.fails(76, "run", path, "--plugin", "bad.py")
    assert "model 'bad' (bad.py) answers" in fault and "of 4 tokens with an array of shape" in fault


def task(prompt, score="1.0"):
    return HEAD + (
        "@dl.task('bad')\nclass Bad:\n    asked = 0\n"
        "    def __len__(self):\n        return 2\n"
        f"    def prompt(self, index):\n        self.asked += 1\n        return {prompt}\n"
        f"    def score(self, *of):\n        return {{'good': {score}}}\n"
    )


GOOD = "dl.Prompt(f'p{index}', 5, given=[(0, 1)])"


@pytest.mark.parametrize("text, expected", [
    (task("dl.Prompt(f'p{index}', 5, given=[(0, self.asked % 3)])"),
     "hands out another prompt 0 ('p0') than before"),
    (task("dl.Prompt('p', -5, given=[])"), "has a canvas of -5 in prompt 'p'"),
    (task("dl.Prompt('p', 5, given=[(5, 1)])"), "gives position 5 of a canvas of 5"),
    (task("dl.Prompt('p', 5, given=[(1, 1), (1, 2)])"), "gives position 1 of a canvas of 5"),
    (task("dl.Prompt('p', 5, given=[(1, -7)])"), "has token -7 in prompt 'p'"),
    (task("dl.Prompt('p', 5, given=[(1, 1)], ends=[-2])"), "has token -2 in prompt 'p'"),
    (task(GOOD, "float('inf')"), "scores a text by good = inf"),
])  # fmt: skip
def test_a_task_that_lies_is_named(program, text, expected):
    program.write("bad.py", text)
    config = ORDERED.replace("task = positions", "task = bad").replace("length = 7", "length = 5")
    path = program.write("a.ini", config.replace("[task.positions]\nlength = 5\nprompt = 2:1", ""))
    fault = program.fails(76, "run", path, "--plugin", "bad.py", "--out", "a.h5")
    assert f"task 'bad' (bad.py) {expected}" in fault, fault
    assert not (program.folder / "a.h5").exists()


def test_a_cell_that_fails_leaves_the_sweep_going(program):
    text = HEAD + (
        "@dl.router('bad')\nclass Bad:\n    span: int = dl.option(1, low=0, high=9, help='x')\n"
        "    def decide(self, step):\n        if self.span == 2:\n            import os\n"
        "            os._exit(1)\n        return True\n"
    )
    program.write("bad.py", text)
    path = program.write(
        "a.ini", "router = bad\n" + BLOCKS + "[sweep]\nrouter.bad.span = 1, 2, 3\n"
    )
    done = program.run("sweep", path, "--plugin", "bad.py", "--out", "s", "--jobs", 1)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 done" in done.stdout and "1 failed" in done.stdout
    assert "its process ended" in done.stdout


def test_a_program_that_is_killed_takes_its_python_with_it(program):
    program.write("bad.py", router("import time; time.sleep(1000)"))
    path = program.write("a.ini", BLOCKS)
    started = subprocess.Popen(
        [str(BINARIES / "draftlab"), "run", path, "--plugin", "bad.py", "--router", "bad"],
        cwd=program.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(400):
        if len(running()) == 2:
            break
        time.sleep(0.05)
    assert len(running()) == 2  # These are the program and its worker.
    started.send_signal(signal.SIGKILL)
    started.wait()
