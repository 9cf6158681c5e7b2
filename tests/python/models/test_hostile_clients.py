"""What a client of `draftlab.serve` cannot do: read or write a file of whoever runs the server, get
in without the secret or as another user, or end the server."""

import array
import fcntl
import mmap
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgpack
import numpy as np
import pytest
from conftest import ROOT
from test_servers import MODELS, of_toy, serving

SECRET = "open sesame"
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
WIDE = ["--set", "model.wide.vocabulary=4"]


class Client:
    """A client that says what it likes."""

    def __init__(self, address, secret="", **hello):
        kind, _, place = address.partition(":")
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(place)
        else:
            host, port = place.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(10)
        limits = {"header": 1 << 20, "payload": 1 << 20}
        self.hello = self.ask({"draftlab": "wire", "version": 2, "limits": limits, "twice": False,
                               "secret": secret, **hello})  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, header, payload=b""):
        packed = msgpack.packb(header)
        try:
            self.socket.sendall(struct.pack("<IQ", len(packed), len(payload)) + packed + payload)
        except BrokenPipeError:
            pass  # The server has hung up, and said why before.

    def _read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self):
        """A header, with what follows it as `payload`; None where the server has hung up."""
        try:
            header, payload = struct.unpack("<IQ", self._read(12))
            said = msgpack.unpackb(self._read(header), strict_map_key=False)
            return {**said, "payload": self._read(payload)}
        except (EOFError, ConnectionError):
            return None

    def ask(self, header, payload=b""):
        self.send(header, payload)
        return self.receive()

    def make(self, name="wide", **options):
        """An instance with the number 1, loaded."""
        said = self.ask({"c": "new", "id": 1, "kind": "model", "name": name, "options": options})
        if "e" in said:
            return said["e"]["text"]
        machine = {"device": "cpu", "dtype": "f32", "threads": 1}
        assert "r" in self.ask({"c": "call", "m": "load", "id": 1, "machine": machine})
        return ""

    def answer(self, **more):
        """Asks for the logits of position 1 of a canvas of two."""
        question = {"sequence": 1, "kind": "draft", "view": "causal", "shallow": False, "nodes": [],
                    "asks": [[-1, [1]]], "tentative": [], "blocks": [0, 0, 0]}  # fmt: skip
        arrays = [["tokens 1", "<i4", [2]], ["order 1", "<i4", [0]]]
        payload = np.array([1, -1], np.int32).tobytes()
        header = {"c": "call", "m": "answer", "id": 1, "batch": [question], "arrays": arrays}
        return self.ask({**header, **more}, payload)

    def lend(self, *descriptors, slot=0, size=4096):
        """Announces memory, sends the descriptors, and returns what the server then says of it:
        an instance that there is not is an error, and the connection goes on."""
        said = self.ask({"c": "memory", "slot": slot, "bytes": size})
        if said is None or "e" in said:
            return said
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self.socket.sendmsg([b"\0"], rights if descriptors else [])
        return self.ask({"c": "call", "m": "load", "id": 99})


def memory(size=4096, seals=SEALS):
    made = os.memfd_create("evil", os.MFD_ALLOW_SEALING)
    os.ftruncate(made, size)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, seals)
    return made


