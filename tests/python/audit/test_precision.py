"""Rounding is told apart from bias."""

import numpy as np

import draftlab as dl
from draftlab.audit.judge import Finding, Rounding
from draftlab.audit.report import Report, _arithmetic
from draftlab.audit.run import Only
from parts import chain


def test_float32_inside_is_numerical():
    def verify(target, drawn_from, drafts, random):
        return chain(target.astype(np.float32), drawn_from.astype(np.float32), drafts, random)

    report = dl.audit(verify, seconds=600)
    assert report.verdict == "exact"
    noted = [found for found in report.findings if "its own arithmetic" in found.note]
    assert noted and all(1e-12 < found.variation < 1e-6 for found in noted)


def test_a_small_bias_is_no_rounding():
    def verify(target, drawn_from, drafts, random):
        return chain(target, drawn_from * (1 - 1e-4), drafts, random)

    report = dl.audit(verify, seconds=600)
    assert report.verdict == "biased"
    assert report.tv < 1e-3


def test_narrow_types_are_themselves_again_afterwards():
    def verify(target, drawn_from, drafts, random):
        return chain(target.astype(np.float32), drawn_from, drafts, random)

    dl.audit(verify, seconds=600)
    assert np.zeros(1, np.float32).itemsize == 4


def test_the_rule_stands_apart_from_its_arithmetic():
    def narrow(target, drawn_from, drafts, random):
        return chain(target.astype(np.float32), drawn_from.astype(np.float32), drafts, random)

    report = dl.audit(narrow, seconds=600, only=Only("reversed", 1))
    cost = report.findings[0].rounding
    assert cost.gone and 1e-12 < cost.variation < 1e-6
    lines = str(report).splitlines()
    assert lines[2] == "  the rule         exact"
    assert lines[3] == (f"  the arithmetic   rounding costs TV {cost.variation:.2g} at most, in 1 "
                        "law; float64 has none of it")
    assert report.to_dict()["rule"] == "exact"

    def zero_accepts(target, drawn_from, drafts, random):  # u = 0 accepts a draft with p = 0.
        x = drafts[0]
        if random.uniform() <= target[0][x] / drawn_from[0][x]:
            return [x]
        rest = np.maximum(target[0] - drawn_from[0], 0)
        return [random.draw(rest)]

    report = dl.audit(zero_accepts, seconds=600, only=Only("zeros of the target", 1))
    assert report.verdict == "biased" and report.rule == "exact"
    lines = str(report).splitlines()
    assert lines[2] == "  the rule         exact"
    assert lines[3].startswith("  the arithmetic   a forbidden token comes out with probability 5")


def test_a_bias_is_the_rules_and_the_arithmetic_adds_nothing():
    def verify(target, drawn_from, drafts, random):
        return chain(target, drawn_from * (1 - 1e-4), drafts, random)

    report = dl.audit(verify, seconds=600, only=Only("reversed", 1))
    lines = str(report).splitlines()
    assert lines[2] == f"  the rule         biased, TV {report.tv:.4g}"
    assert lines[3] == "  the arithmetic   adds nothing in the laws that were walked"


def test_what_can_only_be_drawn_does_not_tell_rule_and_arithmetic_apart():
    report = Report("mine", "quick", 1.0, [Finding(None, "not shown", "sampled", drawn=True)])
    assert _arithmetic(report) == "not told from the rule, since no law was walked"
    could_not = Finding(None, "not shown", "bisected",
                        rounding=Rounding(3e-8, "its own arithmetic", gone=False))
    assert _arithmetic(Report("mine", "quick", 1.0, [could_not])) == (
        "rounding costs TV 3e-08 at most, in 1 law; it could not be run in float64")
