"""A token of probability zero that comes out is bias, however seldom it does."""

import numpy as np
import pytest

import draftlab as dl
import uniform_may_be_zero
from draftlab.audit.run import Only
from parts import residual


def at_most(target, drawn_from, drafts, random):
    """It accepts where the number is at most p / q: with 53 bits, 0 comes once in 2^53."""
    for i, x in enumerate(drafts):
        p, q = target[i], drawn_from[i]
        if not random.uniform() <= p[x] / q[x]:
            return [*drafts[:i], random.draw(residual(p, q))]
    return [*drafts, random.draw(target[len(drafts)])]


def test_a_float32_number_that_may_be_zero():
    report = dl.audit(uniform_may_be_zero.uniform_may_be_zero, seconds=60)
    assert report.verdict == "biased"
    toy = next(f for f in report.findings if f.toy.name == "both are certain")
    assert toy.forbidden.tokens == (2,)
    assert toy.forbidden.found == pytest.approx(2.0**-24, rel=1e-3)
    said = str(report)
    assert "(2^-24)" in said and "breaks top-k;" in said and "no rounding" in said
    assert "breaks grammar masks, top-k and top-p" in said


def test_a_double_that_may_be_zero():
    report = dl.audit(dl.sampler("at most", drafts=1)(at_most), seconds=60)
    assert report.verdict == "biased" and report.largest.forbidden
    certain = next(f for f in report.findings if f.toy.name == "target is certain")
    # Drafts 0 and 2 come with 0.3 each.
    assert certain.forbidden.found == pytest.approx(0.3 * 2.0**-53)
    # Where the target forbids nothing, the rule is exact.
    assert next(f for f in report.findings if f.toy.name == "reversed").verdict == "exact"


def test_an_inverse_that_counts_from_the_left():
    """searchsorted on its left side gives token 0 for the number 0, also where p(0) is 0."""

    @dl.sampler("left", drafts=1)
    def verify(target, drawn_from, drafts, random):
        running = np.cumsum(target[0])
        return [int(np.searchsorted(running, random.uniform() * running[-1], side="left"))]

    report = dl.audit(verify, seconds=60)
    assert report.verdict == "biased" and report.largest.forbidden.tokens == (0,)


def test_a_forbidden_token_in_what_is_drawn_from():
    @dl.sampler("drawn", drafts=1)
    def verify(target, drawn_from, drafts, random):
        if random.uniform() * random.uniform() < 0.01:
            return [drafts[0]]
        return [random.draw(target[0])]

    report = dl.audit(verify, seconds=20)
    assert report.verdict == "biased"


def test_a_fault_at_an_end_of_the_numbers_is_the_arithmetics():
    """Where the draft is the target and p / q is below 1 by rounding, the last number before 1
    alone rejects a draft, and the residual is no law."""

    def verify(target, drawn_from, drafts, random):
        x = drafts[0]
        if random.uniform() < target[0][x] / drawn_from[0][x] - 2.0**-53:
            return [x]
        return [random.draw(np.maximum(target[0] - drawn_from[0], 0))]

    report = dl.audit(verify, seconds=60, only=Only("draft is the target", 1))
    (found,) = report.findings
    assert (found.verdict, found.fault, found.rule) == ("crashes", "not a law", "exact")
    assert found.chance == pytest.approx(2.0**-53)
    assert (report.verdict, report.rule, report.status) == ("crashes", "exact", 1)
    assert "it crashes with probability 1.1e-16 at most, in 1 law" in str(report)

    def often(target, drawn_from, drafts, random):
        return verify(target, drawn_from, drafts, random) if random.uniform() < 0.999 else []

    report = dl.audit(often, seconds=60, only=Only("draft is the target", 1))
    assert (report.verdict, report.rule) == ("crashes", "crashes")
