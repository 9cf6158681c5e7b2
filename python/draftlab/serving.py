"""Answers connections at an address, for `dl.run` in a notebook and `python -m draftlab.serve`."""

import errno
import hmac
import os
import secrets
import socket
import stat
import struct
import sys
import tempfile
import threading
import traceback
from typing import Any, Optional

from draftlab import calls, loading, sharing, wire

_MOST_BEFORE_SECRET = 64 << 10  # A stranger may send so many bytes.
_PEER = struct.Struct("=iII")  # Process, user and group at the other end of a Unix socket.


class Listener:
    """Accepts connections at `unix:PATH` or `tcp:HOST:PORT`, each in a thread of its own. Calls of
    several are answered one at a time, but for the models: each is there once, and what several
    clients ask it at the same time is one forward.

    A client at a Unix socket is a process of the same user. Over TCP it names the secret, which is
    made here (`secret`) where none is given."""

    def __init__(
        self, address: str, secret: str = "", file: Optional[str] = None, gather: float = 0.002
    ) -> None:
        self.secret, self.file = secret, file
        self._lock = threading.Lock()
        self.shared_models = sharing.SharedModels(gather)
        kind, _, place = address.partition(":")
        if kind == "unix":
            self._path: Optional[str] = place
            self._socket = _listen_unix(place)
            self._made = _file_at(place)
            self.address = address
        elif kind == "tcp":
            self._path = None
            self._socket = _listen_tcp(place)
            self.secret = secret or secrets.token_urlsafe(32)
            host, port = self._socket.getsockname()[:2]
            self.address = f"tcp:{host}:{port}"
        else:
            raise ValueError(f"'{address}' is no address; write unix:PATH or tcp:HOST:PORT")

    def run(self) -> None:
        """Serves until the process ends or `close` is called."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def start(self) -> None:
        threading.Thread(target=self.run, daemon=True).start()

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # This wakes the thread that accepts.
        except OSError:
            pass
        self._socket.close()
        if self._path and _file_at(self._path) == self._made:  # Nobody put another one there.
            os.unlink(self._path)

    def _serve(self, connection: socket.socket) -> None:
        if self._path is None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wired = wire.Wire(connection)
        try:
            wired.limit(_MOST_BEFORE_SECRET, 0)
            hello, _ = wired.receive()
            if hello.get("version") != wire.VERSION:
                wired.send({"e": {"text": f"speaks version {wire.VERSION} of the wire"}})
                return
            if self._path is not None and user_of(connection) != os.geteuid():
                wired.send({"e": {"text": "belongs to another user, and serves that one alone"}})
                return
            given = str(hello.get("secret", "")).encode()
            if self.secret and not hmac.compare_digest(given, self.secret.encode()):
                wired.send({"e": {"text": "the secret is another one"}})
                return
            wired.limit(wire.MOST_HEADER, wire.MOST_PAYLOAD)
            loading.greet(wired, hello, self.file)
            worker = calls.Worker(wired, bool(hello.get("twice")), self._lock, self.shared_models)
            try:
                worker.run()
            finally:
                worker.close()
        except wire.MalformedMessage as error:
            try:
                wired.send({"e": {"text": f"refused {error}"}})
            except OSError:
                pass
        except (wire.Closed, OSError):
            pass
        except Exception:
            traceback.print_exc(file=sys.stderr)
        finally:
            connection.close()


def user_of(connection: socket.socket) -> int:
    """The user whose process is at the other end of a Unix socket."""
    sent = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(sent)
    return int(user)


def _file_at(path: str) -> Any:
    """What stands at a path, without following links; None where nothing does."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _make_room(path: str) -> None:
    """Removes the socket that a server left behind when it was killed, and nothing else."""
    found = _file_at(path)
    if found is None:
        return
    if found[2] != stat.S_IFSOCK:
        raise FileExistsError(f"unix:{path} stands there already and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        answer = probe.connect_ex(path)
    if answer == 0:
        raise OSError(f"unix:{path} is served already")
    if answer != errno.ECONNREFUSED:
        raise OSError(f"unix:{path} stands there already: {os.strerror(answer)}")
    os.unlink(path)


def _listen_unix(path: str) -> socket.socket:
    """A socket that this user alone may connect to, from its first moment on."""
    _make_room(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(path)
    finally:
        os.umask(before)
    made.listen()
    return made


def _listen_tcp(place: str) -> socket.socket:
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"'tcp:{place}' is no address; write tcp:HOST:PORT")
    host = host.strip("[]")
    family, kind, number, _, where = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, number)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(where)
    made.listen()
    return made


class Temporary:
    """A listener at a socket in a folder of its own, for as long as a program runs."""

    def __enter__(self) -> "Temporary":
        self._folder = tempfile.TemporaryDirectory(prefix="draftlab-")
        self._listener = Listener(f"unix:{self._folder.name}/socket")
        self.address = self._listener.address
        self._listener.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._listener.close()
        self._folder.cleanup()
