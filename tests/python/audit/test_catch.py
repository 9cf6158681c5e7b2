"""Numbers that a sampler draws by itself are caught where they come from."""

import random as python_random

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.catch import answered_by, scripted
from draftlab.audit.faults import SamplerFault
from draftlab.audit.walk import Budget, walk
from parts import inverse, residual

made_before = np.random.default_rng(3)


def law(function):
    def episode(random):
        with answered_by(random):
            return (function(),)

    with scripted(globals()):
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
])
def test_caught(function, wanted):
    assert law(function) == pytest.approx(wanted, abs=1e-9)


def test_what_cannot_be_answered_is_named():
    with pytest.raises(SamplerFault, match="vonmises"):
        law(lambda: np.random.default_rng().vonmises(0, 1))


def test_outside_of_an_audit_everything_draws_as_ever():
    np.random.seed(5)
    wanted = np.random.rand(3)
    with scripted():
        np.random.seed(5)
        assert np.array_equal(np.random.rand(3), wanted)
        assert 0 <= python_random.random() < 1
    assert isinstance(np.random.default_rng(0), np.random.Generator)


def test_torch_is_caught():
    torch = pytest.importorskip("torch")

    @dl.sampler("torch", drafts=2, tensors="torch")
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
