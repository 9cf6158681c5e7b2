"""What a sweep says and submits: a cluster of four scripts stands in for Slurm, which the tests
with the label `slurm` start."""

import json
import math
import os
import re

import h5py
import pytest
from conftest import ORDERED

CONFIG = "# Is drafting worth it?\n" + re.sub(r"samples = \d+", "samples = 2", ORDERED) + """
[sweep]
decode.draft_length = 1, 2, 3, 4, 5, 6, 7
"""


@pytest.fixture
def cluster(program):
    """The program with that cluster; `asked()` has what sbatch was given, a line a job."""
    folder = program.folder / "cluster"
    folder.mkdir()
    scripts = {
        "sbatch": f'echo "$@" >>{folder}/asked; wc -l <{folder}/asked',
        "scontrol": 'echo "MaxArraySize = ${LARGEST:-1001}"',
        "squeue": "echo 1:00:00",
        "sacct": "exit 1",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    program.path = f"{folder}:{os.environ['PATH']}"
    program.asked = lambda: (folder / "asked").read_text().splitlines()
    return program


def submit(program, *words, **more):
    return program.ok("sweep", "a.ini", "--out", "s", *words, "--slurm", PATH=program.path, **more)


def test_all_cells_are_one_array_and_what_gathers_waits_for_it(cluster):
    cluster.write("a.ini", CONFIG)
    said = submit(cluster)
    array, gather = cluster.asked()
    assert array.split() == ["--parsable", "--array=0-6", str(cluster.folder / "s/slurm/array.sh")]
    assert gather.split()[1] == "--dependency=afterany:1"
    assert "submitted 7 cells as 7 tasks of array 1" in said


@pytest.mark.parametrize("largest, each, tasks", [(5, 2, "0-3"), (4, 3, "0-2"), (8, 1, "0-6")])
def test_a_cluster_of_small_arrays_gets_fewer_tasks_of_more_cells(cluster, largest, each, tasks):
    cluster.write("a.ini", CONFIG)
    said = submit(cluster, LARGEST=str(largest))
    assert f"--array={tasks} " in cluster.asked()[0]
    assert (f"so each decodes {each} cells" in said) == (each > 1)
    script = (cluster.folder / "s/slurm/array.sh").read_text()
    assert f"first=$((SLURM_ARRAY_TASK_ID * {each}))\nlast=$((first + {each}))\n" in script


def test_only_what_is_missing_is_submitted_and_an_array_of_ones_own_is_refused(cluster):
    cluster.write("a.ini", CONFIG.replace("1, 2, 3, 4, 5, 6, 7", "2, 5"))
    cluster.ok("sweep", "a.ini", "--out", "s")
    cluster.write("a.ini", CONFIG)
    said = submit(cluster)
    assert "--array=0,2-3,5-6 " in cluster.asked()[0]
    assert "submitted 5 cells as 5 tasks" in said
    for word in ("--array=1", "-a"):
        fault = cluster.fails(64, "sweep", "a.ini", "--out", "s", "--slurm", word,
                              PATH=cluster.path)
        assert "chooses the array itself" in fault


def test_an_attempt_says_in_which_task_of_which_array_it_ran(cluster):
    cluster.write("a.ini", CONFIG)
    cluster.ok("sweep", "a.ini", "--out", "s", "--estimate")
    job = {"SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"}
    cluster.ok("sweep", "s", "--worker", "--cells", "0:1", PATH=cluster.path, **job)
    attempt, = (cluster.folder / "s/attempts").iterdir()
    assert json.loads(attempt.read_text())["job"] == "7_3"


def test_an_estimate_says_what_to_ask_for_and_is_remembered(program):
    program.write("a.ini", CONFIG.replace("samples = 2", "samples = 1000000\nthreads = 1"))
    said = program.ok("sweep", "a.ini", "--out", "s", "--estimate")
    hours = float(re.search(r"([\d.e+]+) core-hours", said)[1])
    memory, peak = map(int, re.search(r"--mem=(\d+)M \(peak here (\d+) MiB", said).groups())
    wanted = [math.ceil((1.3 * (peak + off) / 1024 + 0.25) * 10) * 102.4 for off in (-1, 1)]
    assert wanted[0] - 1 <= memory <= wanted[1] + 1
    said = program.run("sweep", "s", "--status").stdout
    remembered = float(re.search(r"([\d.]+) were estimated for the whole", said)[1])
    assert remembered == pytest.approx(hours, abs=6e-4) and remembered > 0.01


def test_a_sweep_without_an_estimate_says_nothing_of_one_and_of_no_damage(program):
    program.write("a.ini", CONFIG)
    done = program.run("sweep", "a.ini", "--out", "s")
    assert done.returncode == 0
    assert "estimated" not in done.stdout and "damaged" not in done.stderr
    with h5py.File(program.folder / "s/sweep.h5") as trace:
        assert trace.attrs["title"] == "Is drafting worth it?"


def test_failures_that_are_forgotten_are_counted(program):
    program.write("parts.py", "import draftlab as dl\n\n\n@dl.router('broken')\nclass Broken:\n"
                  "    def decide(self, step):\n        return 1 / 0\n")
    program.write("a.ini", CONFIG.replace("1, 2, 3, 4, 5, 6, 7", "2, 3")
                  + "[plugins]\nmine = parts.py\n")
    words = ("sweep", "a.ini", "--out", "s", "--router", "broken")
    program.run(*words)
    assert "2 failures forgotten" in program.run(*words, "--retry").stdout


def test_what_takes_a_folder_over_keeps_the_cells_that_are_alike(program):
    def attempts():
        return {path.read_text() for path in (program.folder / "s/attempts").iterdir()}

    program.write("a.ini", CONFIG.replace("1, 2, 3, 4, 5, 6, 7", "1, 2"))
    program.ok("sweep", "a.ini", "--out", "s")
    before = attempts()
    program.write("a.ini", CONFIG.replace("1, 2, 3, 4, 5, 6, 7", "2, 3").replace("Is", "Was"))
    program.ok("sweep", "a.ini", "--out", "s", "--replace")
    assert len(before) == len(attempts()) == 2 and len(before & attempts()) == 1
    with h5py.File(program.folder / "s/sweep.h5") as trace:
        assert trace.attrs["title"] == "Was drafting worth it?"
