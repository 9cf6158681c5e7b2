"""`draftlab doctor --device` says what works on a device."""

import re

import pytest
from conftest import ROOT

LINE = re.compile(r"^(\S+) +(\S+) +(f32|bf16) +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) *(WRONG)?$", re.M)


def lines(said):
    return [found.groups() for found in LINE.finditer(said)]


@pytest.mark.parametrize("family, checkpoints", [
    ("any-subset", {"stories", "stories-long", "judge"}),
    ("mar", {"mar-target", "mar-draft", "mar-causal", "mar-target-learned", "mar-draft-learned"}),
])
def test_the_tensor_path_of_a_family_says_what_kernels_do(program, family, checkpoints):
    said = program.ok("doctor", ROOT / f"configs/devices/{family}.ini", "--device", "cpu-tensors")
    found = lines(said)
    assert {name for name, *_ in found} <= {family, "mar"}
    assert {(line[1], line[2]) for line in found} == {
        (name, dtype) for name in checkpoints for dtype in ("f32", "bf16")}
    for *_, rows, apart, most, own, cpu, wrong in found:
        assert int(rows) > 0 and wrong is None
        assert 0 < float(apart) <= float(most)
        assert float(own) + float(cpu) > 0  # Milliseconds, of which the faster may round to none.
    assert "All of them work." in said


def test_a_device_that_libtorch_does_not_see_is_said_to_be_wrong(program):
    done = program.run("doctor", ROOT / "configs/devices/masked-diffusion.ini", "--device", "cuda")
    if "sees no such device" not in done.stdout:
        pytest.skip("there is a GPU")
    assert done.returncode == 1
    assert "What is marked WRONG does not work." in done.stdout


def test_configs_without_a_device_are_refused(program):
    said = program.fails(64, "doctor", ROOT / "configs/devices/mar.ini")
    assert "name one with --device" in said
