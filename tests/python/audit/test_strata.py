"""What cannot be walked is drawn from in strata, and the bounds hold for what is drawn so."""

import math
from collections import Counter

import numpy as np
import pytest

from draftlab.audit import sampled
from draftlab.audit.sampled import Plan, sample
from draftlab.audit.strata import Grid, InCell, grid, influence
from draftlab.audit.toys import Toy, _fixed

BORDER = 0.3
MASS = BORDER - BORDER * math.log(BORDER)  # This is the probability that u v < 0.3.


def product(random):
    """A border that bends: no bisection finds its law."""
    return (int(random.uniform() * random.uniform() >= BORDER),)


def toy(first):
    return Toy("known", 2, 0, _fixed([first, 1 - first]), _fixed([first, 1 - first]))


def drawn(episode, first, detectable=0.01, seed=0):
    return sample(episode, toy(first), 1, Plan(detectable, 60.0, seed))


def test_every_cell_is_entered_and_its_numbers_lie_in_it():
    cells = Grid((2, 3), 2)
    random = InCell(1)
    seen = Counter()
    for cell in cells:
        random.enter(cells.parts, cell)
        u, v = random.uniform(), random.uniform(2)[0]
        seen[int(u * 2), int(v * 3)] += 1
    assert cells.cells == 12 and set(seen.values()) == {2} and len(seen) == 6


def test_numbers_behind_those_of_the_grid_are_free():
    random = InCell(1)
    seen = set()
    for _ in range(200):
        random.enter((10,), (7,))
        values = random.uniform(3)
        assert 0.7 <= values[0] < 0.8
        seen.add(int(values[1] * 10))
    assert len(seen) == 10


def test_what_changes_nothing_is_not_divided():
    def episode(random):
        random.uniform()
        return (int(random.uniform() < 0.5),)

    found = influence(episode, 3)
    assert found[0] == 0 and found[1] > 0.3
    assert grid(found, 100) == Grid((1, 100) + (1,) * 6, 1)


@pytest.mark.parametrize("cells", [1, 7, 100, 1000])
def test_a_grid_has_no_more_cells_than_it_may_have(cells):
    made = grid([0.5, 0.25, 0.0], cells)
    assert made.cells <= cells and made.parts[0] >= made.parts[1] and made.parts[2] == 1


def test_an_exact_law_is_not_biased_and_strata_see_more_than_plain_draws():
    found = drawn(product, MASS)
    assert not found.biased and found.depth == "stratified" and found.detectable <= 0.01
    plain = sampled.Bounds(found.draws // 2, found.draws // 4, math.log(28 / sampled.ALPHA))
    of_plain = plain.mean(np.array([MASS, 1 - MASS])) + 2 * plain.event(plain.log)
    assert found.detectable < of_plain / 2


def test_a_law_that_is_off_by_what_would_be_found_is_found():
    first = drawn(product, MASS)
    off = MASS + first.detectable
    found = [drawn(product, off, seed=seed) for seed in range(8)]
    assert all(each.biased for each in found)
    assert all(each.low <= first.detectable <= each.high for each in found)


def test_an_exact_law_is_called_biased_no_more_often_than_alpha(monkeypatch):
    monkeypatch.setattr(sampled, "ALPHA", 0.5)
    called = [drawn(product, MASS, detectable=0.1, seed=seed).biased for seed in range(60)]
    assert sum(called) <= 30


def test_numbers_that_nobody_sees_are_sampled_and_found_out():
    generator = np.random.default_rng(5)

    def hidden(random):
        return (int(generator.random() >= 0.5),)

    assert drawn(hidden, 0.5, 0.05).depth == "sampled"
    assert not drawn(hidden, 0.5, 0.05).biased
    assert drawn(hidden, 0.6, 0.05).biased
