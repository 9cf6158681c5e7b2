"""Files of plugins by their content: [plugins] in a config, what a trace says of them, resuming."""

import hashlib
import os
import shutil
import sys

import h5py
import pytest
from conftest import BINARIES, BLOCKS, ORDERED

ROUTER = """import draftlab as dl


@dl.router("mine")
class Mine:
    def decide(self, step):
        return step.span.length >= SPAN
"""
CONFIG = BLOCKS.replace("samples = 60", "samples = 4").replace(
    "estimator = entropy\n", "estimator = entropy\nrouter = mine\n"
)
NAMED = CONFIG + "[plugins]\nparts = parts.py\n"


def write_parts(program, span, name="parts.py"):
    return program.write(name, ROUTER.replace("SPAN", str(span)))


def digest_of(path):
    with open(path, "rb") as opened:
        return hashlib.sha256(opened.read()).hexdigest()


def text(trace, column):
    return [value.decode() for value in trace[column][:]]


@pytest.fixture
def apart(program):
    """The program, called from a folder beside that of the config and its parts."""
    (program.folder / "parts").mkdir()
    write_parts(program, 2, "parts/parts.py")
    program.write("parts/a.ini", NAMED)
    small = ORDERED.replace("drafter = self", "drafter = self\nrouter = mine")
    program.write("parts/small.ini", small + "[plugins]\nparts = parts.py\n")
    return program


@pytest.mark.parametrize(
    "words",
    [
        ("run", "parts/a.ini", "--out", "a.h5"),
        ("check", "parts/a.ini"),
        ("certify", "parts/small.ini"),
        ("sweep", "parts/a.ini", "--out", "s"),
        ("sweep", "parts/a.ini", "--dry-run"),
    ],
)
def test_every_command_loads_what_a_config_names_relative_to_it(apart, words):
    done = apart.run(*words)
    assert "mine" not in done.stderr and done.returncode in (0, 1), done.stderr


def test_a_trace_names_the_files_that_took_part(apart):
    apart.ok("run", "parts/a.ini", "--out", "a.h5")
    parts = apart.folder / "parts/parts.py"
    with h5py.File(apart.folder / "a.h5") as trace:
        assert text(trace, "plugin_digest") == [digest_of(parts)] == text(trace, "run_plugins")
        assert text(trace, "plugin_name") == ["parts"]
        assert text(trace, "plugin_path") == [str(parts)]
        assert text(trace, "plugin_source") == [parts.read_text()]
        config = text(trace, "run_config")[0]
    assert f"parts = {parts} sha256:{digest_of(parts)}" in config
    apart.ok("check-trace", "a.h5")
    # What a trace holds can be run again as it stands, from anywhere.
    apart.write("again.ini", config + "\n[run]\nsamples = 4\n")
    apart.ok("run", "again.ini", "--out", "again.h5")
    apart.same("a.h5", "again.h5")


def test_a_part_that_takes_no_part_is_not_named(program):
    write_parts(program, 2)
    program.write("a.ini", CONFIG.replace("router = mine\n", ""))
    program.ok("run", "a.ini", "--out", "a.h5")
    program.ok("run", "a.ini", "--out", "b.h5", "--plugin", "parts.py")
    with h5py.File(program.folder / "a.h5") as bare, h5py.File(program.folder / "b.h5") as loaded:
        assert text(bare, "run_id") == text(loaded, "run_id")
        assert text(loaded, "run_plugins") == [""] and len(loaded["plugin_digest"]) == 0


def test_the_id_is_of_what_is_in_the_files_and_not_of_where_they_lie(program):
    program.write("a.ini", CONFIG)
    (program.folder / "there").mkdir()
    ids = []
    for number, (name, span) in enumerate([("parts.py", 2), ("there/other.py", 2), ("p.py", 3)]):
        write_parts(program, span, name)
        program.ok("run", "a.ini", "--plugin", name, "--out", f"{number}.h5")
        with h5py.File(program.folder / f"{number}.h5") as trace:
            ids += text(trace, "run_id")
    assert ids[0] == ids[1] != ids[2]


def test_resuming_with_a_changed_plugin_is_refused(program):
    write_parts(program, 2)
    program.write("a.ini", NAMED)
    program.ok("run", "a.ini", "--out", "a.h5")
    program.ok("run", "a.ini", "--out", "a.h5", "--resume", "--run.samples", 5)
    before = digest_of(program.folder / "a.h5")
    write_parts(program, 3)
    fault = program.fails(78, "run", "a.ini", "--out", "a.h5", "--resume", "--run.samples", 6)
    assert "cannot be continued: its plugins.parts is" in fault, fault
    assert digest_of(program.folder / "a.h5") == before


