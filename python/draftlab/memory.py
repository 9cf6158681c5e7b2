"""Memory that draftlab lends: a descriptor comes over the Unix socket, never a name, and what it
stands for cannot shrink under the one who writes. Over TCP there is none."""

import fcntl
import mmap
import os
import stat
from typing import Any, Dict

from draftlab import wire as wires

MOST_SLOTS = 64  # A connection lends so many pieces at once.
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Lent:
    """The memory of one connection, by slots."""

    def __init__(self, wire: wires.Wire) -> None:
        self._wire = wire
        self._pieces: Dict[int, mmap.mmap] = {}

    def take(self, header: Dict[str, Any]) -> None:
        """Says that a descriptor may come, and puts what it stands for into its slot."""
        slot, size = header.get("slot"), header.get("bytes")
        if not self._wire.is_local:
            raise wires.MalformedMessage("memory over TCP, which lends none")
        if not isinstance(slot, int) or not 0 <= slot < MOST_SLOTS:
            raise wires.MalformedMessage(f"memory for slot {slot!r:.20} of {MOST_SLOTS}")
        if not isinstance(size, int) or not 0 < size <= wires.MOST_PAYLOAD:
            raise wires.MalformedMessage(f"memory of {size!r:.20} bytes")
        self._wire.send({"r": True})
        descriptor = self._wire.receive_descriptor()
        try:
            check(descriptor, size)
            self._pieces[slot] = mmap.mmap(descriptor, size)
        except (OSError, ValueError) as error:
            raise wires.MalformedMessage(f"memory that cannot be written to: {error}") from None
        finally:
            os.close(descriptor)

    def __getitem__(self, slot: Any) -> mmap.mmap:
        if not isinstance(slot, int) or slot not in self._pieces:
            raise wires.MalformedMessage(f"logits for slot {slot!r:.20}, which holds no memory")
        return self._pieces[slot]


def check(descriptor: int, size: int) -> None:
    """Refuses whatever is no memory without a name, of that size and sealed at it: a file of this
    machine never is, since files cannot be sealed so."""
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError:
        raise wires.MalformedMessage("a descriptor that is no memory") from None
    found = os.fstat(descriptor)
    if seals & _SEALS != _SEALS or found.st_nlink != 0 or not stat.S_ISREG(found.st_mode):
        raise wires.MalformedMessage("memory whose size is not sealed")
    if found.st_size != size:
        raise wires.MalformedMessage(
            f"memory of {found.st_size} bytes that is called one of {size}"
        )
