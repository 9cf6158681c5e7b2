"""Models of another process: in the worker, behind a Unix socket, behind TCP with a secret; several
clients of one server; servers that fail, restart, or lie."""

import contextlib
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgpack
import pytest
from conftest import BINARIES, ORDERED, ROOT, TWINS

from draftlab import wire

MODELS = str(Path(__file__).parent / "toys.py")
TOY = ORDERED.replace("samples = 60", "samples = 20").replace("length = 7", "length = 5")
VIEWS = """
model = table
task = positions
frontier = blocks
drafter = denoise
unmasker = threshold
[model.table]
kind = views
length = 6
[task.positions]
length = 6
prompt = 0:1
[decode]
block_size = 3
threshold = 0.6
[run]
samples = 20
"""
REMOTE = ["--model", "remote", "--model.remote.name"]


@contextlib.contextmanager
def serving(*words, file=MODELS, **variables):
    """A server and the address at which it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "draftlab.serve", file, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stdout.readline()
        assert " at " in said, process.stderr.read()
        yield said.split(" at ")[1].strip(), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def at(address, name="table-twin"):
    return [*REMOTE, name, "--model.remote.address", address]


def same_as_table(program, config, words, **more):
    path = program.write("a.ini", config)
    program.ok("run", path, "--out", "a.h5", "--batch", 4)
    program.ok("run", path, "--out", "b.h5", "--batch", 4, *words, **more)
    program.same("a.h5", "b.h5", "step_draft_ns", "step_verify_ns", "run_checkpoint", "run_model")


def settled(config, model):
    return config.replace("[model.table]", f"[model.{model}]").replace(
        "model = table", f"model = {model}"
    )


@pytest.mark.parametrize("config", [TOY, VIEWS, TOY.replace("ordered", "joint")])
def test_a_twin_of_the_table_in_the_worker_writes_the_same_trace(program, config):
    words = ["--plugin", MODELS, "--model", "table-twin"]
    section = config.split("[model.table]\n")[1].split("[")[0]
    for line in section.strip().split("\n"):
        key, value = line.split(" = ")
        words += [f"--model.table-twin.{key}", value]
    same_as_table(program, config, words)


@pytest.mark.parametrize("config, axis", [
    (TOY, "drafter = self, stepwise"),
    (TOY, "decode.draft_length = 1, 3"),
    (VIEWS, "decode.threshold = 0.4, 0.8"),
])  # fmt: skip
def test_a_sweep_of_two_workers_decodes_with_the_twin_as_with_the_table(program, config, axis):
    swept = config + f"[sweep]\n{axis}\n"
    path = program.write("a.ini", swept)
    program.ok("sweep", path, "--jobs", 2, "--out", "a")
    path = program.write("b.ini", settled(swept, "table-twin"))
    program.ok("sweep", path, "--jobs", 2, "--out", "b", "--plugin", MODELS)
    program.same("a/sweep.h5", "b/sweep.h5", "run_checkpoint", "run_model")


def test_a_certificate_holds_with_the_twin_of_the_table(program):
    file = str(ROOT / "configs/certify/assd/assd-self-k3.ini")
    said = program.ok("describe", "model.table")
    assert "noise" in said
    words = ["--plugin", MODELS, "--model", "table-twin", "--plugin", TWINS]
    assert ": holds" in program.ok("certify", file, *words, timeout=100)


def test_a_server_at_a_unix_socket_answers_as_the_table_does(program):
    where = program.folder / "socket"
    with serving("--listen", f"unix:{where}", *of_toy()) as (address, process):
        assert stat.S_IMODE(os.stat(where).st_mode) == 0o600
        same_as_table(program, TOY, at(address))
    assert process.returncode == 0
    assert not where.exists()


def of_toy():
    return ["--set", "model.table-twin.vocabulary=4"]


def test_a_server_over_tcp_wants_its_secret(program):
    secret = program.write("secret", "open sesame\n")
    other = program.write("other", "open barley\n")
    path = program.write("a.ini", TOY)
    with serving("--listen", "tcp:127.0.0.1:0", "--secret", secret, *of_toy()) as (address, _):
        same_as_table(program, TOY, [*at(address), "--model.remote.secret", secret])
        for words in ([], ["--model.remote.secret", other]):
            fault = program.fails(78, "run", path, *at(address), *words)
            assert address in fault and "the secret is another one" in fault
        fault = program.fails(78, "run", path, *at(address), "--model.remote.secret", "nowhere")
        assert "model.remote.secret = nowhere holds no secret" in fault


@pytest.mark.parametrize("words, expected", [
    (["--listen", "ftp:there"], "write unix:PATH or tcp:HOST:PORT"),
    (["--listen", "tcp:nowhere"], "write tcp:HOST:PORT"),
    (["--listen", "unix:/no/such/folder/socket"], "No such file"),
    (["--listen", "unix:x", "--secret", "/dev/null"], "holds no secret"),
    (["--listen", "unix:x", "--set", "model.wide.slow=99"], "option slow = 99.0 is not in [0, 60]"),
    (["--listen", "unix:x", "--set", "model.wide.tall=1"], "has no option 'tall'; it has"),
    (["--listen", "unix:x", "--set", "model.wade.slow=1"], "has no model 'wade'"),
    (["--listen", "unix:x", "--set", "slow=1"], "is not of the form KIND.NAME.OPTION=VALUE"),
    (["--listen", "unix:x", "--set", "model.wide.slow=soon"], "option slow = soon is no float"),
])  # fmt: skip
def test_a_server_that_cannot_begin_says_why(program, words, expected):
    done = subprocess.run(
        [sys.executable, "-m", "draftlab.serve", MODELS, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        cwd=program.folder, capture_output=True, text=True, timeout=20,
    )  # fmt: skip
    assert done.returncode == 78 and expected in done.stderr, done.stderr


def test_clients_share_the_model_and_its_forwards(program):
    """Two programs ask at the same time: some forwards answer sequences of both."""
    note = program.folder / "note"
    config = TOY.replace("task = positions", "task = positions\nrouter = always")
    path = program.write("a.ini", config)
    words = ["--set", f"model.wide.note={note}", "--set", "model.wide.vocabulary=4",
             "--set", "model.wide.slow=0.02", "--gather", "0.5"]  # fmt: skip
    with serving("--listen", f"unix:{program.folder}/socket", *words) as (address, _):
        program.ok("run", path, "--out", "alone.h5", *at(address, "wide"))
        alone = [int(line) for line in note.read_text().split()]
        note.unlink()
        both = [
            threading.Thread(
                target=program.ok,
                args=("run", path, "--out", f"{name}.h5", *at(address, "wide")),
            )
            for name in "ab"
        ]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        together = [int(line) for line in note.read_text().split()]
    assert set(alone) == {1} and max(together) == 2
    assert sum(together) == 2 * sum(alone) and len(together) < 2 * len(alone)
    for name in "ab":
        program.same("alone.h5", f"{name}.h5")


def test_large_logits_come_through_memory_and_behind_the_header(program):
    """A child and a server at a socket are lent memory; one that takes none sends raw frames."""
    config = settled(TOY, "wide").replace("kind = ordered\nvocabulary = 4\nlength = 5\n", "")
    path = program.write("a.ini", config + "limit = 1\n[decode]\ntemperature = 0.5\n")
    path = program.write("a.ini", Path(path).read_text().replace("samples = 20", "samples = 3"))
    program.ok("run", path, "--out", "a.h5", "--plugin", MODELS)
    apart = program.write(
        "apart.py",
        f"import sys\nsys.path.insert(0, {str(Path(MODELS).parent)!r})\n"
        "from draftlab import loading\nloading.shares_memory = lambda wire, hello: False\n"
        "from toys import Wide\n",
    )
    with serving("--listen", f"unix:{program.folder}/socket", file=apart) as (address, _):
        program.ok("run", path, "--out", "b.h5", *at(address, "wide"))
    program.same("a.h5", "b.h5", "run_model")


@pytest.mark.parametrize("how, expected", [
    ("shape", "answers 4 positions of 4 tokens with an array of shape [4,5]"),
    ("many", "answers 4 positions of 4 tokens with an array of shape [5,4]"),
    ("nan", "with logits that are not numbers"),
    ("none", "answer returned NoneType None; it returns [asked, vocabulary] logits"),
    ("raise", "RuntimeError: out of memory at toys.py:"),
    ("end", "its process ended while it was asked something (status 3)"),
    ("hang", "did not answer within 0.5 s"),
])  # fmt: skip
def test_a_model_that_answers_nonsense_is_named(program, how, expected):
    config = settled(TOY, "broken").replace("kind = ordered\nvocabulary = 4\nlength = 5\n", "")
    path = program.write("a.ini", config.replace("drafter = self", "drafter = stepwise"))
    words = ["--plugin", MODELS, "--model.broken.how", how, "--python-timeout", "0.5"]
    fault = program.fails(76, "run", path, *words)
    assert expected.replace("4 positions", "1 positions").replace("[4,", "[1,").replace(
        "[5,4]", "[2,4]") in fault  # fmt: skip
    assert "model 'broken' (" in fault and "toys.py)" in fault
    assert not os.path.exists(program.folder / "out/a.h5")


def test_a_server_that_is_not_there_or_holds_no_such_model(program):
    path = program.write("a.ini", TOY)
    fault = program.fails(78, "run", path, *at("unix:nowhere"))
    assert "unix:nowhere cannot be reached: No such file or directory" in fault
    fault = program.fails(78, "run", path, *at("tcp:127.0.0.1:1"))
    assert "tcp:127.0.0.1:1 cannot be reached: Connection refused" in fault
    assert "is no address" in program.fails(78, "run", path, *at("there"))
    assert "model.remote.address must name a server" in program.fails(
        78, "run", path, "--model", "remote"
    )
    with serving("--listen", f"unix:{program.folder}/socket") as (address, _):
        fault = program.fails(78, "run", path, *at(address, "gpt"))
        assert "holds table-twin, wide, broken, and model.remote.name = gpt is none" in fault
        fault = program.fails(78, "run", path, "--model", "remote", "--model.remote.address",
                              address)  # fmt: skip
        assert "model.remote.name chooses one" in fault


def test_a_server_that_is_killed_ends_the_sample_in_a_sentence(program):
    path = program.write("a.ini", TOY)
    words = ["--set", "model.wide.slow=0.2", "--set", "model.wide.vocabulary=4"]
    with serving("--listen", f"unix:{program.folder}/socket", *words) as (address, process):
        running = subprocess.Popen(
            [str(BINARIES / "draftlab"), "run", path, "--out", "a.h5", *at(address, "wide")],
            cwd=program.folder, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(1)
        process.kill()
        said = running.communicate(timeout=20)[1]
    assert running.returncode == 76
    assert f"model 'wide' ({address}): its process ended while it was asked something" in said
    assert not (program.folder / "a.h5").exists()
    # Its socket is left behind, and the next server takes it.
    with serving("--listen", address, *words[2:]) as (again, _):
        program.ok("run", path, "--out", "a.h5", "--resume", *at(again, "wide"))


RESTARTS = """
import os, signal, socket, subprocess
import draftlab as dl