def test_resuming_with_another_observer_is_refused(program):
    estimator = (
        "import draftlab as dl\n@dl.estimator('guess')\nclass Guess:\n"
        "    def expected(self, step):\n        return {}\n"
    )
    program.write("parts.py", estimator.format(1))
    config = CONFIG.replace("router = mine", "estimator.guess = guess")
    program.write("a.ini", config + "[plugins]\nparts = parts.py\n")
    program.ok("run", "a.ini", "--out", "a.h5")
    program.write("parts.py", estimator.format(2))
    fault = program.fails(78, "run", "a.ini", "--out", "a.h5", "--resume", "--run.samples", 6)
    assert "list of digests of plugins" in fault


def test_a_pinned_file_that_changed_is_refused(program):
    path = write_parts(program, 2)
    program.write("a.ini", NAMED.replace("parts.py", f"parts.py sha256:{digest_of(path)}"))
    program.ok("check", "a.ini")
    write_parts(program, 3)
    fault = program.fails(78, "check", "a.ini")
    assert fault.count("\n") == 1 and "the file has changed, its digest is" in fault
    assert "a.ini:" in fault and "plugins.parts = parts.py" in fault


@pytest.mark.parametrize(
    "line, expected",
    [
        ("parts = gone.py", "plugins.parts = {}gone.py does not exist"),
        ("parts = ", "names no file; write plugins.parts = FILE"),
        ("parts = parts.py sha256:12", "sha256: is followed by 64 hexadecimal digits"),
        ("parts = .", "is no file"),
    ],
)
def test_what_is_wrong_with_plugins_is_one_sentence(program, line, expected):
    write_parts(program, 2)
    program.write("a.ini", CONFIG + f"[plugins]\n{line}\n")
    fault = program.fails(78, "run", "a.ini")
    assert expected.format("") in fault and fault.count("\n") == 1, fault
    assert not os.path.exists(program.folder / "out")


def test_an_axis_cannot_name_plugins(program):
    write_parts(program, 2)
    write_parts(program, 3, "b.py")
    program.write("a.ini", NAMED + "[sweep]\nplugins.parts = parts.py, b.py\n")
    fault = program.fails(78, "run", "a.ini")
    assert "plugins.parts" in fault, fault


def test_report_names_plugins_whose_contents_differ(program):
    for span in (2, 3):
        write_parts(program, span)
        program.write("a.ini", NAMED)
        program.ok("run", "a.ini", "--out", f"{span}.h5")
    said = " ".join(program.ok("report", "2.h5", "3.h5").split())
    assert "Arms whose plugins.parts differ are different methods" in said, said
    assert "in 2.h5" in said and "in 3.h5" in said
    said = " ".join(program.ok("report", "2.h5").split())
    assert "different methods" not in said


def test_a_sweep_goes_on_with_the_copies_that_it_froze(program):
    path = write_parts(program, 2)
    program.write("a.ini", NAMED + "[sweep]\nrun.seed = 1, 2\n")
    program.ok("sweep", "a.ini", "--out", "s")
    frozen = (program.folder / "s/config.ini").read_text()
    assert f"sha256:{digest_of(path)}" in frozen and "parts = plugins/" in frozen
    with h5py.File(program.folder / "s/sweep.h5") as trace:
        assert text(trace, "plugin_digest") == [digest_of(path)]
        assert set(text(trace, "run_plugins")) == {digest_of(path)}
    program.ok("check-trace", "s/sweep.h5")
    os.remove(path)
    for cell in (program.folder / "s/cells").iterdir():
        cell.unlink()
    program.ok("sweep", "s")
    # The folder may move, and its copies with it.
    shutil.move(program.folder / "s", program.folder / "t")
    program.ok("run", "t/config.ini", "--out", "a.h5")
    write_parts(program, 3)
    fault = program.fails(73, "sweep", "a.ini", "--out", "t")
    assert "has changed since the sweep in 't' was frozen" in fault
    program.ok("sweep", "a.ini", "--out", "t", "--replace")


def test_a_copy_in_a_sweep_that_was_changed_is_refused(program):
    write_parts(program, 2)
    program.write("a.ini", NAMED)
    program.ok("sweep", "a.ini", "--out", "s")
    (copy,) = (program.folder / "s/plugins").iterdir()
    assert copy.name == digest_of(copy)[:12] + "-parts.py"
    copy.write_text(copy.read_text() + "# more\n")
    assert "the file has changed" in program.fails(78, "sweep", "s")


def test_what_runs_is_what_stands_in_the_file(program):
    program.write("a.ini", NAMED)
    verified = []
    for span in (1, 9):  # Files of the same second and length, for whoever keeps compiled copies.
        os.utime(write_parts(program, span), (10**9, 10**9))
        program.ok("run", "a.ini", "--out", f"{span}.h5", PYTHONDONTWRITEBYTECODE="")
        with h5py.File(program.folder / f"{span}.h5") as trace:
            verified.append(int(trace["step_verified"][:].sum()))
    assert verified[0] > verified[1] == 0
    assert not (program.folder / "__pycache__").exists()


