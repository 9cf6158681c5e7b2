"""Samplers are audited side by side, and are reported as if they had been audited in turn."""

import os
import re
import time

import pytest

from conftest import ROOT
from draftlab.audit.command import main
from draftlab.audit.faults import DataError
from draftlab.audit.side_by_side import side_by_side

AUDITS = ROOT / "examples" / "audits"


def later(seconds, number):
    time.sleep(seconds)
    return number, os.getpid()


def test_jobs_are_done_by_copies_and_returned_in_their_order():
    jobs = [lambda: later(0.3, 0), lambda: later(0, 1), lambda: later(0, 2)]
    done = list(side_by_side(jobs, 2))
    assert [number for number, _ in done] == [0, 1, 2]
    assert os.getpid() not in {process for _, process in done}
    # The first took one copy for a while, so the other two were done by another.
    assert done[1][1] == done[2][1] != done[0][1]


def test_one_worker_is_this_process():
    assert list(side_by_side([lambda: later(0, 0)] * 2, 1)) == [(0, os.getpid())] * 2


def test_a_copy_that_ends_is_an_error():
    with pytest.raises(DataError, match="ended the process that audited it"):
        list(side_by_side([lambda: os._exit(3), lambda: later(0, 1)], 2))


def test_what_is_reported_does_not_depend_on_the_workers(capsys):
    said = []
    for workers in ("1", "2"):
        assert main([f"{AUDITS}/own_draw.py", f"{AUDITS}/recurrent.py", "--random-seed", "3",
                     "--workers", workers]) == 1
        said.append(re.sub(r"seconds +[\d.]+", "seconds", capsys.readouterr().out))
    assert said[0] == said[1]
    assert said[0].index("own-draw: exact") < said[0].index("typical-acceptance: biased")
