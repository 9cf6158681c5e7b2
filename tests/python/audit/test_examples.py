"""Every published fault is called biased, every correction is not: the promise of an audit."""

import importlib
import json
import math

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.judge import Plan, draw
from draftlab.audit.run import toys_of
from draftlab.audit.sampler import sampler_of, samplers_of
from conftest import ROOT

VERDICTS = json.loads((ROOT / "examples" / "audits" / "verdicts.json").read_text())
FILES = sorted({name.split(":")[0] for name in VERDICTS})
SAMPLED = ("shared-gumbel-noise", "hidden-generator", "torch-race")


def slow(names):
    """Those in torch take minutes, and are judged under the label of long audits."""
    mark = pytest.mark.long
    return [pytest.param(n, marks=mark) if n.startswith("torch") else n for n in names]


def samplers_in(file):
    """The samplers of an example; those in torch are skipped where it is not installed."""
    if file.startswith("torch"):
        pytest.importorskip("torch")
    return samplers_of(importlib.import_module(file))


def sampler_named(name):
    file, wanted = name.split(":")
    return next(made for made in samplers_in(file) if made.name == wanted)


@pytest.mark.parametrize("torch", [False, True])
def test_every_sampler_of_every_example_has_a_verdict(torch):
    files = [path.stem for path in (ROOT / "examples" / "audits").glob("*.py")]
    found = {f"{file}:{made.name}" for file in files if file.startswith("torch") == torch
             for made in samplers_in(file)}
    assert found == {name for name in VERDICTS if name.startswith("torch") == torch}


@pytest.mark.parametrize(
    "name", slow(n for n in VERDICTS if not n.split(":")[1].startswith(SAMPLED)))
def test_verdict(name):
    report = dl.audit(sampler_named(name), seconds=600)
    assert report.verdict == VERDICTS[name], str(report)


def toy_named(sampler, name):
    return next(toy for toy in toys_of(sampler, "quick") if toy.name == name)


@pytest.mark.parametrize(
    "name", slow(n for n in VERDICTS if n.split(":")[1].startswith(SAMPLED)))
def test_verdict_of_what_can_only_be_drawn(name):
    sampler = sampler_named(name)
    found = draw(sampler, toy_named(sampler, "two residual tokens"), Plan(0.02, 600, 1))
    assert found.verdict == VERDICTS[name]
    assert found.drawn.detectable <= 0.02 or found.verdict == "biased"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", [n for n in VERDICTS if n.split(":")[1].startswith(SAMPLED)])
def test_verdict_at_full_power(name, seed):
    sampler = sampler_named(name)
    found = draw(sampler, toy_named(sampler, "two residual tokens"), Plan(0.005, 3600, seed))
    assert found.verdict == VERDICTS[name]
    assert found.drawn.detectable <= 0.005 or found.verdict == "biased"


def shared_noise_law(p, q):
    """The law of a draft and a replacement that are drawn with one noise; two residual tokens.

    The race of exponentials E_x / w_x: that token a won with q at time m leaves the others' times
    at q_x m + fresh ones, and m is exponential with mean 1.
    """
    p, q = np.array(p), np.array(q)
    rest = np.maximum(p - q, 0)
    b, c = np.flatnonzero(rest)
    law = np.minimum(p, q)
    rejected = np.maximum(q - p, 0).sum()
    r = rest / rest.sum()
    if q[c] / r[c] < q[b] / r[b]:
        b, c = c, b
    of_c = r[c] / (1 + r[b] * (q[c] / r[c] - q[b] / r[b]))
    law[c] += rejected * of_c
    law[b] += rejected * (1 - of_c)
    return law


def test_the_published_frequencies_are_those_of_the_shared_noise():
    sampler = sampler_of(importlib.import_module("shared_gumbel_noise").SharedNoise)
    toy = toy_named(sampler, "two residual tokens")
    assert toy.target(()) == pytest.approx([0.1, 0.6, 0.3])
    law = shared_noise_law(toy.target(()), toy.draft(()))
    published = np.array([0.1016, 0.6304, 0.2680])
    # 131,072 draws were published; 13.8 is passed with probability 0.001 at two degrees of freedom.
    assert 131072 * ((published - law) ** 2 / law).sum() < 13.8
    found = draw(sampler, toy, Plan(0.02, 600, 5))
    (token,) = found.event.tokens
    # The first token's probability is right, and the others' are off by as much.
    assert token in (1, 2)
    assert found.event.target == pytest.approx(toy.target(())[token])
    error = math.sqrt(law[token] * (1 - law[token]) / found.runs)
    assert abs(found.event.found - law[token]) < 4 * error
    assert abs(found.event.found - published[token]) < 4 * math.hypot(error, 0.0013)


def test_the_smallest_case_and_its_two_probabilities():
    report = dl.audit(importlib.import_module("shared_uniform").shared_uniform, seconds=600)
    assert report.shown.toy.name == "two residual tokens"
    # P(1) = 0.25 + the part of u in (2/11, 1) whose inverse is token 1, u < 7/9 of the residual.
    wanted = 0.25 + 0.55 * (7 / 9 - 2 / 11)
    assert report.shown.event.found == pytest.approx(wanted, abs=1e-9)
    assert report.shown.event.target == pytest.approx(0.6)
