"""Python twins decide as the parts of the program do: equal traces, and certificates that hold."""

import re

import pytest
from conftest import BLOCKS, ORDERED, ROOT, TWINS

# Drafter and target read one number at a position.
SHARED = "verifier = own-draw\n" + ORDERED.replace("[run]", "noise = uniform\n[run]")

# (config, kind, original, its twin, flags of both in that order)
PAIRS = [
    (BLOCKS, "router", "min-span", "min-span-twin", [("span", "3")]),
    (BLOCKS, "router", "hysteresis", "hysteresis-twin", [("on", "0.5"), ("off", "-0.5")]),
    (BLOCKS, "router", "ucb", "ucb-twin", []),
    (BLOCKS, "router", "ucb", "ucb-twin", [("beta", "0.3"), ("verify_cost", "1.5")]),
    (BLOCKS, "estimator", "entropy", "entropy-twin", [("beta", "2")]),
    (BLOCKS, "unmasker", "threshold", "threshold-twin", []),
    (BLOCKS + "[router.min-span]\nspan = 9\n[decode]\nsteps = 2\n", "unmasker", "threshold",
     "threshold-twin", []),
    (ORDERED, "drafter", "self", "self-twin", []),
    (ORDERED, "drafter", "self", "self-twin", [("shortcut", "false"), ("temperature", "1.7")]),
    (SHARED, "drafter", "self", "self-twin", []),
    (ORDERED, "verifier", "chain", "chain-twin", []),
    (BLOCKS, "verifier", "chain", "chain-twin", []),
    (ORDERED, "acceptance", "speculative", "speculative-twin", []),
    (ORDERED, "frontier", "lattice", "lattice-twin", []),
]  # fmt: skip


@pytest.mark.parametrize("config, kind, original, twin, flags", PAIRS)
def test_a_twin_writes_the_same_trace(program, config, kind, original, twin, flags):
    if kind == "unmasker" and "min-span" in config:
        config = config.replace("estimator", "router = min-span\nestimator", 1)
    if kind == "estimator":
        config = config.replace("estimator = entropy", "router = score", 1)
    path = program.write("a.ini", config.replace("[decode]\nsteps", "[decode]\nstop = off\nsteps"))
    for name, out in ((original, "a.h5"), (twin, "b.h5")):
        words = ["--plugin", TWINS, f"--{kind}", name, "--out", out]
        for option, value in flags:
            words += [f"--{kind}.{name}.{option}", value]
        program.ok("run", path, *words)
    program.same("a.h5", "b.h5")


@pytest.mark.parametrize("reads, beta", [("spread", 1), ("surprise", 0.02), ("deviation", 0.1)])
def test_a_twin_reads_the_trajectories_of_vectors(program, reads, beta):
    head = f"include = {ROOT}/configs/base/images.ini\nrouter = score\n"
    tail = "[router.score]\nscore = static\ncost = 0\nverify = below\nthreshold = 1.2\n"
    path = program.write("a.ini", head + "[task.images]\ncount = 4\n" + tail)
    for name, out in (("trajectory", "a.h5"), ("trajectory-twin", "b.h5")):
        program.ok(
            "run", path, "--plugin", TWINS, "--estimator", name, "--out", out,
            f"--estimator.{name}.reads", reads, f"--estimator.{name}.beta", beta,
        )  # fmt: skip
    program.same("a.h5", "b.h5")


def test_batches_of_sequences_share_forwards_and_draw_the_same(program):
    path = program.write("a.ini", ORDERED)
    program.ok("run", path, "--out", "a.h5", "--batch", 8)
    program.ok(
        "run", path, "--out", "b.h5", "--batch", 8, "--plugin", TWINS,
        "--drafter", "self-twin", "--verifier", "chain-twin", "--acceptance", "speculative-twin",
    )  # fmt: skip
    program.same("a.h5", "b.h5")


