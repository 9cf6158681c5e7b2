"""The process behind `--plugin FILE.py`: it loads the file, says what is in it, and answers calls.

    python3 -m draftlab.worker FILE.py --connection DESCRIPTOR

draftlab starts it; the connection's end is its end.
"""

import socket
import struct
import sys
import traceback
from typing import List


def cannot_begin(connection: socket.socket, text: str) -> None:
    """Says why, without msgpack, which may be what is missing: {"e": {"text": ...}}."""
    data = text.encode()[:65000]
    packed = b"\x81\xa1e\x81\xa4text\xda" + struct.pack(">H", len(data)) + data
    try:
        connection.sendall(struct.pack("<IQ", len(packed), 0) + packed)
    except OSError:
        pass


def main(words: List[str]) -> int:
    file, descriptor = words[0], int(words[words.index("--connection") + 1])
    connection = socket.socket(fileno=descriptor)
    try:
        from draftlab import calls, loading, wire
    except ImportError as error:
        why = f"{sys.executable} cannot load the package draftlab: {error}"
        cannot_begin(connection, why + "; --python and DRAFTLAB_PYTHON name another interpreter")
        return 1
    try:
        loading.load(file)
    except BaseException as error:  # A file may even call sys.exit.
        cannot_begin(connection, calls.described(error))
        return 1
    connected = wire.Wire(connection, alone=True)
    try:
        hello, _ = connected.receive()
        loading.greet(connected, hello, file)
        calls.Worker(connected, bool(hello.get("twice"))).run()
    except (wire.Closed, BrokenPipeError, ConnectionResetError):
        pass
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    # Parts import draftlab.worker, never __main__.
    from draftlab.worker import main as entry

    sys.exit(entry(sys.argv[1:]))
