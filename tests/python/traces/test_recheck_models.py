"""With --model, a second program computes the probabilities again: of every kind of the toy, and
of a checkpoint of each family; and it names what was changed."""

import h5py
import numpy as np
import pytest
from conftest import ROOT

from draftlab.recheck import recheck
from draftlab.recheck.laws import shaped

TOY = """
model = table
task = positions
frontier = {frontier}
drafter = {drafter}
verifier = chain
router = always
unmasker = threshold
[model.table]
kind = {kind}
vocabulary = 4
length = 6
[task.positions]
length = 6
prompt = {prompt}
[decode]
draft_length = 3
block_size = 4
temperature = {temperature}
top_p = {top_p}
[run]
samples = 8
"""

TOYS = {
    "joint": {"kind": "joint"}, "ordered": {"kind": "ordered"},
    "views": {"kind": "views", "frontier": "blocks", "drafter": "denoise", "prompt": "0:1"},
    "cold": {"kind": "ordered", "temperature": 0.5}, "nucleus": {"kind": "ordered", "top_p": 0.8},
    "greedy": {"kind": "ordered", "temperature": 0},
}

# A checkpoint of each family, by a config that decodes it.
FAMILIES = {
    "any-subset": (["assd/table8.ini", "--limit", "1"], "probabilities of the target"),
    "block-diffusion": (["s2d2/table9.ini", "--limit", "1", "--run.dtype", "f32"],
                        "probabilities of the target"),
    "masked-diffusion": (["ssd/table3.ini", "--arm", "chain", "--decode.draft_length", "3",
                          "--limit", "1", "--run.dtype", "f32"], "probabilities of the target"),
    "autoregressive": (["assd/table11b.ini", "--drafter", "ngram", "--limit", "1",
                        "--run.dtype", "f32"], "probabilities of the target"),
}
SLOW = ("any-subset", "block-diffusion")


def decoded(program, *words):
    path = f"{program.folder}/a.h5"
    program.ok("run", *words, "--trace.drafts", "all", "--out", path)
    return path


def toy(program, **options):
    usual = {"frontier": "lattice", "drafter": "self", "prompt": "2:1", "temperature": 1,
             "top_p": 1}
    return decoded(program, program.write("a.ini", TOY.format(**{**usual, **options})))


@pytest.mark.parametrize("name", TOYS)
def test_the_toy_is_what_its_trace_says(program, name):
    found = recheck(toy(program, **TOYS[name]), model=True)
    assert found.differ == 0, "\n".join(found.lines())
    for what in ("probabilities of the drafter", "probabilities of the target",
                 "summaries of drafts' laws"):
        assert found.counts[what].agree > 10, what


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in FAMILIES])
def test_a_checkpoint_is_what_its_trace_says(program, name):
    words, what = FAMILIES[name]
    found = recheck(decoded(program, str(ROOT / "configs" / words[0]), *words[1:]), model=True)
    assert found.differ == 0, "\n".join(found.lines())
    assert found.counts[what].agree > 10


def test_the_command_asks_the_models_where_it_is_told_to(program):
    path = toy(program, kind="ordered")
    assert "probabilities of the target" in program.ok("recheck", "--model", path)
    assert "probabilities of the target" not in program.ok("recheck", path)


@pytest.mark.parametrize("column, what", [
    ("draft_q", "probabilities of the drafter"), ("draft_p", "probabilities of the target"),
    ("draft_entropy", "summaries of drafts' laws")])
def test_a_changed_probability_is_named(program, column, what):
    path = toy(program, kind="ordered")
    with h5py.File(path, "r+") as trace:
        rows = np.flatnonzero(np.isfinite(trace[column][:]))
        if column == "draft_p":
            exact = trace["step_exact"][:][trace["draft_step_index"][:]]
            rows = rows[(trace["draft_depth"][:] >= exact)[rows]]
        trace[column][rows[0]] *= 0.99
    found = recheck(path, model=True)
    assert found.counts[what].differ == 1


def test_a_trace_without_prompts_says_so(program):
    config = program.write("a.ini", TOY.format(frontier="lattice", drafter="self", prompt="2:1",
                                               temperature=1, top_p=1, kind="ordered"))
    path = decoded(program, config, "--trace.prompts", "false")
    unknown = recheck(path, model=True).unknown
    assert unknown["samples whose prompts the trace does not hold (trace.prompts)"] == 8


def test_what_is_drawn_from():
    law = np.array([0.5, 0.3, 0.15, 0.05])
    assert shaped(law, 0, 0, 1).tolist() == [1, 0, 0, 0]
    assert shaped(law, 1, 2, 1) == pytest.approx([0.625, 0.375, 0, 0])
    assert shaped(law, 1, 0, 0.8) == pytest.approx([0.625, 0.375, 0, 0])
    squares = law ** 2
    assert shaped(law, 0.5, 0, 1) == pytest.approx(squares / squares.sum())
