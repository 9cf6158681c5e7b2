"""Python's random, secrets and os.urandom, whose numbers come from the audit; used by `catch`."""

import os
import random
import secrets
from typing import Any

from draftlab.audit.asked import asked, either, normal, octets, whole

GENERATORS = (random.Random, random.SystemRandom)
_NO_NUMBERS = ("seed", "getstate", "setstate")


class CaughtRandom(random.Random):
    """Python's Random, whose every number comes from the audit while one is running."""

    def random(self):
        return asked[-1].number() if asked else super().random()

    def getrandbits(self, k):
        return whole(0, 1 << k) if asked else super().getrandbits(k)

    def randbytes(self, n):
        return octets(n) if asked else super().randbytes(n)

    def _randbelow(self, n):
        own: Any = super()
        return whole(0, n) if asked else own._randbelow(n)

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        if not asked:
            return super().choices(population, weights, cum_weights=cum_weights, k=k)
        if cum_weights is not None:
            weights = [b - a for a, b in zip([0] + list(cum_weights), cum_weights)]
        law = [1.0] * len(population) if weights is None else list(weights)
        return [population[asked[-1].draw(law)] for _ in range(k)]

    def gauss(self, mu=0.0, sigma=1.0):
        return mu + sigma * normal() if asked else super().gauss(mu, sigma)

    normalvariate = gauss


class CaughtSystemRandom(CaughtRandom, random.SystemRandom):
    """The same for the system's generator."""


def caught(generator):
    """What stands in for one of GENERATORS."""
    return CaughtSystemRandom() if isinstance(generator, random.SystemRandom) else CaughtRandom()


def put_all(put) -> None:
    """Replaces what makes numbers by `put(owner, name, value)`."""
    python, system = CaughtRandom(), CaughtSystemRandom()
    for name, real in list(vars(random).items()):
        if isinstance(getattr(real, "__self__", None), random.Random) and name not in _NO_NUMBERS:
            put(random, name, either(real, getattr(python, name)))
    put(random, "Random", CaughtRandom)
    put(random, "SystemRandom", CaughtSystemRandom)
    put(os, "urandom", either(os.urandom, octets))
    put(secrets, "_sysrand", system)  # Its other functions ask this one.
    put(secrets, "SystemRandom", CaughtSystemRandom)
    put(secrets, "choice", system.choice)
    put(secrets, "randbits", system.getrandbits)
