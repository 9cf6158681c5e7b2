"""Numbers that a sampler draws by itself are caught where they come from."""

import contextlib
import os
import random as python_random
import secrets
import time
import types
import uuid
from random import random as taken_by_name

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.asked import whole
from draftlab.audit.catch import answered_by, scripted
from draftlab.audit.faults import SamplerFault
from draftlab.audit.numbers import Drawn
from draftlab.audit.walk import Budget, walk
from parts import inverse, residual

made_before = np.random.default_rng(3)
held = types.SimpleNamespace(own=np.random.default_rng(4), several=[python_random.Random(5)],
                             system=python_random.SystemRandom(), method=made_before.random)


def law(function):
    def episode(random):
        with answered_by(random):
            return (function(),)

    with scripted(function, globals()):
        return {key[0]: mass for key, mass in walk(episode, Budget(100_000, 60)).law.items()}


@pytest.mark.parametrize("function, wanted", [
    (lambda: int(np.random.rand() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(np.random.random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(np.random.uniform(1, 3) < 1.5), {0: 0.75, 1: 0.25}),
    (lambda: int(np.random.choice(3, p=[0.2, 0.3, 0.5])), {0: 0.2, 1: 0.3, 2: 0.5}),
    (lambda: int(np.argmax(np.random.multinomial(1, [0.2, 0.8]))), {0: 0.2, 1: 0.8}),
    (lambda: int(np.random.default_rng().choice(2, p=[0.1, 0.9])), {0: 0.1, 1: 0.9}),
    (lambda: int(np.random.RandomState(0).randint(2)), {0: 0.5, 1: 0.5}),
    (lambda: int(made_before.random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(np.random.exponential() < np.log(2)), {0: 0.5, 1: 0.5}),
    (lambda: int(np.random.binomial(1, 0.2)), {0: 0.8, 1: 0.2}),
    (lambda: int(np.random.normal() < 0), {0: 0.5, 1: 0.5}),
    (lambda: int(python_random.random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: python_random.choices([0, 1], [1, 3])[0], {0: 0.25, 1: 0.75}),
    (lambda: python_random.randint(0, 1), {0: 0.5, 1: 0.5}),
    (lambda: python_random.Random(5).choice([0, 1]), {0: 0.5, 1: 0.5}),
    (lambda: int(np.random.permutation(2)[0]), {0: 0.5, 1: 0.5}),
    (lambda: int(np.random.Generator(np.random.PCG64()).random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(np.random.default_rng(np.random.default_rng()).random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(np.random.MT19937().random_raw() < 2**30), {0: 0.75, 1: 0.25}),
    (lambda: np.random.bytes(1)[0] // 128, {0: 0.5, 1: 0.5}),
    (lambda: int(np.random.randn() < 0), {0: 0.5, 1: 0.5}),
    (lambda: int(python_random.SystemRandom().random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: secrets.randbelow(10) // 7, {0: 0.7, 1: 0.3}),
    (lambda: secrets.choice([0, 0, 1]), {0: 2 / 3, 1: 1 / 3}),
    (lambda: int(secrets.randbits(40) < 2**38), {0: 0.75, 1: 0.25}),
    (lambda: secrets.token_bytes(1)[0] // 192, {0: 0.75, 1: 0.25}),
    (lambda: os.urandom(1)[0] // 192, {0: 0.75, 1: 0.25}),
    (lambda: int(uuid.uuid4().int < 2**126), {0: 0.75, 1: 0.25}),
    (lambda: int(taken_by_name() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(held.own.random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(held.several[0].random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(held.system.random() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda: int(held.method() < 0.3), {0: 0.7, 1: 0.3}),
    (lambda own=np.random.RandomState(6): int(own.rand() < 0.3), {0: 0.7, 1: 0.3}),
])
def test_caught(function, wanted):
    assert law(function) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("function", [lambda: np.random.default_rng().vonmises(0, 1),
                                      lambda: np.random.vonmises(0, 1)])
def test_what_cannot_be_answered_is_named(function):
    with pytest.raises(SamplerFault, match="drew from numpy.random.vonmises"):
        law(function)


def test_what_a_sampler_holds_is_put_back():
    before = dict(vars(held)), held.several[0], made_before
    law(lambda: int(held.own.random() < 0.3))
    assert (dict(vars(held)), held.several[0], made_before) == before
    assert isinstance(held.own, np.random.Generator)


def test_a_large_whole_number_has_all_its_bits():
    with answered_by(Drawn(1)):
        lowest = [whole(0, 1 << 64) & 1 for _ in range(400)]
        large = [whole(0, 3 << 70) for _ in range(400)]
    assert 140 < sum(lowest) < 260
    assert 90 < sum(value < 1 << 70 for value in large) < 180 and max(large) < 3 << 70
    assert 140 < sum(value & 1 for value in large) < 260


def test_a_caught_generator_counts_as_one():
    with scripted():
        made = np.random.Generator(np.random.PCG64(1))
        assert isinstance(made, np.random.Generator)
        assert isinstance(np.random.RandomState(1), np.random.RandomState)
        assert not isinstance(3, np.random.Generator)
    out = np.empty(3)
    with scripted(), answered_by(Drawn(1)):
        np.random.default_rng().random(out=out)
    assert len(set(out)) == 3


def test_outside_of_an_audit_everything_draws_as_ever():
    np.random.seed(5)
    wanted = np.random.rand(3)
    with scripted():
        np.random.seed(5)
        assert np.array_equal(np.random.rand(3), wanted)
        assert 0 <= python_random.random() < 1
    assert isinstance(np.random.default_rng(0), np.random.Generator)


def torch_laws():
    """Functions of torch that make numbers, each with the probability of 1."""
    torch = pytest.importorskip("torch")
    own, empty = torch.Generator(), torch.empty
    return torch, [
        (lambda: torch.rand(2, generator=own)[1] < 0.25, 0.25),
        (lambda: torch.rand(size=(1,))[0] < 0.25, 0.25),
        (lambda: torch.rand(1, out=empty(1))[0] < 0.25, 0.25),
        (lambda: torch.randn(1, generator=own)[0] < 0, 0.5),
        (lambda: torch.randn_like(empty(2))[0] < 0, 0.5),
        (lambda: torch.normal(1.0, torch.ones(2))[0] < 1, 0.5),
        (lambda: torch.randint(4, (1,), generator=own)[0] < 1, 0.25),
        (lambda: torch.randint(high=8, low=4, size=(1,))[0] < 5, 0.25),
        (lambda: torch.randint_like(empty(1), 2, 6)[0] < 3, 0.25),
        (lambda: torch.randperm(4, generator=own)[0] < 1, 0.25),
        (lambda: empty(1).normal_(1, 2, generator=own)[0] < 1, 0.5),
        (lambda: empty(1).log_normal_(0, 1)[0] < 1, 0.5),
        (lambda: empty(1).cauchy_()[0] < -1, 0.25),
        (lambda: empty(1).geometric_(0.25)[0] < 2, 0.25),
        (lambda: empty(1).random_(4)[0] < 1, 0.25),
        (lambda: empty(1).random_()[0] < 2**22, 0.25),
        (lambda: empty(1).bernoulli_(0.25, generator=own)[0], 0.25),
        (lambda: empty(2).bernoulli_(torch.tensor([1.0, 0.25]))[1], 0.25),
        (lambda: torch.bernoulli(torch.tensor([0.25]), generator=own)[0], 0.25),
        (lambda: torch.bernoulli(empty(1), 0.25)[0], 0.25),
        (lambda: torch.multinomial(torch.tensor([3.0, 1.0]), 1, generator=own)[0], 0.25)]


def test_the_functions_of_torch_are_caught():
    torch, cases = torch_laws()
    for at, (function, wanted) in enumerate(cases):
        found = law(lambda: int(function()))
        assert found == pytest.approx({0: 1 - wanted, 1: wanted}, abs=1e-6), at
    dropout = torch.nn.functional.dropout
    for function, name in ((lambda: torch.poisson(torch.ones(1)), "torch.poisson"),
                           (lambda: dropout(torch.ones(1)), "functional.dropout")):
        with pytest.raises(SamplerFault, match=name):
            law(function)
    assert law(lambda: int(dropout(torch.ones(1), training=False)[0])) == {1: 1.0}


def sampler_with(uniform):
    @dl.sampler("hidden", drafts=1)
    def verify(target, drawn_from, drafts):
        x = drafts[0]
        if uniform() < target[0][x] / drawn_from[0][x]:
            return [x, inverse(target[1], uniform())]
        return [inverse(residual(target[0], drawn_from[0]), uniform())]

    return verify


class Xorshift:
    """A generator whose state is out of reach."""

    def __init__(self):
        self.state = memoryview(bytearray(b"12345678"))

    def random(self):
        number = int.from_bytes(self.state, "big") * 6364136223846793005 + 1 & 2**64 - 1
        self.state[:] = number.to_bytes(8, "big")
        return number / 2**64


def test_what_is_drawn_from_unseen_is_named():
    hidden = [(lambda: time.perf_counter_ns() % 1009 / 1009, "the clock (time.perf_counter_ns)"),
              (Xorshift().random, "nothing that it can see")]
    with contextlib.suppress(ModuleNotFoundError):
        import torch

        unseen = torch.ops.aten.multinomial
        hidden.append((lambda: (float(unseen(torch.ones(64), 1)) + 0.5) / 64,
                       "torch's default generator"))
    for uniform, name in hidden:
        report = dl.audit(sampler_with(uniform), seconds=0.1, seed=1)
        assert report.verdict in ("not shown", "biased")
        assert report.sources[0].startswith(name)
        assert f"draws from       {name}" in str(report)
        assert report.to_dict()["draws_from"] == report.sources
    assert not dl.audit(sampler_with(taken_by_name), seconds=0.1, seed=1).sources


def test_torch_is_caught():
    torch = pytest.importorskip("torch")

    @dl.sampler("torch", drafts=1, tensors="torch")
    def verify(target, drawn_from, drafts):
        for i, x in enumerate(drafts.tolist()):
            if torch.rand(()) >= target[i, x] / drawn_from[i, x]:
                rest = torch.clamp(target[i] - drawn_from[i], min=0)
                return drafts[:i].tolist() + [torch.multinomial(rest, 1).item()]
        return drafts.tolist() + [torch.multinomial(target[-1], 1).item()]

    assert dl.audit(verify, seconds=600).verdict == "exact"


@pytest.mark.parametrize("race", [
    lambda rest: np.argmin(np.random.exponential(size=len(rest)) / rest),
    lambda rest: np.argmax(np.log(rest) + np.random.gumbel(size=len(rest))),
    lambda rest: (rest / np.random.standard_exponential(len(rest))).argmax(),
    lambda rest: np.argmax(np.log(rest) - np.log(-np.log(np.random.rand(len(rest)) + 1e-20))),
])
def test_a_race_that_is_caught_is_walked(race):
    @dl.sampler("race", drafts=1)
    def verify(target, drawn_from, drafts):
        x = drafts[0]
        if np.random.rand() < target[0][x] / drawn_from[0][x]:
            return [x, inverse(target[1], np.random.rand())]
        return [int(race(residual(target[0], drawn_from[0])))]

    report = dl.audit(verify, seconds=60)
    assert report.verdict == "exact", str(report)
    assert any(found.races for found in report.findings)


def test_hidden_numbers_are_no_leaking_state():
    """A generator that cannot be caught answers the same case in two ways from the same state."""
    import draws_by_itself as example
    from draftlab.audit.probes import draws_by_itself
    from draftlab.audit.run import toys_of
    from draftlab.audit.sampler import samplers_of

    hidden = next(made for made in samplers_of(example) if made.name == "hidden-generator")
    caught = next(made for made in samplers_of(example) if made.name == "numpy-generator")
    with scripted(*[function.__globals__ for function in caught.functions()]):
        assert draws_by_itself(hidden, toys_of(hidden, "quick")[0])
        assert not draws_by_itself(caught, toys_of(caught, "quick")[0])
