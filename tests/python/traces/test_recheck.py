"""A second program computes again what a trace says, for a trace of each system; and it names what
was changed in one."""

import json
import shutil

import h5py
import numpy as np
import pytest
from conftest import ROOT

from draftlab.recheck import recheck
from draftlab.recheck.random_numbers import philox

# A trace of each of the five systems, of several candidates a node and of a router with a memory.
TRACES = {
    "assd": ["assd/table8.ini", "--limit", "2"],
    "ssd": ["ssd/lossy.ini", "--limit", "2"],
    "mixed order": ["ssd/table3.ini", "--arm", "mix-order", "--limit", "1"],
    "bpd": ["bpd/models.ini", "--limit", "2"],
    "s2d2": ["s2d2/table9.ini", "--limit", "1"],
    "cspd": ["cspd/exact.ini", "--limit", "2"],
    "cspd routes": ["cspd/routing.ini", "--limit", "2"],
    "trees": ["baselines/trees.ini", "--limit", "2"],
    "routers": ["s2d2/main.ini", "--limit", "1"],
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A function that makes a trace once."""
    folder, made = tmp_path_factory.mktemp("traces"), {}
    from conftest import Program

    def trace(name):
        if name not in made:
            path = folder / f"{name}.h5"
            config, *words = TRACES[name]
            Program(folder).ok("run", str(ROOT / "configs" / config), *words, "--trace.drafts",
                               "all", "--out", str(path))
            made[name] = path
        return made[name]

    return trace


@pytest.mark.parametrize("name", TRACES)
def test_every_system_is_what_its_trace_says(traces, name):
    found = recheck(str(traces(name)))
    assert found.differ == 0, "\n".join(found.lines())
    assert found.counts["evaluations of samples"].agree > 0
    if name != "routers":
        assert found.counts["acceptance probabilities"].agree > 10
    if name in ("assd", "bpd", "s2d2", "trees"):
        assert found.counts["random numbers of verdicts"].agree > 10


def first(trace, mask):
    rows = np.flatnonzero(mask)
    assert len(rows), "the trace has no such row"
    return int(rows[0])


def judged(trace):
    """Drafts that a step with a decision tested."""
    steps = trace["draft_step_index"][:]
    reached = trace["draft_accepted"][:] != -1
    return (reached & (trace["draft_depth"][:] >= trace["step_exact"][:][steps]) &
            verified(trace)[steps])


def undecided(trace):
    """Those of them that may pass or fail."""
    accept = trace["draft_accept"][:]
    return judged(trace) & (accept > 0.05) & (accept < 0.95)


def certain(trace):
    return judged(trace) & (trace["draft_accept"][:] == 1)


def accepted(trace):
    """Tokens that verification accepted."""
    return (trace["token_source"][:] == 1) & verified(trace)[trace["token_step_index"][:]]


def change(column, rows, to):
    def changed(trace):
        row = first(trace, rows(trace))
        trace[column][row] = to(trace[column][row])
    return changed


def verified(trace):
    return (trace["step_verified"][:] == 1) & (trace["step_routed"][:] == 1)


# What is changed, in which trace, and what recheck calls it.
CHANGES = {
    "a probability of the target": (
        "assd", "acceptance probabilities", change("draft_p", undecided, lambda p: p * 0.99)),
    "a probability of the drafter": (
        "s2d2", "acceptance probabilities", change("draft_q", undecided, lambda q: q * 0.99)),
    "a probability of acceptance": (
        "bpd", "acceptance probabilities",
        change("draft_accept", certain, lambda a: 0)),
    "a density": (
        "cspd", "acceptance probabilities",
        change("draft_log_p", lambda t: (t["draft_accept"][:] > 0.01) &
               (t["draft_accept"][:] < 0.99), lambda x: x + 0.01)),
    "a sibling's probability": (
        "trees", "acceptance probabilities", change("draft_p", undecided, lambda p: p * 1e-3)),
    "a decision": (
        "assd", "random numbers of verdicts",
        change("draft_accepted", undecided, lambda accepted: 1 - accepted)),
    "a certain decision": (
        "bpd", "certain verdicts",
        change("draft_accepted", certain, lambda accepted: 0)),
    "a committed token": (
        "assd", "accepted paths",
        change("token_id", accepted, lambda token: token + 1)),
    "a token's source": (
        "assd", "replacements stand where the walk failed",
        change("token_source", accepted, lambda source: 2)),
    "why a step ended": (
        "assd", "reasons to stop",
        change("step_stop", lambda t: t["step_stop"][:] == 1, lambda stop: 0)),
    "a route": ("assd", "routes", change("step_routed", verified, lambda routed: 0)),
    "a propensity": ("assd", "propensities", change("step_propensity", verified, lambda p: 0.5)),
    "an expectation": (
        "routers", "expected prefixes",
        change("step_expected", lambda t: t["step_expected"][:] > 0.1, lambda e: e * 1.1)),
    "a count of a sample": (
        "ssd", "evaluations of samples",
        change("sample_nfe_verify", lambda t: t["sample_nfe_verify"][:] > 0, lambda n: n - 1)),
    "a count of a step": (
        "assd", "evaluations of verification",
        change("step_nfe_verify", lambda t: t["step_nfe_verify"][:] > 0, lambda n: n + 1)),
    "an accepted prefix": (
        "ssd", "tokens of steps",
        change("step_accepted", lambda t: t["step_accepted"][:] > 0, lambda n: n - 1)),
    "open positions": (
        "ssd", "open positions",
        change("step_masked", lambda t: t["step_masked"][:] > 1, lambda n: n - 1)),
    "generated tokens": (
        "ssd", "generated tokens",
        change("sample_generated", lambda t: t["sample_generated"][:] > 1, lambda n: n - 1)),
    "the order of commitment": (
        "ssd", "AR-ness",
        change("token_ar_local", lambda t: t["token_ar_local"][:] == 1, lambda mark: 0)),
    "the seed": ("assd", "random numbers of verdicts", lambda trace: reseed(trace)),
}


def reseed(trace):
    for row, text in enumerate(trace["run_config"].asstr()[:]):
        assert "\n[run]\n" in text
        trace["run_config"][row] = text.replace("\nseed = ", "\nseed = 1")


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_named(traces, tmp_path, what):
    name, called, changed = CHANGES[what]
    path = tmp_path / "changed.h5"
    shutil.copy(traces(name), path)
    with h5py.File(path, "r+") as trace:
        changed(trace)
    found = recheck(str(path))
    assert called in found.counts and found.counts[called].differ > 0, "\n".join(found.lines())


def test_the_command(program, traces):
    path = str(traces("assd"))
    said = program.ok("recheck", path)
    assert f"{path}: all agree" in said and "random numbers of verdicts" in said
    parsed = json.loads(program.ok("recheck", path, "--format", "json"))
    counted = parsed["agree"]["acceptance probabilities"]
    assert counted["of"] == counted["agree"] > 10 and counted["first_difference"] is None
    assert "nowhere.h5: there is no such file" in program.fails(65, "recheck", "nowhere.h5")
    program.write("text.h5", "no trace")
    assert "text.h5: it is no HDF5 file" in program.fails(65, "recheck", "text.h5")


def test_a_difference_ends_with_1_and_says_where(program, traces, tmp_path):
    path = tmp_path / "changed.h5"
    shutil.copy(traces("assd"), path)
    with h5py.File(path, "r+") as trace:
        CHANGES["a probability of the target"][2](trace)
    done = program.run("recheck", str(path))
    assert done.returncode == 1
    assert "1 differ" in done.stdout and "follow from p and q" in done.stdout


def test_philox_gives_the_published_numbers():
    """Known answers of Random123, for Philox 4x32-10."""
    assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = 0xFFFFFFFF
    assert philox((ones,) * 4, (ones,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
