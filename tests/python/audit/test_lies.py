"""Samplers that lie are not called exact: each way to fool an audit that was thought of is here."""

import itertools

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.run import toys_of
from draftlab.audit.sampler import sampler_of
from draws_by_itself import Xorshift
from parts import chain, residual


def plainly_biased(target, drawn_from, drafts, random):
    """Replaces from the whole target."""
    for i, x in enumerate(drafts):
        if not random.below(target[i][x] / drawn_from[i][x]):
            return [*drafts[:i], random.draw(target[i])]
    return [*drafts, random.draw(target[len(drafts)])]


def test_numbers_of_its_own_beside_those_it_asks_for_are_caught():
    def verify(target, drawn_from, drafts, random):
        rule = plainly_biased if np.random.random() < 0.001 else chain
        return rule(target, drawn_from, drafts, random)

    report = dl.audit(verify)
    assert report.verdict == "biased" and report.largest.depth == "bisected"
    assert report.tv < 1e-3


def test_hidden_numbers_in_two_drafts_alone():
    hidden = Xorshift()

    @dl.sampler("hidden at k = 2", drafts=2)
    def verify(target, drawn_from, drafts, random):
        if len(drafts) == 2 and hidden.random() < 0.5:
            return plainly_biased(target, drawn_from, drafts, random)
        return chain(target, drawn_from, drafts, random)

    assert dl.audit(verify).verdict == "biased"


def test_hidden_numbers_that_are_seldom_used():
    hidden = Xorshift()

    def verify(target, drawn_from, drafts, random):
        if hidden.random() < 0.01:
            return plainly_biased(target, drawn_from, drafts, random)
        return chain(target, drawn_from, drafts, random)

    assert dl.audit(verify, seconds=3).verdict != "exact"


@pytest.mark.parametrize("wrong", [range(0, 400), range(400, 10**9), range(1000, 1400)])
def test_what_counts_its_calls(wrong):
    count = itertools.count()

    def verify(target, drawn_from, drafts, random):
        rule = plainly_biased if next(count) in wrong else chain
        return rule(target, drawn_from, drafts, random)

    assert dl.audit(verify).verdict in ("biased", "crashes")


def test_what_counts_its_calls_out_of_reach():
    """The count stands where the audit cannot put it back."""
    count = memoryview(bytearray(8))

    def verify(target, drawn_from, drafts, random):
        now = int.from_bytes(count, "little") + 1
        count[:] = now.to_bytes(8, "little")
        return (chain if now < 900 else plainly_biased)(target, drawn_from, drafts, random)

    assert dl.audit(verify).verdict in ("biased", "crashes")


def test_what_knows_the_battery():
    known = set()

    @dl.sampler("knows", drafts=2)
    def verify(target, drawn_from, drafts, random):
        rule = chain if target[0].tobytes() in known else plainly_biased
        return rule(target, drawn_from, drafts, random)

    for toy in toys_of(sampler_of(verify), "quick", seed=1):
        for context in itertools.chain.from_iterable(
                itertools.product(range(toy.vocabulary), repeat=n) for n in range(2)):
            known.add(toy.target(context).tobytes())
    assert dl.audit(verify, seed=1).verdict == "exact"  # With the seed that it knows.
    report = dl.audit(verify)
    assert report.verdict == "biased" and report.shown.toy.name.startswith("random")


@pytest.mark.parametrize("name", ["values", "asked", "prefix", "stream", "cells", "choose"])
def test_the_tape_is_not_to_be_seen(name):
    def verify(target, drawn_from, drafts, random):
        getattr(random, name)
        return chain(target, drawn_from, drafts, random)

    report = dl.audit(verify)
    assert report.verdict == "crashes" and name in report.shown.note


@pytest.mark.parametrize("rule, verdict", [(chain, "exact"), (plainly_biased, "biased")])
def test_arrays_are_its_own(rule, verdict):
    """It writes what it emits into what it was given."""

    def verify(target, drawn_from, drafts, random):
        tokens = [int(x) for x in rule(target, drawn_from, drafts, random)]
        target[:], drawn_from[:], drafts[:] = 0, 1, 0
        target[:, tokens[-1]] = 1
        return tokens

    assert dl.audit(verify).verdict == verdict


def test_arrays_of_a_batch_are_its_own():
    @dl.engine("writes", drafts=2)
    def verify(call):
        target, q = call.target_probs, call.draft_probs
        out = [plainly_biased(target[row][: n + 1], q[row][:n], call.drafts[row][:n], call.random)
               if n and call.drafts[row][0] >= 0 else [int(np.argmax(target[row][0]))]
               for row, n in enumerate(call.counts)]
        target[:], q[:] = 1, 1
        call.flat_target_probs[:] = call.flat_draft_probs[:] = 1
        return out

    assert dl.audit(verify).verdict == "biased"


def test_a_claimed_law_that_is_changed_afterwards():
    class Claims:
        def draft(self, law, random):
            self.law = law
            law[:] = np.eye(len(law))[int(np.argmax(law))]
            return int(np.argmax(law)), np.ones(len(law)) / len(law)

        def verify(self, target, drawn_from, drafts, random):
            self.law[:] = 0
            return chain(target, drawn_from, drafts, random)

    assert dl.audit(dl.sampler("claims", drafts=2)(Claims)).verdict == "biased"


def test_what_is_right_for_the_stand_in_of_its_numbers_alone():
    """A race is chosen by the walk, whose noise is no array of numpy."""

    @dl.sampler("tells noise from an array", drafts=1)
    def verify(target, drawn_from, drafts, random):
        noise = random.exponential(target.shape[1])
        if not random.below(target[0][drafts[0]] / drawn_from[0][drafts[0]]):
            honest = type(noise) is not np.ndarray
            law = residual(target[0], drawn_from[0]) if honest else target[0]
            return [int(np.argmax(law / noise))]
        return [drafts[0], random.draw(target[1])]

    report = dl.audit(verify)
    assert report.verdict == "biased" and "drawn" in report.shown.note


def test_a_token_that_changes():
    class Token:
        asked = itertools.count()

        def __int__(self):
            return next(Token.asked) % 2

    report = dl.audit(lambda target, drawn_from, drafts, random: [Token()])
    assert report.verdict in ("biased", "crashes")
