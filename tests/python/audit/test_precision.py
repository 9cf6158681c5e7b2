"""Rounding is told apart from bias."""

import numpy as np

import draftlab as dl
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