def opened_by(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def assert_closed(process, before):
    """Nothing that a client sent is left open."""
    until = time.monotonic() + 5
    while opened_by(process) != before and time.monotonic() < until:
        time.sleep(0.01)
    assert opened_by(process) == before


@pytest.fixture
def server(program):
    with serving("--listen", f"unix:{program.folder}/socket", *WIDE) as (address, process):
        yield address, process
        assert process.poll() is None  # Nothing ended it,
        with Client(address) as client:  # and it still answers.
            assert client.make() == ""
            assert client.answer()["gives"] == "logits"


@pytest.fixture
def distant(program):
    secret = program.write("secret", SECRET + "\n")
    listen = ["--listen", "tcp:127.0.0.1:0", "--secret", secret, *WIDE]
    with serving(*listen) as (address, _):
        yield address


def test_a_client_that_names_a_path_learns_nothing_of_the_file(program, server):
    file = program.write("private", "only the owner reads this")
    said = []
    for holds in ("only the owner", "something else"):
        with Client(server[0], memory=file, holds=holds, shares_memory=file) as client:
            said.append(client.hello)
    assert said[0] == said[1] and said[0]["shares_memory"] is False


@pytest.mark.parametrize("into", [
    lambda path: [path, 4096], lambda path: path, lambda path: 0, lambda path: {"path": path},
    lambda path: None, lambda path: -1, lambda path: [0, 4096],
])  # fmt: skip
def test_a_client_that_names_a_path_to_write_to_overwrites_nothing(program, server, into):
    file = program.write("private", "x" * 4096)
    with Client(server[0], shares_memory=True) as client:
        assert client.make() == ""
        said = client.answer(into=into(file))
        assert "which holds no memory" in said["e"]["text"]
    assert Path(file).read_text() == "x" * 4096


def test_memory_that_is_lent_is_written_to_and_cannot_shrink(server):
    lent = memory()
    with Client(server[0], shares_memory=True) as client:
        assert client.hello["shares_memory"] is True
        assert client.make() == ""
        client.lend(lent, slot=3)
        with pytest.raises(PermissionError):
            os.ftruncate(lent, 0)
        assert client.answer(into=3)["gives"] == "shared"
        logits = np.frombuffer(mmap.mmap(lent, 4096), np.float32, 4)
        expected = client.answer()
        assert expected["gives"] == "logits"
        assert logits.tolist() == np.frombuffer(expected["payload"], np.float32).tolist()


def of_file(program):
    return os.open(program.write("private", "x" * 4096), os.O_RDWR)


def unlinked(program):
    path = program.write("private", "x" * 4096)
    opened = os.open(path, os.O_RDWR)
    os.unlink(path)
    return opened


def in_memory_file_system(program):
    made = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.ftruncate(made, 4096)
    return made


@pytest.mark.parametrize("make, expected", [
    (of_file, "a descriptor that is no memory"),
    (unlinked, "a descriptor that is no memory"),
    (in_memory_file_system, "memory whose size is not sealed"),
    (lambda _: os.open("/dev/zero", os.O_RDWR), "a descriptor that is no memory"),
    (lambda _: os.pipe()[1], "a descriptor that is no memory"),
    (lambda _: memory(seals=0), "memory whose size is not sealed"),
    (lambda _: memory(seals=fcntl.F_SEAL_SHRINK), "memory whose size is not sealed"),
    (lambda _: memory(seals=fcntl.F_SEAL_GROW), "memory whose size is not sealed"),
    (lambda _: memory(2048), "memory of 2048 bytes that is called one of 4096"),
    (lambda _: memory(8192), "memory of 8192 bytes that is called one of 4096"),
    (lambda _: memory(seals=SEALS | fcntl.F_SEAL_WRITE), "memory that cannot be written to"),
])  # fmt: skip
def test_a_descriptor_of_anything_but_sealed_memory_is_refused(program, server, make, expected):
    address, process = server
    before = opened_by(process)
    with Client(address, shares_memory=True) as client:
        assert expected in client.lend(make(program))["e"]["text"]
        assert client.receive() is None
    assert_closed(process, before)


@pytest.mark.parametrize("descriptors, slot, size, expected", [
    (0, 0, 4096, "0 descriptors where one stands"),
    (2, 0, 4096, "2 descriptors where one stands"),
    (9, 0, 4096, "descriptors where one stands"),
    (1, 64, 4096, "memory for slot 64 of 64"),
    (1, -1, 4096, "memory for slot -1 of 64"),
    (1, "/etc/passwd", 4096, "memory for slot '/etc/passwd' of 64"),
    (1, 0, 0, "memory of 0 bytes"),
    (1, 0, 1 << 62, "bytes"),
    (1, 0, 4096.0, "memory of 4096.0 bytes"),
])  # fmt: skip
def test_memory_that_breaks_the_rules_of_the_wire_is_refused(
    server, descriptors, slot, size, expected
):
    address, process = server
    before = opened_by(process)
    with Client(address, shares_memory=True) as client:
        said = client.lend(*[memory() for _ in range(descriptors)], slot=slot, size=size)
        assert expected in said["e"]["text"]
        assert client.receive() is None
    assert_closed(process, before)


def test_a_descriptor_that_nobody_awaits_never_arrives(server):
    address, process = server
    with Client(address) as client:
        before = opened_by(process)
        packed = msgpack.packb({"c": "forget", "id": 1, "sequence": 1})
        for _ in range(20):
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory()]))]
            client.socket.sendmsg([struct.pack("<IQ", len(packed), 0) + packed], rights)
        assert client.make() == ""
        assert opened_by(process) == before


def test_over_tcp_there_is_no_memory(distant):
    with Client(distant, SECRET, shares_memory=True) as client:
        assert client.hello["shares_memory"] is False
        said = client.ask({"c": "memory", "slot": 0, "bytes": 4096})
        assert "memory over TCP, which lends none" in said["e"]["text"]


