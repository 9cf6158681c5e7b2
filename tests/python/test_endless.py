"""A part that asks, draws or computes for ever: a limit ends it with a sentence, and a signal ends
the run in the middle of its step, with what was finished kept."""

import os
import signal
import subprocess
import time

import pytest
from conftest import BINARIES, ORDERED, ROOT

CERTIFICATE = str(ROOT / "configs/certify/assd/assd-self-k3.ini")

# A drafter that is well-behaved for a hundred steps, and while a file `calm` stands there; a file
# `endless` says that it is so no more.
DRAFTER = """
import itertools, os
import draftlab as dl

calls = 0

@dl.drafter("endless")
class Endless:
    asks = ["committed"]

    def propose(self, step):
        global calls
        calls += 1
        answer = yield step.ask(step.window[:1])
        if calls > 100 and not os.path.exists("calm"):
            open("endless", "w").close()
            BODY
        tokens = yield step.draw(answer)
        return dl.Proposal.path(tokens, drawn_from=answer, exact=1)
"""
WAYS = {
    "asks": "while True: yield step.ask(step.window[:1])",
    "draws": "for i in itertools.count(): yield step.below(0.5, step.window[0], attempt=i)",
    "looks": "while True: answer[0][0]",
    "computes": "while True: pass",
}
NATIVE = [str(BINARIES / "libtest_endless.so")]


def plugin(program, way):
    """The words that name the drafter."""
    if way in WAYS:
        program.write("endless.py", DRAFTER.replace("BODY", WAYS[way]))
        return ["--plugin", "endless.py", "--drafter", "endless"]
    return ["--plugin", *NATIVE, "--drafter", "endless"]


def started(program, *words):
    return subprocess.Popen(
        [str(BINARIES / "draftlab"), *map(str, words)],
        cwd=program.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} does not come")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", [*WAYS, "native"])
def test_a_signal_ends_a_run_within_a_step_and_keeps_what_was_finished(program, way, by):
    calm = program.folder / "calm"
    words = plugin(program, way)
    config = program.write("a.ini", ORDERED)
    most = ["--decode.questions", 1000000000]
    run = started(program, "run", config, "--out", "a.h5", *most, *words)
    wait_for(program.folder / "endless")
    time.sleep(0.3)
    began = time.monotonic()
    run.send_signal(by)
    _, said = run.communicate(timeout=30)
    assert time.monotonic() - began < 10  # A step of this part never ends.
    assert run.returncode == 130, said
    assert "interrupted; what was finished is kept" in said
    calm.touch()
    log = ["--log", "log"]
    program.ok("run", config, "--resume", "--out", "a.h5", *most, *words, *log)
    line = (program.folder / "log").read_text().split("60 samples, of which ")[1]
    assert int(line.split()[0]) > 0
    program.ok("run", config, "--out", "b.h5", *most, *words)
    program.same("a.h5", "b.h5", "run_libraries")


def test_a_second_signal_ends_a_native_part_that_never_asks(program):
    config = program.write("a.ini", ORDERED)
    words = [*plugin(program, "native"), "--drafter.endless.how", "computes"]
    run = started(program, "run", config, "--out", "a.h5", *words)
    wait_for(program.folder / "endless")
    run.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(0.5)
    run.send_signal(signal.SIGTERM)
    assert run.wait(5) == -signal.SIGTERM
    run.communicate()


@pytest.mark.parametrize("way", ["asks", "native"])
def test_a_signal_ends_a_certificate_as_it_does_a_run(program, way):
    words = plugin(program, way)
    run = started(program, "certify", CERTIFICATE, "--decode.questions", 10**9, *words)
    wait_for(program.folder / "endless")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)
    assert run.returncode in (130, -signal.SIGINT)


@pytest.mark.parametrize(
    "way, limit, expected",
    [
        ("asks", ["--decode.questions", 50],
         "drafter 'endless' (endless.py) asks and draws more than 50 times in step"),
        ("draws", ["--decode.questions", 50],
         "drafter 'endless' (endless.py) asks and draws more than 50 times in step"),
        ("native", ["--decode.questions", 50],
         "libtest_endless.so) asks more than 50 questions in step"),
        ("native", [], "libtest_endless.so) asks more than 4096 questions in step"),
        ("draws", ["--decode.questions", 10**9, "--python-step-timeout", 0.5],
         "drafter 'endless' (endless.py) took more than the 0.5 s that a part has for a step"),
        ("looks", ["--python-timeout", 0.5],
         "drafter 'endless' (endless.py) did not answer within 0.5 s"),
        ("computes", ["--python-step-timeout", 0.5],
         "drafter 'endless' (endless.py) took more than the 0.5 s that a part has for a step"),
    ],
)  # fmt: skip
def test_a_limit_ends_it_with_the_name_of_the_part(program, way, limit, expected):
    config = program.write("a.ini", ORDERED)
    words = plugin(program, way)
    fault = program.fails(76, "run", config, *limit, *words, timeout=20)
    assert expected in fault, fault


def test_questions_and_draws_within_the_limit_are_nobodys_fault(program):
    """A self-drafter of a step asks once and draws three times, and a verifier asks once."""
    config = program.write("a.ini", ORDERED)
    program.ok("run", config, "--out", "a.h5", "--decode.questions", 1)
    (program.folder / "calm").touch()
    words = plugin(program, "asks")
    program.ok("run", config, "--out", "b.h5", "--decode.questions", 2, *words)
    fault = program.fails(76, "run", config, "--decode.questions", 1, *words)
    assert "asks and draws more than 1 times" in fault
