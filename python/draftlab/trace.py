"""Traces (docs/TRACE_FORMAT.md) with h5py and numpy; pandas and xarray are imported when asked for.

    trace = Trace("out/quickstart.h5")
    trace["sample_nfe_verify"]        # a column, as an array; texts as str
    trace.frame("step")               # a table as a pandas DataFrame, numbered as in the file
    trace.samples()                   # samples with the config keys in which arms differ
    trace.dataset()                   # everything as an xarray Dataset
    for sample in trace:              # one dict a sample, its steps, tokens and drafts within
        for step in sample["steps"]:
            print(step["accepted"], [token["id"] for token in step["tokens"]])
"""

import csv
import html
import io
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple, Union

import h5py
import numpy as np

from draftlab import commands

if TYPE_CHECKING:
    import pandas
    import xarray

Row = Dict[str, Any]
COUNTED = ("prefill", "draft", "verify", "commit")  # Papers count these evaluations.
TABLES = ("run", "sample", "step", "token", "draft", "piece", "plugin", "setting", "axis",
          "given")


class Trace:
    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = path
        self.file = h5py.File(path, "r")
        self.attributes: Dict[str, Any] = dict(self.file.attrs)
        if self.attributes.get("magic") != "draftlab-trace":
            raise ValueError(f"{path} is no draftlab trace")
        if not str(self.attributes["schema_version"]).startswith("1."):
            raise ValueError(
                f"{path} has schema {self.attributes['schema_version']}; this reader knows 1.x"
            )
        # "piece" came with version 1.1, "plugin" with 1.6, "setting" and "axis" with 1.7, "given"
        # with 1.8.
        self.rows: Dict[str, int] = {
            name: self.file[name].shape[0] if name in self.file else 0 for name in TABLES
        }
        # Columns of a table begin with its name; dimension scales bear a table's name alone.
        self.columns: Dict[str, List[str]] = {
            table: [name for name in self.file if name.startswith(table + "_")] for table in TABLES
        }
        self._cache: Dict[str, np.ndarray] = {}

    def __getitem__(self, column: str) -> np.ndarray:
        """A whole column."""
        if column not in self._cache:
            data = self.file[column]
            self._cache[column] = (
                data.asstr()[:] if h5py.check_string_dtype(data.dtype) else data[:]
            )
        return self._cache[column]

    def table(self, table: str) -> Dict[str, np.ndarray]:
        """{field: array} of a table, names without the table's."""
        return {name[len(table) + 1 :]: self[name] for name in self.columns[table]}

    def meanings(self, column: str) -> Dict[int, str]:
        """{value: meaning} of an enumeration, e.g. step_stop."""
        attributes = self.file[column].attrs
        return dict(zip(attributes["flag_values"].tolist(), attributes["flag_meanings"].split()))

    # notebooks

    def report(self, *words: str) -> str:
        """What `draftlab report` prints of this trace."""
        return commands.call(["report", str(self.path), *words], show=False)

    def __repr__(self) -> str:
        return f"<Trace {self.path}: {self.rows['sample']} samples of {self.rows['run']} arms>"

    def _repr_html_(self) -> str:
        """The table of `draftlab report`."""
        rows = list(csv.reader(io.StringIO(self.report("--format", "csv"))))
        cells = [
            "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
            for tag, row in zip(["th"] + ["td"] * len(rows), rows)
        ]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"

    def plot(self, figure: str, **flags: Any) -> commands.Figure:
        """A figure of `draftlab plot` ("ar", "pareto", ...), which a notebook shows."""
        return commands.plot(self.path, figure, **flags)

    # pandas

    def frame(self, table: str, words: bool = False, to: str = "pandas") -> Any:
        """A table as a DataFrame. Rows of samples and of what belongs to them also have `nfe` (all
        evaluations that papers count), `arm`, and each config key in which arms differ. With words,
        enumerations are categories of their meanings. `to` = "xarray" or "arrow" returns an xarray
        Dataset or an Arrow table of the same columns."""
        if to not in ("pandas", "xarray", "arrow"):
            raise ValueError(f"to = {to!r} is none of pandas, xarray, arrow")
        frame = self._frame(table, words)
        if to == "xarray":
            return frame.to_xarray()
        if to == "arrow":
            import pyarrow

            return pyarrow.Table.from_pandas(frame, preserve_index=False)
        return frame

    def _frame(self, table: str, words: bool) -> "pandas.DataFrame":
        import pandas

        frame = pandas.DataFrame(self.table(table))
        frame.index.name = table
        for name in frame.columns if words else ():
            if "flag_values" in self.file[f"{table}_{name}"].attrs:
                frame[name] = frame[name].map(self.meanings(f"{table}_{name}")).astype("category")
        more: Dict[str, np.ndarray] = {}
        if f"{table}_nfe_verify" in self.columns[table]:
            counts = [self[f"{table}_nfe_{kind}"].astype(np.int64) for kind in COUNTED]
            more["nfe"] = np.sum(counts, axis=0)
        runs = self.runs_of(table)
        if runs is not None:
            configs = self.configs()
            more["arm"] = self["run_arm"][runs]
            for key in configs.columns:
                if configs[key].nunique(dropna=False) > 1:
                    more[key] = configs[key].to_numpy()[runs]
        return pandas.concat([frame, pandas.DataFrame(more, index=frame.index)], axis=1)

    def runs_of(self, table: str) -> Optional[np.ndarray]:
        """The row in the run table of each row of samples, steps, tokens or drafts; None for
        others."""
        if table == "sample":
            return self["sample_run_index"]
        above = {"step": "sample", "token": "step", "draft": "step"}.get(table)
        runs = self.runs_of(above) if above else None
        return None if runs is None else runs[self[f"{table}_{above}_index"]]

    def steps(self) -> "pandas.DataFrame":
        """The step table with words, its arms and their configs."""
        return self.frame("step", words=True)

    def configs(self) -> "pandas.DataFrame":
        """One row an arm, one column a dotted config key."""
        import pandas

        return pandas.DataFrame([config_keys(text) for text in self["run_config"]]).rename_axis(
            index="run"
        )

    def samples(self) -> "pandas.DataFrame":
        """The sample table with its arms and their configs."""
        return self.frame("sample")

    def dataset(self) -> "xarray.Dataset":
        """Everything as an xarray Dataset: one dimension a table."""
        import xarray

        attributes = ("units", "long_name", "instance_dimension", "sample_dimension")
        variables = {
            name: (
                table,
                self[name],
                {a: self.file[name].attrs[a] for a in attributes if a in self.file[name].attrs},
            )
            for table in self.rows
            for name in self.columns[table]
        }
        return xarray.Dataset(
            variables, attrs={k: v for k, v in self.attributes.items() if k != "schema"}
        )

    # sample by sample

    @property
    def runs(self) -> List[Row]:
        return [self._row("run", i) for i in range(self.rows["run"])]

    def pieces(self, run: int) -> Dict[int, str]:
        """{token id: text} of the tokenizer of an arm; empty where the trace carries none."""
        checkpoints = list(self["run_checkpoint"])
        first = checkpoints.index(checkpoints[run])
        return {int(row[1]): row[2] for row in self._pieces() if row[0] == first}

    def _pieces(self) -> Iterable[Tuple[int, int, str]]:
        return (
            zip(self["piece_run_index"], self["piece_id"], self["piece_text"])
            if self.rows["piece"]
            else ()
        )

    def __len__(self) -> int:
        return self.rows["sample"]

    def __iter__(self) -> Iterator[Row]:
        return (self.sample(i) for i in range(len(self)))

    def sample(self, index: int) -> Row:
        """One decoded prompt with all that happened to it."""
        sample = self._row("sample", index)
        sample["steps"] = [self._step(i) for i in self._children(sample, "step")]
        return sample

    def _step(self, index: int) -> Row:
        step = self._row("step", index)
        step["tokens"] = [self._row("token", i) for i in self._children(step, "token")]
        step["drafts"] = [self._row("draft", i) for i in self._children(step, "draft")]
        return step

    def _row(self, table: str, index: int) -> Row:
        return {name[len(table) + 1 :]: self[name][index] for name in self.columns[table]}

    @staticmethod
    def _children(row: Row, table: str) -> range:
        first = int(row[f"first_{table}"])
        return range(first, first + int(row[f"n_{table}s"]))

    def per_step(self, column: str, reduce: Any = np.add) -> np.ndarray:
        """Sums (or maxima, ...) of a token or draft column over each step; 0 without rows."""
        table = column.split("_")[0]
        count, values = self[f"step_n_{table}s"], np.asarray(self[column])
        result = np.zeros(len(count), dtype=np.result_type(values, np.int64))
        some = count > 0
        if some.any():
            result[some] = reduce.reduceat(values, self[f"step_first_{table}"][some])
        return result


def config_keys(text: str) -> Dict[str, str]:
    """{dotted key: value} of a resolved config."""
    keys: Dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]").strip() + "."
        elif "=" in line and line[0] not in "#;":
            key, value = line.split("=", 1)
            keys[section + key.strip()] = value.strip()
    return keys
