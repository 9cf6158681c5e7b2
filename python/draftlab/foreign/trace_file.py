"""Writes the decodes of others as a trace (docs/TRACE_FORMAT.md), by the schema that is printed."""

import hashlib
import zlib
from datetime import datetime, timezone
from typing import Any, Dict, List

import h5py
import numpy as np

import draftlab
from draftlab.foreign.decodes import Arm, Decodes, Rows
from draftlab.foreign.schema import Column, Schema
from draftlab.foreign.whole_file import whole_file
from draftlab.trace import TABLES

_SEAL = b"draftlab-crc32:"
_CHUNK = 1 << 16
# Tables of which an imported trace has no rows: no source says what they hold.
_EMPTY = ("draft", "plugin")


def config_of(arm: Arm, whose: Dict[str, str]) -> str:
    """The settings of an arm as a config that names its source, and that nothing can run."""
    lines = [f"# Imported, and no config to run. {key}: {text}" for key, text in whose.items()]
    section = ""
    for key, value, _ in sorted(arm.settings(), key=lambda row: "." in row[0]):
        *above, name = key.split(".")
        if above and above[0] != section:
            section = above[0]
            lines += ["", f"[{section}]"]
        lines.append(f"{name} = {value}")
    return "\n".join(lines) + "\n"


def _given(rows: Rows) -> Dict[str, Any]:
    """The tokens of prompts, where every record says those of its own."""
    first = {decode.prompt: decode for decode in reversed(rows.order)}
    ids = [first[name].prompt_ids for name in rows.prompts]
    if any(of_one is None or len(of_one) != first[name].prompt_tokens
           for of_one, name in zip(ids, rows.prompts)):
        return {}
    counts = [len(of_one or ()) for of_one in ids]
    zeros = np.zeros(sum(counts), dtype=int)
    return {"given_run_index": zeros, "given_kind": zeros, "given_list": zeros,
            "given_prompt_index": np.repeat(np.arange(len(ids)), counts),
            "given_position": np.concatenate([np.arange(count) for count in counts]),
            "given_id": np.concatenate([np.asarray(of_one, dtype=int) for of_one in ids])}


class TraceFile:
    """The columns of a trace to be: what is said, and the names of those that are not."""

    def __init__(self, schema: Schema, decodes: Decodes, whose: Dict[str, str]) -> None:
        self.schema = schema
        self.whose = whose
        flags = {column.name: {word: value for value, word in column.flags().items()}
                 for columns in schema.tables.values() for column in columns}
        self.rows = Rows(decodes, flags)
        self.said = dict(self.rows.columns)
        configs = [config_of(arm, whose) for arm in self.rows.arms]
        self.said["run_config"] = configs
        self.said["run_id"] = [hashlib.sha256(text.encode()).hexdigest()[:12] for text in configs]
        given = _given(self.rows)
        self.said.update(given)
        self.prompts = bool(given)
        self.lengths = {"run": len(configs), "sample": len(self.rows.order),
                        "step": len(self.rows.committed), "token": int(self.rows.committed.sum()),
                        "setting": len(self.said["setting_key"]),
                        "axis": len(self.said["axis_key"]),
                        "piece": len(self.said.get("piece_id", ())),
                        "given": len(given.get("given_id", ())),
                        **{table: 0 for table in _EMPTY}}

    def not_said(self) -> List[str]:
        """The columns, of tables that have rows, whose values mean nothing or do so in part."""
        return [column.name for table in TABLES if self.lengths[table]
                for column in self.schema.tables[table]
                if column.name not in self.said or column.name in self.rows.in_part]

    def _values(self, table: str, column: Column) -> Any:
        if column.name in self.said:
            return self.said[column.name]
        blank: Any = "" if column.type == "text" else np.nan if "float" in column.type else 0
        return [blank] * self.lengths[table]

    def _column(self, file: h5py.File, table: str, column: Column) -> None:
        text = column.type == "text"
        kind = h5py.string_dtype() if text else np.dtype(column.type)
        values = np.asarray(self._values(table, column), dtype=object if text else kind)
        packed: Dict[str, Any] = {}
        if len(values) and not text:
            packed = {"chunks": (min(len(values), _CHUNK),), "shuffle": True,
                      "compression": "gzip", "compression_opts": 2}
        data = file.create_dataset(column.name, data=values, dtype=kind, **packed)
        data.dims[0].attach_scale(file[table])
        for key, said in column.attributes().items():
            data.attrs[key] = said
        if column.flags():
            data.attrs["flag_values"] = np.array(list(column.flags()), dtype=np.int8)
            data.attrs["flag_meanings"] = " ".join(column.flags().values())

    def _root(self, file: h5py.File, now: str) -> None:
        file.attrs.update({
            "magic": "draftlab-trace", "schema_version": self.schema.version,
            "schema": self.schema.text(), "Conventions": "CF-1.10", "index_base": np.int64(0),
            "complete": np.int64(1), "drafts": "none", "prompts": "all" if self.prompts else "none",
            "software": f"draftlab {draftlab.__version__}, import", "started": now, "ended": now,
            "title": "Imported. " + "; ".join(f"{key}: {text}"
                                              for key, text in self.whose.items()),
            "not_said": " ".join(self.not_said()), "checksum": _SEAL.decode() + "0" * 8,
            **{key.replace(" ", "_"): text for key, text in self.whose.items()}})

    def write(self, path: str) -> None:
        """Writes the file, and seals it by its checksum."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with whole_file(path) as partial:
            with h5py.File(partial, "w") as file:
                self._root(file, now)
                for table in TABLES:
                    rows = self.lengths[table]
                    scale = file.create_dataset(table, shape=(rows,), dtype=">f4")
                    # The label by which netCDF knows a dimension that is no variable.
                    scale.make_scale("This is a netCDF dimension but not a netCDF variable."
                                     f"{rows:10d}")
                    for column in self.schema.tables[table]:
                        self._column(file, table, column)
            with open(partial, "rb+") as bare:
                contents = bare.read()
                digits = contents.index(_SEAL) + len(_SEAL)
                bare.seek(digits)
                bare.write(b"%08x" % zlib.crc32(contents))
