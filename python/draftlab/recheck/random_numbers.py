"""The random number at an address: Philox 4x32-10 (Salmon et al., SC 2011), keyed by the seed and
the sequence, its counter the position, the purpose, the step and the attempt (core/README.md,
"Chance")."""

import math

_MASK64 = (1 << 64) - 1
_MASK32 = (1 << 32) - 1

# The numbers of the purposes in an address.
ACCEPT = 1
TRAIN = 7
ROUTE = 8


def _mixed(x: int) -> int:
    """MurmurHash3's finaliser of 64 bits."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = ((x ^ (x >> 33)) * factor) & _MASK64
    return x ^ (x >> 33)


def hash_of(text: str) -> int:
    """FNV-1a of a text, mixed."""
    code = 0xCBF29CE484222325 ^ _mixed(0)
    for byte in text.encode():
        code = ((code ^ byte) * 0x100000001B3) & _MASK64
    return _mixed(code)


def sequence_of(prompt: str, sample: int) -> int:
    """The address of a sequence: the hash of prompt and repeat."""
    return hash_of(f"{prompt}/{sample}")


def philox(counter, key):
    """Ten rounds over four words of 32 bits, under two."""
    a, b, c, d = counter
    one, two = key
    for _ in range(10):
        high, low = divmod(0xD2511F53 * a, 1 << 32)
        other_high, other_low = divmod(0xCD9E8D57 * c, 1 << 32)
        a, b, c, d = other_high ^ b ^ one, other_low, high ^ d ^ two, low
        one, two = (one + 0x9E3779B9) & _MASK32, (two + 0xBB67AE85) & _MASK32
    return a, b, c, d


def uniform(seed: int, sequence: int, position: int, purpose: int, step: int,
            attempt: int = 0) -> float:
    """The uniform in [0, 1) at an address: the 53 upper bits of two words."""
    return _uniforms(seed, sequence, (position, purpose, step, attempt))[0]


def normal(seed: int, sequence: int, position: int, purpose: int, step: int,
           attempt: int = 0) -> float:
    """The normal at an address, by the method of Box and Muller."""
    first, second = _uniforms(seed, sequence, (position, purpose, step, attempt))
    return math.sqrt(-2 * math.log(1 - first)) * math.cos(2 * math.pi * second)


def _uniforms(seed, sequence, address):
    """Both uniforms at an address."""
    key = _mixed((seed + 0x9E3779B97F4A7C15) & _MASK64) ^ sequence
    position, purpose, step, attempt = address
    a, b, c, d = philox((position & _MASK32, purpose, step, attempt),
                        (key & _MASK32, key >> 32))
    return tuple((((high << 32) | low) >> 11) * 2.0 ** -53 for low, high in ((a, b), (c, d)))
