"""`draftlab bench`: each benchmark prints its table in the form that was asked for, and writes its
numbers."""

import json
import subprocess

import pytest
from conftest import ROOT

from draftlab.commands import program


def bench(*words):
    return subprocess.run([program(), "bench", *words], capture_output=True, text=True,
                          check=False)


ROWS = ["1 row", "2 rows", "4 rows", "8 rows", "16 rows"]
SMALL = [
    (["--bench.shape", "2x64x100", "--bench.length", "24", "--bench.whole", "2"],
     ["a function evaluation", "forwards", "s each", "standard deviation", "rows each"]),
    (["loop", "--bench.length", "8"],
     ["model", "steps", "evaluations", "share of a step, %", "us a step"]),
    (["trace", "--bench.steps", "1000"],
     ["what", "s", "s of processors", "rows a second", "rows a second of processors",
      "bytes a row"]),
    (["wire", "--bench.calls", "10", "--bench.answers", "10", "--bench.vocabulary", "20"],
     ["what", "least", "median", "95 %", "99 %", "calls"]),
    (["rows", "llama-3m", "--bench.times", "3"], ["weights", *ROWS, "8 rows over 1"]),
    (["batch", str(ROOT / "configs/base/table.ini"), "--run.samples", "2"],
     ["arm", "a + b a row, ms", "batch 1", "batch 2", "most over batch 1"]),
    (["model", "llama-3m", "--bench.times", "1", "--bench.prompt", "8"],
     ["pass", "rows", "ms", "GFLOP/s", "of the product", "GB/s", "of the read"]),
]


@pytest.mark.parametrize("words, columns", SMALL, ids=lambda words: words[0])
def test_a_benchmark_prints_its_columns_and_writes_its_numbers(tmp_path, words, columns):
    out = tmp_path / "numbers.json"
    threads = [] if words[0] in ("trace", "wire") else ["--threads", "1"]
    done = bench(*words, *threads, "--format", "markdown", "--out", str(out))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    head = "| " + " | ".join(columns) + " |"
    at = lines.index(head)
    # The title stands right above, and each row has as many cells as the head.
    assert lines[at - 1] == "" and lines[at - 2] and lines[at - 3] == ""
    assert lines[at + 2].count("|") == head.count("|")
    assert json.loads(out.read_text(encoding="utf-8"))


def test_a_benchmarks_table_is_aligned_text_where_nothing_else_is_asked_for():
    done = bench("trace", "--bench.steps", "1000")
    assert done.returncode == 0
    assert "| " not in done.stdout and "\nwhat  " in done.stdout


def test_what_a_benchmark_cannot_do_is_refused(tmp_path):
    done = bench("checkpoint", "llama-3m", str(tmp_path / "made"), "--out", "x.json")
    assert done.returncode == 64 and "takes no --out" in done.stderr
    assert not (tmp_path / "made").exists()
    assert bench("trace", "--bench.steps", "1000", "--format", "csv").returncode == 64
    for which in ("trace", "wire"):
        done = bench(which, "--threads", "1")
        assert done.returncode == 64 and f"bench {which} has no option --run.threads" in done.stderr
