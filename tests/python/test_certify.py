"""Parts in Python that are each wrong are refused by the certificates into which they fit."""

import pytest
from conftest import ROOT

PARTS = '''
import numpy as np
import draftlab as dl


@dl.verifier("always-argmax")
class AlwaysArgmax:
    """Commits the target's most probable token, whatever was drafted."""

    asks = ["committed"]

    def judge(self, step, proposal, acceptance):
        answer = yield step.ask(step.window[:1], kind="verify")
        token = int(np.argmax(answer[0].numpy()))
        return dl.Verdict([dl.Commit(step.window[0], token, "resampled")], why="wrong_token")


@dl.acceptance("credulous")
class Credulous:
    """Accepts every draft."""

    def probability(self, trial):
        return 1.0

    def replacement(self, trial):
        return trial.target


@dl.drafter("falsely-exact")
class FalselyExact:
    """Drafts evenly, and claims that its drafts are the target's own draws."""

    asks = ["committed"]

    def propose(self, step):
        answer = yield step.ask(step.window[:1])
        even = [np.ones(len(answer[0].numpy()))]
        tokens = yield step.draw(even, step.window[:1])
        return dl.Proposal.path(tokens, drawn_from=even, exact=1, positions=step.window[:1])


@dl.unmasker("last")
class Last:
    """Commits the token 0 in place of the last draft."""

    def choose(self, step, proposal):
        return dl.Verdict([dl.Commit(proposal.nodes[-1].position, 0)], why="unverified")

    def preview(self, step, proposal):
        return 0


@dl.router("by-token")
class ByToken:
    """Decides by the last drafted token, which is drawn again where the step is not verified."""

    def decide(self, step):
        return bool(step.confidence[-1] < 0.4)
'''

WRONG = [
    ("verifier", "always-argmax", "assd/assd-self-k3"),
    ("verifier", "always-argmax", "speculative/speculative-sampling"),
    ("acceptance", "credulous", "speculative/speculative-sampling"),
    ("acceptance", "credulous", "assd/assd-self-k3"),
    ("drafter", "falsely-exact", "assd/assd-self-k3"),
    ("drafter", "falsely-exact", "speculative/speculative-sampling"),
    ("unmasker", "last", "assd/one-token-unverified"),
    ("router", "by-token", "s2d2/s2d2"),
    ("router", "by-token", "speculative/speculative-sampling-without-bonus"),
]


@pytest.mark.parametrize("kind, part, certificate", WRONG)
def test_a_wrong_part_is_refused(program, kind, part, certificate):
    program.write("wrong.py", PARTS)
    config = ROOT / "configs" / "certify" / f"{certificate}.ini"
    words = ["certify", config, "--plugin", "wrong.py", f"--{kind}", part]
    done = program.run(*words, "--certify.expect", "lossless", "--certify.worst_nfe", 0)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "DOES NOT HOLD" in done.stdout and ": holds" not in done.stdout


def test_the_verifier_under_test_cannot_be_its_own_witness(program):
    program.write("wrong.py", PARTS)
    config = ROOT / "configs" / "certify" / "assd" / "assd-self-k3.ini"
    said = program.fails(78, "certify", config, "--plugin", "wrong.py", "--verifier",
                         "always-argmax", "--reference.verifier", "always-argmax")  # fmt: skip
    assert "a reference is a law" in said
