"""Trees: several drafts a node, from the top down (SpecInfer) and from the leaves up (traversal).

Nodes come with their parents; row 0 of the target is the law after the context, row i + 1 the law
after node i. The wrong variants test every sibling against the whole target, or claim q for
siblings that were drawn without replacement or chosen for certain.
"""

import numpy as np

import draftlab as dl
from parts import residual


def children(parents, node):
    return [i for i, parent in enumerate(parents) if parent == node]


def top_down(target, drawn_from, drafts, parents, random, update=True):
    """Siblings one after another, each against what the ones before left of the target."""
    node, path = -1, []
    while True:
        law = target[node + 1]
        for child in children(parents, node):
            q, x = drawn_from[child], drafts[child]
            if random.below(law[x] / q[x] if q[x] > 0 else 1.0):
                break
            rest = np.maximum(law - q, 0)
            law = rest / rest.sum() if update and rest.sum() > 0 else law
        else:
            final = law if update or not children(parents, node) else \
                residual(target[node + 1], drawn_from[children(parents, node)[0]])
            return [*path, random.draw(final)]
        path.append(drafts[child])
        node = child


def traversal(target, drawn_from, drafts, parents, random):
    """A node is accepted with the whole path to it; a rejected one lowers its parent's weight."""

    def judge(node, weight, path):
        law = target[node + 1]
        for child in children(parents, node):
            q, x = drawn_from[child], drafts[child]
            done = judge(child, min(1.0, weight * law[x] / q[x]), [*path, x])
            if done is not None:
                return done
            rest = np.maximum(weight * law - q, 0)
            mass = rest.sum()
            if mass <= 0:
                return None
            law, weight = rest / mass, mass / (mass + 1 - weight)
        return [*path, random.draw(law)] if random.below(weight) else None

    return judge(-1, 1.0, [])


@dl.sampler("tree-top-down", tree=(2, 1))
def tree_top_down(target, drawn_from, drafts, random, parents):
    return top_down(target, drawn_from, drafts, parents, random)


@dl.sampler("tree-without-replacement", tree=(2, 1), siblings="without")
def tree_without(target, drawn_from, drafts, random, parents):
    return top_down(target, drawn_from, drafts, parents, random)


@dl.sampler("tree-certain-siblings", tree=(2, 1), siblings="top")
def tree_top(target, drawn_from, drafts, random, parents):
    return top_down(target, drawn_from, drafts, parents, random)


@dl.sampler("tree-greedy-multi-draft", tree=(2, 1), siblings="greedy")
def tree_greedy(target, drawn_from, drafts, random, parents):
    return top_down(target, drawn_from, drafts, parents, random)


@dl.sampler("tree-traversal", tree=(2, 1))
def tree_traversal(target, drawn_from, drafts, random, parents):
    return traversal(target, drawn_from, drafts, parents, random)


@dl.sampler("siblings-against-the-whole-target", tree=(2,))
def whole_target(target, drawn_from, drafts, random, parents):
    return top_down(target, drawn_from, drafts, parents, random, update=False)


@dl.sampler("siblings-claim-the-first-law", tree=(2,), siblings="without")
def first_law(target, drawn_from, drafts, random, parents):
    """q is claimed for the second sibling, too, which was drawn with the first struck out."""
    claimed = np.repeat(drawn_from[:1], len(drawn_from), axis=0)
    return top_down(target, claimed, drafts, parents, random)


class OwnDrafts:
    """Drafts the most probable token, and says that it came from q."""

    def draft(self, law, random):
        return int(np.argmax(law)), law

    def verify(self, target, drawn_from, drafts, random):
        parents = list(range(-1, len(drafts) - 1))
        return top_down(target, drawn_from, drafts, parents, random)


@dl.sampler("certain-drafts-claim-q", drafts=2)
class CertainDrafts(OwnDrafts):
    pass


@dl.sampler("certain-drafts-claim-q-corrected", drafts=2)
class PointMasses(OwnDrafts):
    def draft(self, law, random):
        token = int(np.argmax(law))
        return token, np.eye(len(law))[token]
