"""Where the program under test is, and how tests run it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("DRAFTLAB_BINARIES", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "python"))
os.environ["DRAFTLAB_PROGRAM"] = str(BINARIES / "draftlab")
os.environ.setdefault("DRAFTLAB_PYTHON", sys.executable)
TWINS = str(Path(__file__).parent / "twins.py")

# Threads of a BLAS that wait for one another cost more than they gain where tests run side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Whatever a test starts has this in its environment.
MARK = f"DRAFTLAB_TEST_OF={os.getpid()}"
os.environ.update([MARK.split("=")])


def running():
    """Processes that this test's program started, or a process of theirs, and that run now."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as opened:
                if MARK.encode() in opened.read().split(b"\0"):
                    found.add(int(process))
        except OSError:
            pass
    return found


def pytest_configure(config):
    config.addinivalue_line("markers", "long: minutes, under a label of its own")


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    yield
    for _ in range(1000):
        if not running():
            return
        time.sleep(0.005)
    raise AssertionError(f"left running: {running()}")


# What the names of parts, their files, and what a class in C++ alone declares are recorded in.
NAMES = ["run_id", "run_arm", "run_config", "run_plugins", "run_sequential", "run_ratio_test",
         "plugin", "setting", "axis"]  # fmt: skip


class Program:
    """The program, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *words, timeout=60, **variables):
        return subprocess.run(
            [str(BINARIES / "draftlab"), *map(str, words)],
            cwd=self.folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def ok(self, *words, **more):
        done = self.run(*words, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, status, *words, **more):
        """Its message, which has to come with that status."""
        done = self.run(*words, **more)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stderr

    def write(self, name, text):
        path = Path(self.folder) / name
        path.write_text(text)
        return str(path)

    def same(self, left, right, *apart):
        """Traces are equal column for column, but for the names of parts and times."""
        done = subprocess.run(
            [str(BINARIES / "compare_traces"), left, right, *NAMES, *apart],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


# A toy whose bidirectional and causal answers differ, in blocks: every part has something to do.
BLOCKS = """
model = table
task = positions
frontier = blocks
drafter = denoise
unmasker = threshold
estimator = entropy
[model.table]
kind = views
vocabulary = 4
length = 8
noise = 0.8
[task.positions]
length = 8
prompt = 0:1
[decode]
block_size = 4
threshold = 0.6
[run]
samples = 60
"""

# The any-order toy of the certificates.
ORDERED = """
model = table
task = positions
drafter = self
[model.table]
kind = ordered
vocabulary = 4
length = 7
[task.positions]
length = 7
prompt = 2:1
[decode]
draft_length = 3
[run]
samples = 60
"""
