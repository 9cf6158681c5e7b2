"""Audits of several samplers side by side, each in a copy of this process."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Callable, Iterator, List, Sequence

from draftlab.audit.faults import DataError

# What the copies find here when they are made: a sampler is code, which cannot be sent to them.
_jobs: List[Callable[[], Any]] = []


def _done(number: int) -> Any:
    return _jobs[number]()


def usable_processors() -> int:
    return len(os.sched_getaffinity(0))


def side_by_side(jobs: Sequence[Callable[[], Any]], workers: int) -> Iterator[Any]:
    """What the jobs return, in their order, each as soon as it and those before it are done."""
    if min(workers, len(jobs)) <= 1:
        yield from (job() for job in jobs)
        return
    _jobs[:] = jobs
    copies = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(min(workers, len(jobs)), copies) as pool:
            yield from pool.map(_done, range(len(jobs)))
    except BrokenProcessPool:
        raise DataError("a sampler ended the process that audited it; --workers 1 audits one "
                        "after another, which shows it") from None
