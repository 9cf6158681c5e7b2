"""Greedy texts of the public model stories260K equal those of llama2.c's program, token by token,
and its certificates hold.

What that program would write is computed by `llama2c.py`, which shares no line with draftlab. The
weights are not part of the project; where they lie beside it, or at DRAFTLAB_DATA, they are read.
"""

import os
from pathlib import Path

import pytest
from conftest import ROOT
from llama2c import Model, Vocabulary, beginnings

from draftlab import Trace

DATA = Path(os.environ.get("DRAFTLAB_DATA", ROOT / ".." / "shared" / "data"))
MODEL = DATA / "real" / "stories260K" / "stories260K.bin"
LENGTH = 257
FILE = ROOT / "data/corpora/beginnings.txt"


@pytest.fixture(scope="module")
def model():
    if not MODEL.exists():
        pytest.skip(f"there is no {MODEL} (set DRAFTLAB_DATA)")
    return Model(MODEL)


@pytest.fixture(scope="module")
def vocabulary(model):
    return Vocabulary(MODEL.parent / "tok512.bin")


def decoded(program, *words):
    checkpoint = ("--model.autoregressive.checkpoint", MODEL)
    preset = ROOT / "configs/models/llama2c.ini"
    (program.folder / "a.h5").unlink(missing_ok=True)
    program.ok("run", preset, *checkpoint, "--out", "a.h5", "--threads", 1, *words, timeout=900)
    return Trace(program.folder / "a.h5")


def tokens_of(sample):
    """What was decoded, up to the token that begins the next text."""
    tokens = [token["id"] for step in sample["steps"] for token in step["tokens"]]
    return tokens[: tokens.index(1)] if 1 in tokens else tokens


def test_the_file_of_beginnings_is_the_seeded_list():
    assert FILE.read_text(encoding="utf-8").splitlines() == beginnings()
    assert len(set(beginnings())) == 100


def test_a_hundred_greedy_texts_equal_those_of_the_program(program, model, vocabulary):
    trace = decoded(program)
    assert len(trace) == 100
    for text, sample in zip(beginnings(), trace):
        given = vocabulary.encode(text)
        assert tokens_of(sample) == model.greedy(given, LENGTH)[len(given) :], text


def test_drafts_leave_the_greedy_text_as_it_is(program, model, vocabulary):
    given = vocabulary.encode("Lily and Tom")
    whole = model.greedy(given, LENGTH)[len(given) :]
    text = ("--task.continuation.text", "Lily and Tom")
    own = ("--drafter.prompt-lookup.full", "false")
    for words in (("prompt-lookup", *own), ("suffix",), ("lookahead",), ("token-recycling",)):
        trace = decoded(program, *text, "--drafter", *words)
        assert tokens_of(trace.sample(0)) == whole, words
        assert len(trace.sample(0)["steps"]) < len(whole)


@pytest.mark.parametrize("config", ["llama2c", "llama2c-drafts"])
def test_the_certificates_of_the_model_hold(program, model, config):
    path = ROOT / f"configs/certify/checkpoints/{config}.ini"
    weights = ["--model.autoregressive.checkpoint", MODEL]
    if config == "llama2c-drafts":
        weights += ["--model.draft.checkpoint", MODEL]
    said = program.ok("certify", path, *weights, timeout=900)
    assert "holds" in str(said) and "does not hold" not in str(said)
