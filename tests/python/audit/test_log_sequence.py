"""The bounds of logs hold at every look: false alarms and power by simulation."""

import math

import numpy as np
from draftlab.audit import log_sequence

ALPHA = 0.05
SEQUENCES, LENGTH = 400, 4000


def _alarms(numbers, bound):
    """The share of sequences whose running mean ever is further from 0 than its bound."""
    counts = np.arange(1, LENGTH + 1)
    means = np.abs(np.cumsum(numbers, axis=1) / counts)
    limits = np.array([bound(int(count)) for count in counts])
    return float((means > limits).any(axis=1).mean())


def _excess(random, p, accepted):
    """What tests with probabilities p accept at probabilities `accepted`, minus p."""
    return (random.random((SEQUENCES, LENGTH)) < accepted) - p


def test_an_engine_that_is_looked_at_all_the_time_is_not_called_biased():
    random = np.random.Generator(np.random.PCG64(1))
    p = random.random(LENGTH)
    fair = _excess(random, p, p)
    assert _alarms(fair, lambda count: log_sequence.mean_bound(count, ALPHA)) <= ALPHA

    def once(count):  # A bound for one look is broken by looking often.
        return math.sqrt(p.mean() * (1 - p.mean()) / 1.5 / count) * 1.96

    assert _alarms(fair, once) > 4 * ALPHA


def test_what_would_have_been_seen_is_seen():
    random = np.random.Generator(np.random.PCG64(2))
    bias = log_sequence.seen(LENGTH, ALPHA)
    p = np.full(LENGTH, 0.4)
    assert _alarms(_excess(random, p, p + bias), lambda count: log_sequence.mean_bound(
        count, ALPHA)) >= log_sequence.POWER
    assert _alarms(_excess(random, p, p + bias / 4), lambda count: log_sequence.mean_bound(
        count, ALPHA)) < 0.9


def test_laws_and_pairs_at_every_look():
    random = np.random.Generator(np.random.PCG64(3))
    looks = range(10, 1500, 35)
    alarms = repeated = 0
    for _ in range(100):
        numbers = random.integers(0, 2**16, 1500)
        far = equal = False
        for count in looks:
            ordered = np.sort(numbers[:count] / 2**16)
            steps = np.arange(count + 1) / count
            distance = max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max())
            far |= distance > log_sequence.law_bound(count, ALPHA)
            pairs = count - len(np.unique(numbers[:count]))
            equal |= pairs > log_sequence.pairs_bound(count, 2.0**16, ALPHA)
        alarms += far
        repeated += equal
    assert alarms <= 100 * ALPHA and repeated <= 100 * ALPHA
    assert log_sequence.law_bound(10**6, ALPHA) < 0.004
    assert log_sequence.pairs_bound(1000, 2.0**53, 1e-6) <= 1
