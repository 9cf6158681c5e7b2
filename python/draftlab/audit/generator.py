"""The audit's own random numbers: a generator that is never caught, whatever stands at numpy's
names while a sampler is audited."""

from numpy.random import PCG64, Generator


def seeded(*seed: int) -> Generator:
    """A new generator with this seed, which may be several numbers."""
    return Generator(PCG64(list(seed)))
