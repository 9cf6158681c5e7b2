"""Routers of draft lengths: fixed, by goodput from a learned table, and oracles."""

from typing import Callable, Optional

import numpy as np

from draftlab.simulate.features import NAMES
from draftlab.simulate.table import Table
from draftlab.simulate.walk import Router, Step, World


def fixed(drafted: int) -> Router:
    return lambda step: np.full(len(step.rows), drafted)


def best_by_goodput(step: Step, survival: np.ndarray) -> np.ndarray:
    """The length that maximises the expected tokens a second of this step.

    Column j of `survival` is the chance that drafts 1, ..., j + 1 are all accepted.
    """
    lengths = np.arange(survival.shape[1] + 1)
    tokens = 1 + np.concatenate([np.zeros((len(survival), 1)), np.cumsum(survival, axis=1)], axis=1)
    seconds = step.world.step_seconds(step.batch, step.rows[:, None], step.made[:, None],
                                      lengths[None])
    return np.argmax(tokens / seconds, axis=1)


def goodput(table: Table, told: Optional[int] = None) -> Router:
    """By the table's chances. With `told`, the router is told by an oracle whether the step would
    commit 1, 2, ..., told - 1, or at least `told` tokens: what a confidence could say at best."""

    def decide(step: Step) -> np.ndarray:
        survival = table.survival(step.features)
        if told is None:
            return best_by_goodput(step, survival)
        reached = np.minimum(step.truth, told)[:, None]
        depth = np.arange(1, survival.shape[1] + 1)[None]
        sure = survival[:, max(told - 2, 0)][:, None] if told > 1 else 1.0
        beyond = np.where(step.truth[:, None] >= told, survival / sure, 0.0)
        return best_by_goodput(step, np.where(depth < reached, 1.0, beyond))

    return decide


def misled(table: Table, right: float, seed: int) -> Router:
    """By the table's chances and a hint, which is the true length with chance `right` and else a
    length drawn from the table's law; the router knows `right` and weighs the hint by Bayes."""
    drawn = np.random.default_rng(seed)

    def decide(step: Step) -> np.ndarray:
        survival = table.survival(step.features)
        edges = np.concatenate([np.ones((len(survival), 1)), survival,
                                np.zeros((len(survival), 1))], axis=1)
        law = edges[:, :-1] - edges[:, 1:]  # Of lengths 1, 2, ..., depths + 1.
        picks = (drawn.random((len(law), 1)) > np.cumsum(law, axis=1)).sum(axis=1)
        true = np.minimum(step.truth, law.shape[1]) - 1
        hint = np.where(drawn.random(len(law)) < right, true, np.minimum(picks, law.shape[1] - 1))
        rows = np.arange(len(law))
        # P(length | hint) is law * ((1 - right) * law[hint] + right * [length = hint]), scaled.
        after = law * (1 - right) * law[rows, hint][:, None]
        after[rows, hint] += right * law[rows, hint]
        after /= after.sum(axis=1, keepdims=True)
        return best_by_goodput(step, (1 - np.cumsum(after, axis=1))[:, :-1].clip(0, 1))

    return decide


def _without_features(world: World, batch: int, choose: Callable[[np.ndarray], np.ndarray],
                      charge: Callable[..., np.ndarray]) -> np.ndarray:
    """The seconds of a walk whose lengths follow from what a step could commit alone."""
    made = np.ones(len(world.generated), dtype=int)
    seconds = np.asarray(world.cost.prefill(batch * world.prompt), dtype=float)
    rows = np.nonzero(made < world.generated)[0]
    while len(rows):
        truth = world.lengths[rows, made[rows] - 1]
        drafted = choose(truth)
        seconds[rows] += charge(batch, rows, made[rows], drafted)
        made[rows] += np.minimum(truth, drafted + 1)
        rows = rows[made[rows] < world.generated[rows]]
    return seconds


def fixed_seconds(world: World, batch: int, drafted: int) -> np.ndarray:
    """The seconds where each step drafts `drafted` tokens: walk() with fixed(), but faster."""
    return _without_features(world, batch, lambda truth: np.full_like(truth, drafted),
                             world.step_seconds)


def published_oracle(world: World, batch: int) -> np.ndarray:
    """Seconds where each step drafts what will be accepted, as the authors charge it: a drafter
    that is always called costs its time in a step without drafts, too."""
    draft = world.cost.draft(world.proposer)

    def charge(batch: int, rows: np.ndarray, made: np.ndarray, drafted: np.ndarray) -> np.ndarray:
        cached = batch * (world.prompt[rows] + made)
        idle = draft.seconds(world.cost.target.seconds(cached, batch), cached, 1)
        return (world.step_seconds(batch, rows, made, drafted)
                + idle * (drafted == 0) * draft.always)

    return _without_features(world, batch, lambda truth: truth - 1, charge)


def best_possible(world: World, batch: int) -> np.ndarray:
    """The least seconds of any router that knows the whole future, by dynamic programming."""
    seconds = np.zeros(len(world.generated))
    for row, generated in enumerate(world.generated):
        left = np.zeros(generated + int(world.lengths[row].max()) + 1)  # Seconds from a position.
        for made in range(generated - 1, 0, -1):
            drafted = np.arange(world.lengths[row, made - 1])
            step = world.step_seconds(batch, np.array(row), np.array(made), drafted)
            left[made] = np.min(step + left[made + drafted + 1])
        seconds[row] = world.cost.prefill(batch * world.prompt[row]) + left[1]
    return seconds


def running_mean(deepest: int) -> Router:
    """Goodput by the request's own mean alone: every draft is accepted with the same chance, which
    is that of which the mean of its commits so far would follow."""
    place = NAMES.index("mean")

    def decide(step: Step) -> np.ndarray:
        mean = np.maximum(4 * step.features[:, place], 1.0)
        chance = 1 - 1 / mean
        return best_by_goodput(step, chance[:, None] ** np.arange(1, deepest + 1)[None])

    return decide
