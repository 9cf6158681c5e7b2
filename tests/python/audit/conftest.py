"""Finds the package and the examples of this source tree."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples" / "audits")]


def pytest_configure(config):
    config.addinivalue_line("markers", "long: at full power, minutes")
