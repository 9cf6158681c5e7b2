"""Trees as retrieve indices, trees of uneven levels, and filters of target, draft or both."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.episodes import retrieve_indices
from draftlab.audit.faults import UsageError
from draftlab.audit.run import Only
from draftlab.audit.sampling import Sampling, probabilities
from draftlab.audit.toys import special
from parts import chain


def test_paths_from_the_root_to_each_leaf():
    #      0 (the context): 1 and 2; 1: 3 and 4
    assert retrieve_indices([-1, -1, 0, 0]).tolist() == [[0, 2, -1], [0, 1, 3], [0, 1, 4]]
    assert retrieve_indices([]).tolist() == [[0]]


def along(target, drafts, paths, random):
    """Draws the target's token at each node and follows the path that has it."""
    node, made = 0, []
    while True:
        token = random.draw(target[node])
        made.append(token)
        rows = [list(path) for path in paths if node in list(path)]
        below = [path[path.index(node) + 1] for path in rows if path.index(node) + 1 < len(path)]
        node = next((i for i in below if i > 0 and drafts[i - 1] == token), None)
        if node is None:
            return made


@pytest.mark.parametrize("tree", [(2, 1), (2, (2, 0)), (3, (0, 1, 2), 1)])
def test_a_sampler_is_given_retrieve_indices(tree):
    @dl.sampler("paths", tree=tree, siblings="top")
    def verify(target, drawn_from, drafts, random, retrieve_indices):
        assert retrieve_indices.shape[1] == len(tree) + 1
        return along(target, drafts, retrieve_indices, random)

    assert dl.audit(verify, seconds=60).verdict == "exact"


def test_padding_that_is_taken_for_a_node_is_found():
    """The path of the shorter branch ends in -1, with which the last row is found."""

    @dl.sampler("padding", tree=(2, (2, 0)), siblings="top")
    def verify(target, drawn_from, drafts, random, retrieve_indices):
        best = retrieve_indices.tolist()[0]
        made = [random.draw(target[0])]
        if made[0] == drafts[best[1] - 1]:
            made.append(random.draw(target[best[1]]))
            if made[1] == drafts[best[2] - 1]:
                made.append(random.draw(target[best[2]]))
        return made

    assert dl.audit(verify, seconds=60).verdict == "biased"


def test_a_tree_has_numbers_for_levels_or_nodes():
    for tree in ((5,), (2, (0, 0)), (2, (1, 5)), (2, "1")):
        with pytest.raises(UsageError, match="must be numbers in"):
            dl.sampler("mine", tree=tree)
    with pytest.raises(UsageError, match="cuts = 'all' must be one of target, draft, both"):
        dl.sampler("mine", cuts="all")


def test_no_token_is_at_the_border_of_a_filter():
    """The order of tokens decides nothing, and neither does the last digit of a border."""
    contexts = [c for n in range(3) for c in itertools.product(range(4), repeat=n)]
    for toy in special(2):
        for logits in (toy.target_logits, toy.draft_logits):
            for law in map(logits, contexts):
                kept = probabilities(law, toy.sampling)
                for nudge in (-1e-6, 1e-6):
                    moved = replace(toy.sampling, top_p=toy.sampling.top_p + nudge,
                                    min_p=max(0.0, toy.sampling.min_p + nudge))
                    assert probabilities(law, moved) == pytest.approx(kept), toy.name
                if not toy.sampling.logit_bias:
                    turned = probabilities(law[::-1], toy.sampling)[::-1]
                    assert turned == pytest.approx(kept), toy.name


@pytest.mark.parametrize("cuts, of_target, of_draft",
                         [("target", 2, 4), ("draft", 4, 2), ("both", 2, 2)])
def test_filters_cut_what_is_named(cuts, of_target, of_draft):
    (toy,) = [toy for toy in special(1) if toy.name == "top-k"]
    toy.cuts = cuts
    assert (np.count_nonzero(toy.target(())), np.count_nonzero(toy.draft(()))) == \
        (of_target, of_draft)
    assert toy.owed.top_k == (0 if cuts == "draft" else 2) and toy.sampling == Sampling(top_k=2)


@pytest.mark.parametrize("cuts, verdict", [("both", "exact"), ("target", "biased")])
def test_a_sampler_that_filters_drafts_is_biased_where_they_were_not_filtered(cuts, verdict):
    """It cuts the draft's law to two tokens before the test, as its engine did before drawing."""

    @dl.sampler("cuts", drafts=1, cuts=cuts)
    def verify(target, drawn_from, drafts, random):
        law = np.where(drawn_from < np.sort(drawn_from)[:, -2:-1], 0, drawn_from)
        law = law / law.sum(axis=1, keepdims=True)
        return chain(target, np.where(law[0, drafts[0]] > 0, law, drawn_from), drafts, random)

    assert dl.audit(verify, seconds=60, only=Only("top-k")).verdict == verdict
