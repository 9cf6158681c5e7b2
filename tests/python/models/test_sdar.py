"""SDAR in numpy commits the tokens that the C++ model commits in f32."""

import numpy as np
import pytest
from conftest import ROOT

from draftlab import Trace

CONFIG = ROOT / "configs/base/arithmetic.ini"
PLUGIN = ROOT / "examples/python/sdar_numpy.py"
CHECKPOINT = ROOT / "data/checkpoints/arithmetic"


def decoded(program, out, problems, *words):
    program.ok("run", CONFIG, "--limit", problems, "--out", out, *words, timeout=7200)
    return Trace(program.folder / out)


def differences(ours, theirs):
    """(sample, token, how near the tie was) of the first token of each sample that differs."""
    found = []
    for index, (one, other) in enumerate(zip(ours, theirs)):
        left, right = (
            [
                (token["position"], token["id"])
                for step in sample["steps"]
                for token in step["tokens"]
            ]
            for sample in (one, other)
        )
        if left != right:
            at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), len(left))
            tokens = [token for step in one["steps"] for token in step["tokens"]]
            near = [float(tokens[at][name]) for name in ("p", "margin")] if at < len(tokens) else []
            found.append((index, at, near))
    return found


def same(program, model, problems):
    checkpoint = ["--model.block-diffusion.checkpoint", CHECKPOINT]
    theirs = decoded(program, "theirs.h5", problems, *checkpoint)
    named = ["--model", model, f"--model.{model}.checkpoint", CHECKPOINT]
    ours = decoded(program, "ours.h5", problems, "--plugin", PLUGIN, *named)
    assert len(ours) == len(theirs) == problems
    assert differences(ours, theirs) == []
    for column in ("token_p", "token_q"):
        assert np.nanmax(np.abs(ours[column] - theirs[column])) < 1e-4
    # Recorded with 12 bits of mantissa, of which rounding may change the last.
    entropies = (each["token_entropy"] for each in (ours, theirs))
    np.testing.assert_allclose(*entropies, rtol=2.0**-12, atol=1e-4)
    for column in ("sample_nfe_draft", "sample_nfe_verify", "step_accepted"):
        assert (ours[column] == theirs[column]).all()


def test_it_commits_what_the_original_commits(program):
    same(program, "sdar-cached", 1)


@pytest.mark.long
@pytest.mark.parametrize("model", ["sdar-numpy", "sdar-cached"])
def test_it_commits_what_the_original_commits_on_a_hundred_problems(program, model):
    same(program, model, 100)
