"""Laws that are known by hand or from published tables are found to the last digit."""

import numpy as np
import pytest

import block_verification
import k_seq
import trees
from draftlab.audit import laws
from draftlab.audit.episodes import episode_of, length_of
from draftlab.audit.sampler import Sampler, sampler_of
from draftlab.audit.toys import Toy, _fixed
from draftlab.audit.walk import Budget, walk

T1 = ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3])
T2 = ([1 / 3, 2 / 3], [2 / 3, 1 / 3])
T3 = ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4])


def measured(subject, law, drafts=0):
    """(expected accepted drafts, total variation) on a fixed law."""
    sampler = sampler_of(subject)
    toy = Toy("known", len(law[0]), drafts, _fixed(law[0]), _fixed(law[1]))
    found = walk(episode_of(sampler, toy), Budget(2_000_000, 600))
    length = length_of(sampler, toy)
    whole = laws.completed(toy, found.law, length)
    accepted = sum(mass * (len(tokens) - 1) for tokens, mass in found.law.items())
    return accepted, laws.total_variation(whole, laws.joint(toy, (), length))


@pytest.mark.parametrize("law, drafts, accepted", [
    (T1, 1, 0.7), (T1, 2, 1.25), (T1, 3, 1.72), (T2, 2, 1.222222222), (T2, 3, 1.666666667),
    (T3, 1, 0.6), (T3, 2, 1.03), (T3, 3, 1.346)])
def test_block_verification_accepts_what_its_closed_form_says(law, drafts, accepted):
    assert measured(block_verification.block, law, drafts) == pytest.approx((accepted, 0), abs=1e-9)


@pytest.mark.parametrize("subject, law, drafts, accepted, variation", [
    (block_verification.token_residual, T3, 2, 1.03, 0.0125),
    (block_verification.token_residual, T3, 3, 1.346, 0.019),
    (block_verification.token_residual, T1, 2, 1.25, 0.0),  # This toy cannot see it.
    (block_verification.ratio_test, T3, 2, 1.155, 0.125),
    (block_verification.ratio_test, T3, 3, 1.629177083, 0.185808073),
    (block_verification.ratio_test, T1, 2, 1.403333333, 0.153333333),
    (block_verification.not_clipped, T3, 2, 1.10, 0.07),
    (block_verification.not_clipped, T3, 3, 1.49, 0.0955),
    (block_verification.not_clipped, T1, 2, 1.31, 0.06),
    (block_verification.first_rejection, T3, 2, 0.63, 0.2),
    (block_verification.first_rejection, T3, 3, 0.642035088, 0.225),
    (block_verification.first_rejection, T1, 2, 0.621428571, 0.314285714)])
def test_wrong_block_verification_is_off_by_what_enumeration_said(subject, law, drafts, accepted,
                                                                  variation):
    assert measured(subject, law, drafts) == pytest.approx((accepted, variation), abs=1e-9)


def shaped(function, tree, siblings="iid"):
    return Sampler("shaped", function, tree=tree, siblings=siblings)


@pytest.mark.parametrize("rule, tree, siblings, law, accepted", [
    (trees.tree_top_down, (2,), "iid", T1, 0.76), (trees.tree_top_down, (2,), "iid", T3, 0.72),
    (trees.tree_top_down, (2, 1), "iid", T1, 1.292),
    (trees.tree_top_down, (1, 2), "iid", T3, 1.032),
    (trees.tree_top_down, (2, 1), "without", T1, 1.374571429),
    (trees.tree_top_down, (2, 1), "without", T3, 1.222857143),
    (trees.tree_traversal, (2, 1), "iid", T1, 1.352),
    (trees.tree_traversal, (2, 1), "iid", T3, 1.222),
    (trees.tree_traversal, (1, 2), "iid", T1, 1.34),
    (trees.tree_traversal, (1, 2), "iid", T2, 1.259259259),
    (trees.tree_traversal, (2, 1), "without", T1, 1.434571429),
    (trees.tree_traversal, (1, 2), "without", T3, 1.103095238),
    (trees.tree_top_down, (2,), "greedy", T1, 0.9),
    (trees.tree_top_down, (2,), "greedy", T3, 0.766666667),
    (trees.tree_top_down, (3,), "greedy", T3, 0.933333333),
    (trees.tree_top_down, (2,), "top", T1, 0.5),
    (trees.tree_top_down, (2,), "top", T3, 0.3)])
def test_trees_accept_what_enumeration_said(rule, tree, siblings, law, accepted):
    assert measured(shaped(rule, tree, siblings), law) == pytest.approx((accepted, 0), abs=1e-9)


@pytest.mark.parametrize("law, drafts, accepted", [
    (T1, 2, 0.791355287), (T1, 3, 0.858518606), (T3, 2, 0.75), (T3, 3, 0.793949968)])
def test_k_seq_accepts_what_its_equation_says(law, drafts, accepted):
    found = measured(shaped(k_seq.k_seq, (drafts,)), law)
    assert found == pytest.approx((accepted, 0), abs=1e-8)


def test_siblings_that_are_tested_wrongly():
    whole, claimed = trees.whole_target, trees.first_law
    assert measured(whole, T1) == pytest.approx((0.91, 0.15), abs=1e-9)
    assert measured(whole, T3) == pytest.approx((0.84, 0.14), abs=1e-9)
    assert measured(claimed, T3) == pytest.approx((0.792857143, 17 / 392), abs=1e-9)
    assert measured(claimed, T1)[1] < 1e-12  # This toy cannot see it.


@pytest.mark.parametrize("law, accepted, variation", [(T1, 0.6, 0.3), (T3, 0.25, 0.5)])
def test_certain_siblings_that_claim_to_be_drawn(law, accepted, variation):
    def verify(target, drawn_from, drafts, random, parents):
        claimed = np.repeat([law[1]], len(drafts), axis=0)
        claimed[1, drafts[0]] = 0  # The draft would so have been drawn without replacement.
        claimed[1] /= claimed[1].sum()
        return trees.top_down(target, claimed, drafts, parents, random)

    found = measured(Sampler("claims", verify, tree=(2,), siblings="top"), law)
    assert found[1] == pytest.approx(variation, abs=1e-9)
    assert found[0] == pytest.approx(accepted, abs=1e-9)
