"""Noise: the winners of races have their laws, and reuse is not taken for independence."""

import numpy as np
import pytest

from draftlab.audit.faults import TooLarge
from draftlab.audit.races import Race, second_law
from draftlab.audit.walk import Budget, walk

W = np.array([0.2, 0.0, 0.5, 0.3])


def walked(episode):
    return walk(episode, Budget(200_000, 60))


def law(episode):
    return {key[0]: mass for key, mass in walked(episode).law.items()}


def guarded(weights, noise):
    """As engines do it."""
    return weights / np.where((noise == 0) | np.isinf(noise), 1e-10, noise)


@pytest.mark.parametrize("race", [
    lambda random: np.argmax(W / random.exponential(4)),
    lambda random: np.argmin(random.exponential(4) / W),
    lambda random: np.argmax(np.log(W) + random.gumbel(4)),
    lambda random: np.argmax((2 * np.log(W) + 1 + 2 * random.gumbel(4)) / 2),
    lambda random: np.argmin(-np.log(random.uniform(4)) / W),
    lambda random: np.argmax(random.uniform(4) ** (1 / W)),
    lambda random: np.argmax(np.log(W) - np.log(-np.log(random.uniform(4) + 1e-10) + 1e-10)),
    lambda random: np.argmin(np.log(random.exponential(4)) - np.log(W)),
    lambda random: guarded(W, random.exponential(4)).argmax(),
    lambda random: np.argmax(np.stack([W, W]) / random.exponential((2, 4)), axis=-1)[1],
    lambda random: (-random.exponential(4) / W).argmax(keepdims=True)[0],
    lambda random: np.argmax(W / np.maximum(random.exponential(4), 1e-20)),
])
def test_a_race_is_a_choice(race):
    with np.errstate(all="ignore"):
        found = walked(lambda random: (int(race(random)),))
    assert found.races and not found.numbers
    assert found.law == pytest.approx({(0,): 0.2, (2,): 0.5, (3,): 0.3}, abs=1e-12)


def test_in_place():
    def episode(random):
        noise = random.exponential(3)
        noise /= np.array([0.2, 0.5, 0.3])
        return (int(noise.argmin()),)

    assert law(episode) == pytest.approx({0: 0.2, 1: 0.5, 2: 0.3})


def test_the_largest_of_exponentials_is_no_race():
    """P(e_0 > e_1 w) for rates: the largest product has another law than the smallest."""
    with pytest.raises(TooLarge):
        walked(lambda random: (int(np.argmax(random.exponential(2) * np.array([0.2, 0.8]))),))


def test_no_weight_at_all_is_the_first_token():
    assert law(lambda random: (int(np.argmax(np.zeros(3) / random.exponential(3))),)) == {0: 1.0}


def test_noise_that_is_looked_at_is_numbers():
    def episode(random):
        noise = random.uniform(3)
        return (int(noise[1] < 0.25), int((noise > 0.5)[1]))

    found = walked(episode)
    assert found.numbers and not found.races
    assert found.law == pytest.approx({(1, 0): 0.25, (0, 0): 0.25, (0, 1): 0.5}, abs=1e-9)


def raced_twice(a, b, count=400_000):
    """The law of the second winner after each first one, drawn."""
    noise = np.random.default_rng(3).exponential(size=(count, len(a)))
    with np.errstate(all="ignore"):
        first, second = (noise / a).argmin(axis=1), (noise / b).argmin(axis=1)
    return np.histogram2d(first, second, bins=[range(len(a) + 1)] * 2)[0] / count


@pytest.mark.parametrize("a, b", [
    ([0.2, 0.5, 0.3], [0.6, 0.1, 0.3]), ([0.2, 0.5, 0.3], [0.0, 0.1, 0.9]),
    ([0.0, 0.5, 0.5], [0.3, 0.3, 0.4]), ([0.25, 0.25, 0.5], [0.5, 0.25, 0.25])])
def test_noise_that_is_used_twice_has_the_law_of_both_uses(a, b):
    def episode(random):
        noise = random.exponential(3)
        with np.errstate(all="ignore"):
            return int(np.argmin(noise / np.array(a))), int(np.argmax(np.array(b) / noise))

    found, drawn = walked(episode).law, raced_twice(np.array(a), np.array(b))
    for (first, second), mass in found.items():
        assert mass == pytest.approx(drawn[first, second], abs=0.004)
    assert sum(found.values()) == pytest.approx(1)
    independent = np.outer(a, b)
    assert max(abs(found.get(at, 0) - independent[at]) for at in np.ndindex(3, 3)) > 0.02


def test_the_same_race_twice_has_one_winner():
    second = second_law(Race({0: 0.2, 1: 0.8}, 1), {0: 0.2, 1: 0.8})
    assert second == {0: 0.0, 1: 1.0}


@pytest.mark.parametrize("use", [
    lambda noise: int(np.argmax(np.array([0.1, 0.9]) / noise)), lambda noise: int(noise[0] < 1),
    lambda noise: int(noise.sum() < 1)])
def test_a_third_use_is_not_taken_for_independent(use):
    def episode(random):
        noise = random.exponential(2)
        try:
            return (int(np.argmin(noise)), int(np.argmin(noise / np.array([0.3, 0.7]))),
                    use(noise))
        except Exception:  # The sampler cannot swallow it.
            return (0,)

    with pytest.raises(TooLarge, match="used again"):
        walked(episode)


def test_a_view_that_would_change_with_its_array_is_not_taken_for_another():
    from draftlab.audit.faults import SamplerFault

    def episode(random):
        noise = random.exponential(3)
        view = noise[:2]
        noise *= 2.0
        return (int(np.argmin(view)),)

    with pytest.raises(SamplerFault, match="in place"):
        walked(episode)
    plain = walk(lambda random: (int(random.uniform(2)[1] < 0.5),), Budget(1000, 9), noise=False)
    assert plain.law == pytest.approx({(0,): 0.5, (1,): 0.5})
