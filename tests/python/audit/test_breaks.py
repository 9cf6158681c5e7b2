"""Samplers that break on purpose are named for what they do."""

import itertools
import time

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.faults import UsageError
from parts import chain

calls = []
memory = {}


def broken(function, **options):
    report = dl.audit(function, seconds=600, **options)
    assert report.verdict == "crashes", str(report)
    assert report.status == 1
    return report.shown


def test_too_many_tokens():
    def verify(target, drawn_from, drafts, random):
        return [*chain(target, drawn_from, drafts, random), 0, 0]

    assert broken(verify).fault == "wrong length"


@pytest.mark.parametrize("answer", [[], None])
def test_no_tokens(answer):
    assert broken(lambda target, drawn_from, drafts, random: answer).fault == "wrong length"


def test_a_token_that_is_not_a_number():
    def verify(target, drawn_from, drafts, random):
        return np.array([float("nan")])

    assert broken(verify).fault == "not a number"


def test_a_negative_token():
    def verify(target, drawn_from, drafts, random):
        return [*chain(target, drawn_from, drafts, random)[:-1], -1]

    assert broken(verify).fault == "negative"


def test_a_token_outside_of_the_vocabulary():
    def verify(target, drawn_from, drafts, random):
        return [target.shape[1]]

    assert broken(verify).fault == "out of range"


def test_a_law_with_nan_and_one_with_negative_probabilities():
    def nan(target, drawn_from, drafts, random):
        return [random.draw(target[0] * float("nan"))]

    def negative(target, drawn_from, drafts, random):
        return [random.draw(target[0] - drawn_from[0])]

    assert "NaN" in broken(nan).note
    assert "negative" in broken(negative).note


def test_an_empty_residual():
    def verify(target, drawn_from, drafts, random):
        return [random.draw(target[0] * 0)]

    assert broken(verify).fault == "not a law"


def test_an_exception_is_shown_with_its_line():
    def verify(target, drawn_from, drafts, random):
        raise KeyError("lost")

    found = broken(verify)
    assert found.fault == "exception"
    assert "KeyError" in found.note and "test_breaks.py:" in found.note


def test_a_call_that_does_not_return():
    def verify(target, drawn_from, drafts, random):
        while True:
            time.sleep(0.01)

    assert broken(verify, hang=0.2).fault == "hang"


def test_a_call_that_holds_on_to_every_exception():
    def verify(target, drawn_from, drafts, random):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pass

    assert broken(verify, hang=0.2).fault == "hang"


def test_a_call_that_asks_for_ever():
    def verify(target, drawn_from, drafts, random):
        while random.below(1.0):
            pass

    found = broken(verify)
    assert found.fault == "hang" and "numbers in one call" in found.note


def test_state_that_leaks_between_calls():
    def verify(target, drawn_from, drafts, random):
        calls.append(len(drafts))
        if len(calls) % 3 == 0:
            return [random.draw(target[0])]
        return chain(target, drawn_from, drafts, random)

    assert broken(verify).fault == "state leaks"


def test_a_cache_that_forgets_its_key_leaks():
    def verify(target, drawn_from, drafts, random):
        row = memory.setdefault(len(drafts), target[0])
        return [random.draw(row)] if drafts[0] == memory.setdefault("first", drafts[0]) else \
            chain(target, drawn_from, drafts, random)

    assert broken(verify).fault == "state leaks"


def test_memory_of_a_sequence_is_no_leak():
    class Remembers:
        def __init__(self):
            self.seen = []

        def verify(self, target, drawn_from, drafts, random):
            self.seen.append(len(drafts))
            return chain(target, drawn_from, drafts, random)

    assert dl.audit(Remembers, seconds=600).verdict == "exact"


def test_a_sequence_shows_what_one_call_does_not():
    @dl.sampler("forgets", drafts=1)
    class Forgets:
        """Right in its first call; the second one replaces from the whole target."""

        def __init__(self):
            self.count = itertools.count()

        def verify(self, target, drawn_from, drafts, random):
            if next(self.count) == 0:
                return chain(target, drawn_from, drafts, random)
            x = drafts[0]
            if random.below(target[0][x] / drawn_from[0][x]):
                return [x, random.draw(target[1])]
            return [random.draw(target[0])]

    report = dl.audit(Forgets, seconds=600)
    assert report.verdict == "biased"
    assert report.shown.toy.steps == 2
    assert len(report.shown.event.tokens) == 2


def test_dependence_on_the_batch_row():
    @dl.engine("row", drafts=1, batch=3)
    def verify(call):
        out = [[0] for _ in range(call.batch)]
        for row in range(call.batch):
            target, q, x = call.target_probs[row], call.draft_probs[row], call.drafts[row, 0]
            law = np.maximum(target[0] - q[0], 0)
            if x < 0:
                out[row] = [int(np.argmax(target[0]))]
            elif call.random.below(target[0][x] / q[0][x]):
                out[row] = [x, call.random.draw(target[1])]
            else:
                out[row] = [call.random.draw(law if row == 0 else target[0])]
        return out

    found = broken(verify)
    assert found.fault == "depends on the batch row"
    assert found.toy.row > 0


def test_arguments_that_nobody_passes_are_refused():
    def verify(target, drawn_from, drafts, random, seed):
        return drafts

    with pytest.raises(UsageError, match="seed"):
        dl.audit(verify)
    with pytest.raises(UsageError, match="quick or full"):
        dl.audit(chain, "fast")
    with pytest.raises(UsageError, match="siblings"):
        dl.sampler("x", siblings="some")