@pytest.mark.parametrize("secret", ["", "open", "open sesame ", "open barley", 7, None, ["open"]])
def test_a_wrong_secret_opens_nothing(distant, secret):
    with Client(distant, secret) as client:
        assert client.hello["e"]["text"] == "the secret is another one"
        assert client.receive() is None


def test_a_server_over_tcp_makes_a_secret_where_none_is_given(program):
    with serving("--listen", "tcp:127.0.0.1:0", *of_toy()) as (address, process):
        lines = []
        read = process.stdout.readline
        reader = threading.Thread(target=lambda: lines.append(read()), daemon=True)
        reader.start()
        reader.join(10)
        assert lines, "no secret is shown"
        secret = lines[0].split(": ")[1].strip()
        assert len(secret) >= 32
        for wrong in ("", secret[:-1]):
            with Client(address, wrong) as client:
                assert client.hello["e"]["text"] == "the secret is another one"
        with Client(address, secret) as client:
            assert client.make("table-twin") == ""
        named = program.write("secret", secret + "\n")
        listed = ["list", "routers", "--plugin", address]
        program.ok(*listed, "--plugin-secret", named)
        assert "the secret is another one" in program.fails(78, *listed)
        assert "--plugin-secret = nowhere holds no secret" in program.fails(
            78, *listed, "--plugin-secret", "nowhere"
        )


def test_a_client_of_another_machine_sets_no_text_that_may_name_a_file(program, server, distant):
    file = program.folder / "written"
    with Client(distant, SECRET) as client:
        assert "over TCP the server alone sets it" in client.make(note=str(file))
        assert "option slow = '" in client.make(slow=str(file))
        assert client.make(vocabulary=5) == ""
        assert "e" not in client.answer()
    assert not file.exists()
    with Client(server[0]) as client:  # Its own user may: that one can write the file anyway.
        assert client.make(note=str(file)) == ""


def test_a_client_of_another_user_is_refused(program):
    """The server believes that it runs for another user than it does."""
    apart = program.write(
        "apart.py",
        f"import sys\nsys.path.insert(0, {str(Path(MODELS).parent)!r})\n"
        "import os\nmine = os.geteuid()\nos.geteuid = lambda: mine + 1\nfrom toys import Wide\n",
    )
    with serving("--listen", f"unix:{program.folder}/socket", file=apart) as (address, _):
        with Client(address) as client:
            assert "belongs to another user" in client.hello["e"]["text"]
            assert client.receive() is None


@pytest.mark.parametrize("header", [
    {}, {"c": "open"}, {"c": None}, {"c": ["memory"]}, {"c": "memory"}, {"c": "call"},
    {"c": "call", "m": "/etc/passwd", "id": 1}, {"c": "new"}, {"c": "del", "id": "x"},
    {"c": "new", "id": 2, "kind": "model", "name": "../toys", "options": {}},
    {"c": "new", "id": 2, "kind": "model", "name": "wide", "options": {"__class__": 1}},
])  # fmt: skip
def test_messages_that_mean_nothing_end_no_server(server, header):
    with Client(server[0]) as client:
        client.send(header)
        client.socket.shutdown(socket.SHUT_WR)
        said = client.receive()
        assert said is None or "e" in said


def test_limits_that_are_none_are_refused(server):
    for limits in (7, {"header": 1}, {"header": "many", "payload": 1}, [1, 2]):
        with Client(server[0], limits=limits) as client:
            assert "which are none" in client.hello["e"]["text"]


def listen(path, **more):
    return subprocess.run(
        [sys.executable, "-m", "draftlab.serve", MODELS, "--listen", f"unix:{path}"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True, text=True, timeout=20, **more,
    )  # fmt: skip


def test_a_server_removes_no_file_where_it_listens(program):
    file = program.write("notes", "mine")
    link, folder = program.folder / "link", program.folder / "folder"
    link.symlink_to(file)
    folder.mkdir()
    for path in (file, link, folder):
        done = listen(path)
        assert done.returncode == 78 and "stands there already and is no socket" in done.stderr
    assert Path(file).read_text() == "mine" and link.is_symlink() and folder.is_dir()


def test_a_server_removes_only_a_socket_that_nobody_answers(program, server):
    assert "is served already" in listen(server[0][5:]).stderr
    assert os.path.exists(server[0][5:])
    dead = program.folder / "dead"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
        left.listen()
    with serving("--listen", f"unix:{dead}", *WIDE) as (address, _):
        with Client(address) as client:
            assert client.make() == ""
        dead.unlink()
        dead.write_text("put there meanwhile")
    assert dead.read_text() == "put there meanwhile"