@dl.task("restarts")
class Restarts:
    def __len__(self):
        return 2

    def prompt(self, index):
        if index > 0:
            os.kill(int(open("pid").read()), signal.SIGKILL)
            while socket.socket(socket.AF_UNIX).connect_ex({path!r}) == 0:
                pass
            if {again}:
                server = subprocess.Popen({command!r}, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL)
                server.stdout.readline()
                open("pid", "w").write(str(server.pid))
        return dl.Prompt(f"p{{index}}", 5, given=[(0, 1)])
"""


@pytest.mark.parametrize("again", [True, False])
def test_a_server_that_restarts_is_connected_to_again_between_samples(program, again):
    """The task ends the server before each later prompt, and starts another one or does not."""
    address = f"unix:{program.folder}/socket"
    command = [sys.executable, "-m", "draftlab.serve", MODELS, "--listen", address, *of_toy()]
    program.write("restarts.py", RESTARTS.format(command=command, again=again,
                                                 path=address[5:]))  # fmt: skip
    path = program.write("a.ini", TOY.replace("task = positions", "task = restarts"))
    with serving("--listen", address, *of_toy()) as (_, process):
        (program.folder / "pid").write_text(str(process.pid))
        words = ["run", path, "--plugin", "restarts.py", "--run.samples", 1, *at(address)]
        if again:
            program.ok(*words, "--out", "b.h5")
        else:
            assert f"{address} cannot be reached" in program.fails(78, *words)
    if again:
        os.kill(int((program.folder / "pid").read_text()), signal.SIGTERM)
        (program.folder / "restarts.py").write_text(
            (program.folder / "restarts.py").read_text().replace("index > 0", "False")
        )
        program.ok("run", path, "--plugin", "restarts.py", "--run.samples", 1, "--out", "c.h5")
        program.same("b.h5", "c.h5", "run_model", "run_checkpoint")


RULE = """
import draftlab as dl