# One of each kind that stands in PAIRS, with the key whose values are a sweep's cells.
SWEPT = [
    (BLOCKS, "router", "min-span", "router.{}.span = 1, 3, 9"),
    (BLOCKS, "router", "hysteresis", "router.{}.cost = 0.5, 1"),
    (BLOCKS, "router", "ucb", "router.{}.beta = 0.3, 1"),
    (BLOCKS, "estimator", "entropy", "estimator.{}.beta = 1, 3"),
    (BLOCKS, "unmasker", "threshold", "decode.threshold = 0.4, 0.6"),
    (ORDERED, "drafter", "self", "drafter.{}.temperature = 1, 2"),
    (ORDERED, "verifier", "chain", "decode.draft_length = 2, 3"),
    (ORDERED, "acceptance", "speculative", "decode.draft_length = 2, 3"),
    (ORDERED, "frontier", "lattice", "decode.draft_length = 2, 3"),
]


@pytest.mark.parametrize("config, kind, original, axis", SWEPT)
def test_a_sweep_of_two_workers_decodes_with_a_twin_as_with_the_original(
    program, config, kind, original, axis
):
    for name, out in ((original, "a"), (f"{original}-twin", "b")):
        head = f"{kind} = {name}\n" + ("router = score\n" if kind == "estimator" else "")
        rest = re.sub(rf"^{kind} = .*\n", "", config, flags=re.MULTILINE)
        text = head + rest + "[sweep]\n" + axis.format(name) + "\n"
        path = program.write(f"{out}.ini", text)
        program.ok("sweep", path, "--jobs", 2, "--out", out, "--plugin", TWINS)
    # Cells are addressed by their arms' names; their order and what they decoded are the same.
    program.same("a/sweep.h5", "b/sweep.h5", "sample_label")


@pytest.mark.parametrize(
    "config, words",
    [
        ("assd/assd-self-k3.ini", ["--drafter", "self-twin"]),
        ("assd/assd-self-k3.ini", ["--verifier", "chain-twin"]),
        ("assd/assd-self-k3.ini", ["--acceptance", "speculative-twin"]),
        ("s2d2/s2d2.ini", ["--router", "min-span-twin", "--router.min-span-twin.span", "1"]),
        (
            "s2d2/lossy-s2d2-routed.ini",
            ["--router", "hysteresis-twin", "--estimator", "entropy-twin"],
        ),
        ("s2d2/s2d2-route-entropy.ini", ["--estimator", "entropy-twin"]),
        ("s2d2/lossy-s2d2-routed.ini", ["--router", "ucb-twin"]),
        ("s2d2/lossy-s2d2-unverified.ini", ["--unmasker", "threshold-twin"]),
    ],
)
def test_a_certificate_holds_with_a_twin(program, config, words):
    file = str(ROOT / "configs/certify" / config)
    said = program.ok("certify", file, "--plugin", TWINS, *words)
    assert ": holds" in said


def test_a_verifier_of_python_hands_over_what_heads_draft_from(program):
    bpd = ROOT / "configs/certify/bpd/bpd.ini"
    axes = "[sweep]\narm = combined, tested\ndecode.draft_length = 3\nmodel.table.seed = 0, 1\n"
    path = program.write("a.ini", f"include = {bpd}\n{axes}")
    said = program.ok("certify", path, "--plugin", TWINS, "--verifier", "chain-twin")
    assert said.count(": holds") == 4  # in as few evaluations as [certify] claims


def test_a_part_of_python_is_listed_described_and_checked_like_any_other(program):
    assert "min-span-twin" in program.ok("list", "router", "--plugin", TWINS)
    said = program.ok("describe", "router.min-span-twin", "--plugin", TWINS)
    assert "span = 2  (int, in [1, 4096])" in said
    assert "Shortest span worth verifying, in tokens." in said
    assert "twins.py:" in said
    path = program.write("a.ini", BLOCKS + "[router.min-span-twin]\nspam = 3\n")
    fault = program.fails(78, "check", path, "--plugin", TWINS, "--router", "min-span-twin")
    assert "did you mean 'span'?" in fault
    path = program.write("b.ini", BLOCKS + "[router.min-span-twin]\nspan = 0\n")
    assert "span = 0 must be in [1, 4096]" in program.fails(78, "check", path, "--plugin", TWINS)


def test_the_trace_says_which_file_and_interpreter_decided(program):
    import h5py

    path = program.write("a.ini", ORDERED)
    program.ok("run", path, "--out", "a.h5", "--plugin", TWINS, "--limit", 1)
    said = h5py.File(program.folder / "a.h5").attrs["libraries"]
    assert "python 3." in said and "numpy" in said and "twins.py sha256" in said
