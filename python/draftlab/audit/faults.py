"""What can be wrong with a sampler besides its law: each has a name and says where it happened."""

import sys


class SamplerFault(Exception):
    """A sampler broke its contract. `kind` is a short name that stays the same between versions."""

    def __init__(self, kind: str, what: str):
        super().__init__(what)
        self.kind = kind
        self.what = what


class UsageError(Exception):
    """The command or the call was wrong; exit status 64."""

    status = 64


class DataError(UsageError):
    """A file was wrong; exit status 65."""

    status = 65


class Unavailable(UsageError):
    """Something that is needed is not installed; exit status 69."""

    status = 69


def lacks(command: str, library: str) -> str:
    """The sentence on a library that this interpreter does not have."""
    return (f"{command} needs {library}, which {sys.executable} does not have: install "
            f"python3-{library}, or name another interpreter with --python or in DRAFTLAB_PYTHON")


class TooLarge(Exception):
    """A law has more branches than the budget allows, or is not made of boxes; it is sampled."""


class OutOfTime(TooLarge):
    """The time of the battery ended before the law was walked."""