@dl.acceptance("asks")
class Asks:
    def probability(self, trial):
        return trial.target[0]
"""
TRIAL = [0, 0.5, 0.5, 0, 4, 0, 1, None]


def asked(address):
    """A client of an acceptance rule, which the rule has just asked something."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    connection.connect(address[5:])
    client = wire.Wire(connection)
    client.send({"draftlab": "wire", "version": wire.VERSION})
    assert client.receive()[0]["draftlab"] == "wire"
    client.send({"c": "new", "id": 1, "kind": "acceptance", "name": "asks", "options": {}})
    assert client.receive()[0] == {"r": True}
    client.send({"c": "call", "id": 1, "m": "probability", "scope": 1, "trial": TRIAL})
    assert client.receive()[0]["q"] == "p"
    return client


def test_a_client_that_falls_silent_in_a_question_holds_up_nobody(program):
    file = program.write("rule.py", RULE)
    with serving("--listen", f"unix:{program.folder}/socket", file=file) as (address, _):
        silent, other = asked(address), asked(address)
        other.send({"a": [0.25]})
        assert other.receive()[0] == {"r": 0.25}
        silent.send({"a": [0.5]})
        assert silent.receive()[0] == {"r": 0.5}


def liar(path, *replies):
    """A process that accepts one connection, reads a message and sends these bytes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def answer():
        connection, _ = listener.accept()
        with contextlib.suppress(OSError):  # Draftlab may have had enough.
            for reply in replies:
                connection.recv(1 << 16)
                connection.sendall(reply)
            connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
        connection.close()
        listener.close()

    threading.Thread(target=answer, daemon=True).start()
    return f"unix:{path}"


def message(header):
    packed = msgpack.packb(header)
    return struct.pack("<IQ", len(packed), 0) + packed


def test_a_server_that_asks_for_ever_is_left_after_its_time(program):
    path = program.write("a.ini", TOY)
    asks = message({"q": "p", "scope": 0, "of": [], "tokens": []})
    address = liar(f"{program.folder}/socket", message(HELLO), message({"r": True}),
                   *[asks] * 1_000_000)  # fmt: skip
    began = time.monotonic()
    words = ["--model", "remote", "--model.remote.address", address, "--model.remote.timeout", 1]
    fault = program.fails(76, "run", path, *words)
    assert f"model 'm' ({address}) did not answer within 1 s" in fault
    assert time.monotonic() - began < 10


HELLO = {
    "draftlab": "wire", "version": 2, "limits": {"header": 1 << 20, "payload": 1 << 20},
    "shares_memory": False, "runtime": "a liar",
    "parts": [{"kind": "model", "name": "m", "summary": "", "place": "", "options": [],
               "methods": ["answer"], "asks": [], "asks_draft_model": [], "forms": ["committed"],
               "reads_expected": False, "reads_draft_length": True}],
}  # fmt: skip


@pytest.mark.parametrize("status, replies, expected", [
    (78, [struct.pack("<IQ", 16, 1 << 60)], "bytes, more than this side accepts"),
    (78, [struct.pack("<IQ", (16 << 20) + 1, 0)], "bytes, more than this side accepts"),
    (78, [message({**HELLO, "version": 1})], "version 1 of the wire, and this program speaks"),
    (78, [message([1, 2])], "announced"),
    (78, [message({"draftlab": "wire", "version": 2})], "announced something damaged"),
    (78, [struct.pack("<IQ", 4, 0) + b"\xc1\xc1\xc1\xc1"], "announced"),
    (76, [message(HELLO), struct.pack("<IQ", 16, 1 << 60)], "bytes, more than this side accepts"),
    (76, [message(HELLO), message({"r": True}), message({"r": {"vocabulary": "many"}})],
     "answered \"many\" where a whole number stands"),
    (76, [message(HELLO), message({"r": True}), b"\x00"], "its process ended"),
])  # fmt: skip
def test_a_process_that_breaks_the_rules_of_the_wire_is_refused(program, status, replies, expected):
    address = liar(str(program.folder / "socket"), *replies)
    path = program.write("a.ini", TOY)
    fault = program.fails(status, "run", path, *at(address, "m"))
    assert expected in fault and address in fault, fault


def test_a_stranger_is_refused_before_memory_is_taken(program):
    with serving("--listen", f"unix:{program.folder}/socket") as (address, process):
        for sent in (struct.pack("<IQ", 1 << 30, 0), struct.pack("<IQ", 16, 1 << 62),
                     struct.pack("<IQ", 3, 0) + b"\x93\x01\x02",
                     message({"version": 3})):  # fmt: skip
            stranger = socket.socket(socket.AF_UNIX)
            stranger.settimeout(5)
            stranger.connect(address[5:])
            stranger.sendall(sent)
            stranger.shutdown(socket.SHUT_WR)
            said = b""
            while data := stranger.recv(1 << 16):
                said += data
            stranger.close()
            assert b"refused" in said or b"speaks version 2" in said or not said
        assert process.poll() is None  # The server still serves.
        path = program.write("a.ini", TOY)
        program.ok("run", path, *at(address), "--limit", 1, "--decode.draft_length", 2,
                   "--model.remote.timeout", 30)  # fmt: skip