def test_a_run_that_finished_no_sample_leaves_nothing(program):
    program.write("parts.py", ROUTER.replace("step.span.length >= SPAN", "1 / 0"))
    program.write("a.ini", NAMED)
    program.fails(76, "run", "a.ini", "--out", "new/a.h5")
    assert not os.path.exists(program.folder / "new/a.h5.units")
    write_parts(program, 2)
    program.ok("run", "a.ini", "--out", "new/a.h5")


def python_without(program, name):
    """A python3 that has no packages but the standard library's, in a folder for the PATH."""
    folder = program.folder / "bin"
    folder.mkdir()
    script = folder / name
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    script.chmod(0o755)
    return str(folder)


def test_an_interpreter_that_has_the_packages_is_preferred_and_named(program):
    write_parts(program, 2)
    path = python_without(program, "python3") + ":" + os.environ["PATH"]
    done = program.run("list", "router", "--plugin", "parts.py", PATH=path, DRAFTLAB_PYTHON="")
    assert done.returncode == 0 and "mine" in done.stdout, done.stderr
    assert "bin/python3 has not numpy and msgpack, so Python files run in /usr/bin/python3" in (
        done.stderr
    )
    assert "--python and DRAFTLAB_PYTHON name another" in done.stderr
    words = ("list", "router", "--plugin", "parts.py")
    done = program.run(*words, PATH="/usr/bin", DRAFTLAB_PYTHON="")
    assert done.returncode == 0 and done.stderr == ""


def test_an_interpreter_without_packages_that_was_named_is_not_replaced(program):
    write_parts(program, 2)
    named = python_without(program, "mine") + "/mine"
    for words, more in ((("--python", named), {}), ((), {"DRAFTLAB_PYTHON": named})):
        fault = program.fails(78, "list", "--plugin", "parts.py", *words, **more)
        assert "cannot load the package draftlab" in fault
        assert "--python" in fault and "DRAFTLAB_PYTHON" in fault


def test_an_interpreter_that_is_none_is_one_sentence(program):
    write_parts(program, 2)
    program.write("a.ini", BLOCKS)
    for words in (("run", "a.ini"), ("list",)):
        fault = program.fails(78, *words, "--python", "parts.py")
        assert "--python parts.py names no program" in fault and fault.count("\n") == 1
        assert "--plugin loads a file of parts" in fault
    assert not os.path.exists(program.folder / "out")


def test_libraries_are_named_by_their_digests(program):
    """A library that the tests build anyhow, and a copy that differs in one byte at its end."""
    library = BINARIES / "libtest_verifies_even_steps.so"
    if not library.exists():
        pytest.skip("the test's library is not built")
    shutil.copy(library, program.folder / "libone.so")
    (program.folder / "libtwo.so").write_bytes(library.read_bytes() + b"x")
    config = CONFIG.replace("router = mine", "router = even-steps")
    ids = []
    for name in ("one", "two"):
        program.write("a.ini", config + f"[plugins]\nmine = lib{name}.so\n")
        program.ok("run", "a.ini", "--out", f"{name}.h5")
        with h5py.File(program.folder / f"{name}.h5") as trace:
            assert text(trace, "plugin_digest") == [digest_of(program.folder / f"lib{name}.so")]
            assert text(trace, "plugin_source") == [""]
            ids += text(trace, "run_id")
    assert ids[0] != ids[1]


def test_a_library_that_is_cut_off_is_refused_by_name(program):
    bytes_of = (BINARIES / "libtest_verifies_even_steps.so").read_bytes()
    for size in (64, 4096, len(bytes_of) // 3, len(bytes_of) // 2):
        (program.folder / "libcut.so").write_bytes(bytes_of[:size])
        fault = program.fails(78, "list", "--plugin", "libcut.so")
        assert fault.startswith("--plugin libcut.so ") and fault.count("\n") == 1, fault


@pytest.mark.parametrize(
    "router, status, expected",
    [
        ("overrun", -11, "libtest_crashes.so crashed (SIGSEGV): the call was of a part in this"),
        ("crash", -6, "libtest_crashes.so crashed (SIGABRT): the call was of a part in this"),
        ("throw-int", 76, "router 'throw-int'"),
    ],
)
def test_a_crash_of_a_library_names_it(program, router, status, expected):
    program.write("a.ini", BLOCKS)
    words = ("--plugin", BINARIES / "libtest_crashes.so", "--router", router)
    for _ in range(5):  # Four processes crash at once, and each says a line of its own.
        said = program.fails(status, "run", "a.ini", "--run.workers", "4", *words).splitlines()
        crashes = [line for line in said if "crashed" in line]
        assert all(expected in line for line in crashes) and (crashes or status > 0)
        assert status < 0 or expected in said[-1]
