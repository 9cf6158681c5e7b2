"""Samplers that take no `random`: their numbers are caught where they come from.

The first is written as one writes it for numpy, the second for Python's random, the third has a
generator of its own that nobody can catch, and is therefore sampled.
"""

import random as python_random

import numpy as np

import draftlab as dl
from parts import residual

generator = np.random.default_rng(0)


def draw(weights):
    return int(generator.choice(len(weights), p=weights / weights.sum()))


@dl.sampler("numpy-generator", drafts=3)
def numpy_generator(target, drawn_from, drafts):
    for i, x in enumerate(drafts):
        if generator.random() >= target[i][x] / drawn_from[i][x]:
            return [*drafts[:i], draw(residual(target[i], drawn_from[i]))]
    return [*drafts, draw(target[len(drafts)])]


@dl.sampler("python-random", drafts=3)
def with_random(target, drawn_from, drafts):
    tokens = range(target.shape[1])
    for i, x in enumerate(drafts):
        if python_random.random() >= target[i][x] / drawn_from[i][x]:
            return [*drafts[:i],
                    python_random.choices(tokens, residual(target[i], drawn_from[i]))[0]]
    return [*drafts, python_random.choices(tokens, target[len(drafts)])[0]]


class Xorshift:
    """A generator that the audit does not know: its state is outside of Python's reach."""

    def __init__(self):
        self.state = memoryview(bytearray(b"\x9d\x2c\x56\x80\x15\xf1\x0e\x77"))

    def random(self):
        x = int.from_bytes(self.state, "little")
        x ^= (x << 13) & (2**64 - 1)
        x ^= x >> 7
        x ^= (x << 17) & (2**64 - 1)
        self.state[:] = x.to_bytes(8, "little")
        return ((x * 2685821657736338717) & (2**64 - 1)) / 2**64


hidden = Xorshift()


def verify_hidden(target, drawn_from, drafts, q_of):
    for i, x in enumerate(drafts.tolist()):
        p, q = target[i], q_of(drawn_from[i])
        if hidden.random() * q[x] >= p[x]:
            running = np.maximum(p - q, 0).cumsum()
            return [*drafts[:i], int(running.searchsorted(hidden.random() * running[-1], "right"))]
    running = target[len(drafts)].cumsum()
    return [*drafts, int(running.searchsorted(hidden.random() * running[-1], "right"))]


@dl.sampler("hidden-generator", drafts=1)
def hidden_generator(target, drawn_from, drafts):
    return verify_hidden(target, drawn_from, drafts, lambda q: q)


@dl.sampler("hidden-generator-biased", drafts=1)
def hidden_biased(target, drawn_from, drafts):
    """Its residual is that of a law that is a little flatter than q."""
    return verify_hidden(target, drawn_from, drafts, lambda q: 0.8 * q + 0.2 / len(q))
