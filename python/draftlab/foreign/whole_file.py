"""Files that are there whole or not at all, and never in the place of another."""

import errno
import os
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def whole_file(path: str) -> Iterator[str]:
    """The name under which to write; what was written is renamed to `path` once it is complete."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    partial = f"{path}.{os.getpid()}.partial"
    try:
        # So that a folder that is missing is named by the file that the user asked for.
        with open(partial, "xb"):
            pass
        yield partial
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        os.rename(partial, path)
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), path) from error
    finally:
        if os.path.lexists(partial):
            os.unlink(partial)
