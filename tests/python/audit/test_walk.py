"""Choices are enumerated, thresholds bisected, and what is neither is refused."""

import numpy as np
import pytest

from draftlab.audit.faults import TooLarge
from draftlab.audit.walk import Budget, walk


def law(episode, **options):
    return walk(episode, Budget(options.pop("runs", 200_000), 60), **options).law


def test_choices_have_their_probabilities():
    def episode(random):
        if random.below(0.25):
            return (random.draw([1, 0, 3]),)
        return (7, int(random.below(0.5)))

    assert law(episode) == pytest.approx({(0,): 0.0625, (2,): 0.1875, (7, 0): 0.375, (7, 1): 0.375})


def test_thresholds_are_found_to_the_last_digits():
    def episode(random):
        u = random.uniform()
        if u < 1 / 3:
            return (0,)
        v, w = random.uniform(2)
        return (1, int(v > 0.1)) if w < 0.7 else (2,)

    found = law(episode)
    assert found[0,] == pytest.approx(1 / 3, abs=1e-10)
    assert found[1, 0] == pytest.approx(2 / 3 * 0.07, abs=1e-10)
    assert found[2,] == pytest.approx(0.2, abs=1e-10)


@pytest.mark.parametrize("rare", [1e-2, 1e-3, 1e-5])
def test_a_border_is_found_that_matters_where_a_later_number_is_rare(rare):
    def episode(random):
        early = random.uniform()
        choice = random.draw([1, 2, 1])
        late = random.uniform()
        return (choice, int(late > 1 - rare), int(late > 1 - rare and early < 0.17))

    found = law(episode)
    for choice, p in enumerate((0.25, 0.5, 0.25)):
        assert found[choice, 1, 1] == pytest.approx(p * rare * 0.17, abs=1e-10)
        assert found[choice, 1, 0] == pytest.approx(p * rare * 0.83, abs=1e-10)


def test_one_number_may_be_used_twice():
    def episode(random):
        u = random.uniform()
        return (int(u < 0.4), int(u < 0.7))

    assert law(episode) == pytest.approx({(1, 1): 0.4, (0, 1): 0.3, (0, 0): 0.3}, abs=1e-10)


def test_numbers_and_choices_mix():
    def episode(random):
        u = random.uniform()
        return (random.draw([0.5, 0.5]) if u < 0.2 else 2,)

    assert law(episode) == pytest.approx({(0,): 0.1, (1,): 0.1, (2,): 0.8}, abs=1e-10)


def test_a_product_of_numbers_is_no_threshold():
    with pytest.raises(TooLarge):
        law(lambda random: (int(random.uniform() * random.uniform() < 0.3),))


def test_a_law_that_depends_on_a_number_is_no_threshold():
    with pytest.raises(TooLarge):
        law(lambda random: (int(random.below(random.uniform())),))


def test_a_loop_without_bound_ends_where_its_mass_does():
    def episode(random):
        count = 0
        while random.below(0.5):
            count += 1
        return (count,)

    found = law(episode)
    assert found[3,] == pytest.approx(1 / 16)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_too_many_branches_are_refused():
    with pytest.raises(TooLarge):
        law(lambda random: tuple(random.draw(np.ones(10)) for _ in range(9)), runs=1000)
