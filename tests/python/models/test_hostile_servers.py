"""A server that lies in its answers: each lie is a sentence with the model's name, and no trace."""

import array
import contextlib
import math
import os
import socket
import struct
import threading

import msgpack
import numpy as np
import pytest
from test_servers import HELLO, TOY, at

FACTS = {"vocabulary": 4, "longest": 0, "mask": -1, "family": "liar", "checkpoint": "",
         "digest": "", "parameters": 0, "stops": []}  # fmt: skip
LOCAL = {**HELLO, "shares_memory": True}


class Server:
    """Speaks the wire with one client, and answers as its fields say."""

    def __init__(self, path, hello=HELLO, facts=FACTS, answer=None):
        self.hello, self.facts, self.answer = hello, facts, answer
        self.lent, self.shrunk = {}, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError, EOFError):
            self.connection, _ = self.listener.accept()
            while True:
                self.reply(self.receive())

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self):
        header, payload = struct.unpack("<IQ", self.read(12))
        said = msgpack.unpackb(self.read(header), strict_map_key=False)
        self.read(payload)
        return said

    def send(self, header, payload=b""):
        packed = msgpack.packb(header)
        self.connection.sendall(struct.pack("<IQ", len(packed), len(payload)) + packed + payload)

    def reply(self, asked):
        if "draftlab" in asked:
            assert "memory" not in asked and "holds" not in asked  # No path is ever named.
            self.send(self.hello)
        elif asked["c"] == "memory":
            self.take(asked)
        elif asked["c"] == "new":
            self.send({"r": True})
        elif asked.get("m") == "load":
            self.send({"r": self.facts})
        elif asked.get("m") == "answer":
            self.send(*self.answer(self, asked))

    def take(self, asked):
        self.send({"r": True})
        _, passed, _, _ = self.connection.recvmsg(1, socket.CMSG_SPACE(4))
        descriptor = array.array("i", passed[0][2])[0]
        self.lent[asked["slot"]] = descriptor
        for size in (0, asked["bytes"] // 2, 2 * asked["bytes"]):
            try:
                os.ftruncate(descriptor, size)
            except PermissionError:
                self.shrunk.append(False)
            else:
                self.shrunk.append(True)


def count(asked):
    return sum(len(positions) for each in asked["batch"] for _, positions in each["asks"])


def raw(costs=(1, 1), gives="logits", **more):
    """Answers uniform logits behind the header, but for what `more` replaces."""

    def answer(server, asked):
        rows = count(asked)
        header = {"r": [list(costs)] * len(asked["batch"]), "gives": gives,
                  "arrays": [["logits", "<f4", [rows, 4]]], **more}  # fmt: skip
        return header, np.zeros((rows, 4), np.float32).tobytes()

    return answer


def shared(written, width=4):
    """Says that the logits are in memory, of which it wrote the first `written` numbers."""

    def answer(server, asked):
        rows = count(asked)
        numbers = np.zeros(rows * 4 if written is None else written, np.float32)
        if "into" in asked:
            os.pwrite(server.lent[asked["into"]], numbers.tobytes(), 0)
        shape = [rows, width]
        return {"r": [[1, 1]] * len(asked["batch"]), "gives": "shared", "shape": shape}, b""

    return answer


def decoded(program, **more):
    server = Server(str(program.folder / "socket"), **more)
    path = program.write("a.ini", TOY.replace("drafter = self", "drafter = stepwise"))
    return server, program.run("run", path, "--out", "a.h5",
                               *at(f"unix:{program.folder}/socket", "m"))  # fmt: skip


@pytest.mark.parametrize("hello, answer", [(HELLO, raw()), (LOCAL, raw()), (LOCAL, shared(None))])
def test_a_server_that_tells_the_truth_is_believed(program, hello, answer):
    server, done = decoded(program, hello=hello, answer=answer)
    assert done.returncode == 0, done.stderr
    program.ok("check-trace", "a.h5")
    assert not any(server.shrunk)  # It tried to cut the memory off, and to make it larger.


@pytest.mark.parametrize("hello, answer, expected", [
    (LOCAL, shared(0), "answers position 0 with logits that are not numbers"),
    (LOCAL, shared(3), "answers position 0 with logits that are not numbers"),
    (LOCAL, shared(None, 5), "answers 1 positions of 4 tokens with an array of shape [1,5]"),
    (HELLO, shared(None), "says that its logits are in memory, and was given none"),
    (HELLO, raw(gives="bananas"), "gives 'bananas', and the wire has shared, logits and weights"),
    (HELLO, raw(costs=(-1, 1)), "says that it computed -1 rows or positions"),
    (HELLO, raw(costs=(1, -1)), "says that it computed -1 rows or positions"),
    (HELLO, raw(costs=(1 << 62, 1)), "says that it computed 4611686018427387904 rows"),
    (HELLO, raw(costs=(1, (1 << 64) - 1)), "answered 18446744073709551615 where a whole number"),
    (HELLO, raw(costs=(math.nan, 1)), "answered null where a whole number stands"),
    (HELLO, raw(costs=(1, 1.5)), "answered 1.5 where a whole number stands"),
    (HELLO, raw(costs=()), "a list is too short"),
    (HELLO, raw(r=[]), "answers another number of questions"),
    (HELLO, raw(r={"a": 1}), "a list or a map is wanted where"),
    (HELLO, raw(gives=7), "type must be string, but is number"),
    (HELLO, raw(arrays=[["logits", "<f8", [1, 4]]]), "longer than its message"),
    (HELLO, raw(arrays=[["logits", "<f4", [4, 1]]]), "with an array of shape [4,1]"),
])  # fmt: skip
def test_an_answer_that_lies_is_named(program, hello, answer, expected):
    _, done = decoded(program, hello=hello, answer=answer)
    assert done.returncode == 76, (done.returncode, done.stderr)
    assert expected in done.stderr, done.stderr
    assert f"model 'm' (unix:{program.folder}/socket)" in done.stderr
    assert not (program.folder / "a.h5").exists()


@pytest.mark.parametrize("facts, expected", [
    ({"stops": [4]}, "ends a text with token 4, and its vocabulary has 4"),
    ({"stops": [-1]}, "ends a text with token -1"),
    ({"stops": [1 << 40]}, "where a whole number stands"),
    ({"longest": -5}, "holds -5 positions; 0 stands for any"),
    ({"longest": 1 << 62}, "where a whole number stands"),
    ({"longest": math.nan}, "where a whole number stands"),
    ({"mask": 4}, "has the mask token 4 and a vocabulary of 4"),
    ({"mask": -2}, "has the mask token -2"),
    ({"vocabulary": 0}, "vocabulary"),
    ({"vocabulary": -4}, "vocabulary"),
    ({"parameters": -1}, "has -1 parameters"),
])  # fmt: skip
def test_facts_that_lie_are_named(program, facts, expected):
    _, done = decoded(program, facts={**FACTS, **facts}, answer=raw())
    assert done.returncode == 76, (done.returncode, done.stderr)
    assert expected in done.stderr, done.stderr
    assert f"model 'm' (unix:{program.folder}/socket)" in done.stderr


def test_memory_over_tcp_is_never_lent(program):
    """A server says that it shares memory where the connection carries no descriptor."""
    relay = socket.create_server(("127.0.0.1", 0))
    server = Server(str(program.folder / "socket"), hello=LOCAL, answer=raw())

    def run():
        with contextlib.suppress(OSError, EOFError):
            server.connection, _ = relay.accept()
            while True:
                server.reply(server.receive())

    threading.Thread(target=run, daemon=True).start()
    path = program.write("a.ini", TOY.replace("drafter = self", "drafter = stepwise"))
    program.ok("run", path, "--out", "a.h5", *at(f"tcp:127.0.0.1:{relay.getsockname()[1]}", "m"))
    assert server.lent == {}
