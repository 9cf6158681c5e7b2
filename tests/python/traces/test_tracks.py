"""Traces in the files of other trackers, read back: TensorBoard's records by a reader of this file,
Parquet by pyarrow, and what W&B and pyarrow are told where they are not installed."""

import struct
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from conftest import BLOCKS

from draftlab.audit.faults import Unavailable
from draftlab.trace import Trace
from draftlab.tracks import event_file, writers
from draftlab.tracks.series import arms_of, folder_names

SWEEP = BLOCKS.replace("samples = 60", "samples = 4") + "[sweep]\ndecode.threshold = 0.5, 0.9\n"


@pytest.fixture
def trace(program):
    program.ok("run", program.write("a.ini", SWEEP), "--out", "a.h5")
    return Trace(f"{program.folder}/a.h5")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """[(number, value)] of a protocol buffer."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[key & 7]
            value, at = struct.unpack(form, data[at:at + size])[0], at + size
        found.append((key >> 3, value))
    return found


def crc(data):
    """CRC-32C bit by bit, masked."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    register ^= 0xFFFFFFFF
    return ((register >> 15 | register << 17) + 0xA282EAD8) & 0xFFFFFFFF


def events(path):
    """The events of a file as dicts of fields; every checksum is right."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        size, = struct.unpack("<Q", data[at:at + 8])
        assert struct.unpack("<I", data[at + 8:at + 12])[0] == crc(data[at:at + 8])
        event = data[at + 12:at + 12 + size]
        assert struct.unpack("<I", data[at + 12 + size:at + 16 + size])[0] == crc(event)
        found.append(dict(fields(event)))
        at += 16 + size
    return found


def scalars(path):
    """{tag: [(step, value)]}"""
    found = {}
    for event in events(path):
        for _, summary in fields(event.get(5, b"")):
            parts = dict(fields(summary))
            if 2 in parts:
                found.setdefault(parts[1].decode(), []).append((event[2], parts[2]))
    return found


def test_the_checksum_is_the_one_of_the_standard():
    """RFC 3720, B.4: 32 bytes of zeros have the CRC-32C 0x8A9136AA."""
    plain = (event_file.masked_crc(bytes(32)) - 0xA282EAD8) & 0xFFFFFFFF
    assert (plain << 15 | plain >> 17) & 0xFFFFFFFF == 0x8A9136AA


def test_tensorboard_has_every_number_of_samples_and_steps(program, trace):
    made = program.ok("export", "a.h5", "--tensorboard", "tb").split()
    assert made == [f"tb/{name}/{path.name}" for name, path in zip(
        folder_names(arms_of(trace)), map(program.folder.joinpath, made))]
    for run, path in enumerate(made):
        path = program.folder / path
        first, config = events(path)[:2]
        assert first[3] == b"brain.Event:2"
        assert b"decode.threshold = " + (b"0.5", b"0.9")[run] in config[5]
        found = scalars(path)
        rows = np.flatnonzero(trace["sample_run_index"] == run)
        assert found["sample/generated"] == [(i, trace["sample_generated"][row])
                                             for i, row in enumerate(rows)]
        steps = np.flatnonzero(trace.runs_of("step") == run)
        accepted = [value for _, value in found["step/accepted"]]
        assert accepted == trace["step_accepted"][steps].tolist()
        assert [at for at, _ in found["step/nfe"]] == list(range(len(steps)))
        assert sum(value for _, value in found["sample/nfe"]) == sum(
            trace[f"sample_nfe_{kind}"][rows].sum() for kind in ("prefill", "draft", "verify",
                                                                 "commit"))
        assert not any("first_" in tag or "run_index" in tag for tag in found)
    times = [event[1] for event in events(program.folder / made[0]) if event.get(5)]
    assert times[0] == pytest.approx(events(program.folder / made[0])[0][1]) and times[0] > 1.7e9


class Wandb(ModuleType):
    """The calls of W&B that are used, written down."""

    def __init__(self):
        super().__init__("wandb")
        self.runs = []

    def init(self, **words):
        run = SimpleNamespace(words=words, rows=[], metrics=[], ended=False, dir=words["dir"])
        run.log = run.rows.append
        run.define_metric = lambda name, **more: run.metrics.append((name, more))
        run.finish = lambda: setattr(run, "ended", True)
        self.runs.append(run)
        return run


def test_wandb_is_told_every_row_offline(trace, tmp_path, monkeypatch):
    package = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", package)
    assert len(writers.wandb(trace, tmp_path / "w")) == 2
    for number, run in enumerate(package.runs):
        assert run.words["mode"] == "offline" and run.ended
        assert run.words["config"]["decode.threshold"] == ("0.5", "0.9")[number]
        steps = [row for row in run.rows if "step/index" in row]
        assert len(steps) == (trace.runs_of("step") == number).sum()
        assert len(run.rows) == len(steps) + 4
        assert {type(value) for row in run.rows for value in row.values()} <= {int, float}
        assert ("step/*", {"step_metric": "step/index"}) in run.metrics


def test_what_is_not_installed_is_one_sentence(program, trace, monkeypatch):
    for flag, package in (("--parquet", "pyarrow"), ("--wandb", "wandb")):
        block = f"import sys\nsys.modules['{package}'] = None\n"
        (program.folder / "sitecustomize.py").write_text(block)
        said = program.fails(69, "export", "a.h5", flag, "x", PYTHONPATH=str(program.folder))
        assert said.count("\n") == 1 and f"{flag} needs the Python package {package}" in said
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(Unavailable):
        writers.parquet(trace, program.folder / "x")


def test_parquet_is_read_back(program, trace):
    parquet = pytest.importorskip("pyarrow.parquet")
    made = writers.parquet(trace, program.folder / "p")
    assert [path.stem for path in made if path.stem in ("sample", "step")] == ["sample", "step"]
    read = parquet.read_table(program.folder / "p" / "step.parquet").to_pandas()
    assert read["accepted"].tolist() == trace["step_accepted"].tolist()
    assert sorted(set(read["decode.threshold"])) == ["0.5", "0.9"]


def test_parquet_writes_every_table_that_has_rows(trace, tmp_path, monkeypatch):
    """The same with the calls of pyarrow written down."""
    pytest.importorskip("pandas")  # It looks for pyarrow when it is loaded.
    arrow, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    arrow.Table = SimpleNamespace(from_pandas=lambda frame, preserve_index: frame)
    written = {}
    parquet.write_table = lambda table, path: written.update({path.stem: table})
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    writers.parquet(trace, tmp_path / "p")
    assert {table: len(frame) for table, frame in written.items()} == {
        table: rows for table, rows in trace.rows.items() if rows}
    assert written["step"]["accepted"].tolist() == trace["step_accepted"].tolist()
    assert set(written["step"]["decode.threshold"]) == {"0.5", "0.9"}


def test_frames_are_xarray_too(trace):
    pytest.importorskip("xarray")
    frame = trace.frame("step", to="xarray")
    assert dict(frame.sizes) == {"step": trace.rows["step"]}
    assert frame["accepted"].values.tolist() == trace["step_accepted"].tolist()
    with pytest.raises(ValueError, match="none of pandas, xarray, arrow"):
        trace.frame("step", to="polars")


def test_a_file_that_is_no_trace_is_one_sentence(program):
    program.write("a.txt", "no trace")
    assert "it is no HDF5 file" in program.fails(65, "export", "a.txt", "--tensorboard", "tb")


@pytest.mark.parametrize("names, folders", [
    (["a=1", "a=2"], ["a=1", "a=2"]), (["a/b", "a b"], ["a_b-0", "a_b-1"]), ([".."], ["run"])])
def test_folders_have_names_of_their_own(names, folders):
    assert folder_names([SimpleNamespace(name=name) for name in names]) == folders
