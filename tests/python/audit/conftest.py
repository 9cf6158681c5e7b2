"""Finds the package and the examples of this source tree."""

import itertools
import pathlib
import sys
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples" / "audits")]


def pytest_configure(config):
    config.addinivalue_line("markers", "long: at full power, minutes")


@pytest.fixture(autouse=True)
def the_same_random_laws(monkeypatch):
    """An audit without a seed draws one, with which a verdict could differ from run to run."""
    seeds = itertools.count(20)
    monkeypatch.setattr("draftlab.audit.run.secrets",
                        SimpleNamespace(randbelow=lambda _: next(seeds)))
