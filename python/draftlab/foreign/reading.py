"""Finds out by its contents of which format a file of others is, and reads it."""

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from draftlab.audit.faults import DataError
from draftlab.foreign import profiles, vllm_requests
from draftlab.foreign.decodes import Decode
from draftlab.foreign.logs import read_log
from draftlab.foreign.records import Source, csv_records, line_records
from draftlab.foreign.summaries import Summary

Lines = List[Tuple[int, str]]


@dataclass
class Reading:
    """What a file says: records (in `source`), or sums, with the steps of each where they are said.
    """

    source: Source
    summaries: List[Summary] = field(default_factory=list)
    decodes: List[Optional[Decode]] = field(default_factory=list)


def _object(source: Source, line: int, text: str) -> Dict[str, Any]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise source.fail(line, f"this is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise source.fail(line, "a line has to be a JSON object")
    return said


def _of_objects(reading: Reading, lines: Lines) -> None:
    source = reading.source
    for line, text in lines:
        said = _object(source, line, text)
        of_vllm = vllm_requests.holds(said)
        if line != lines[0][0] and of_vllm != source.format.startswith("vLLM"):
            raise source.fail(line, f"this line is not {source.format}, as those before it are")
        source.format = "vLLM's answers to requests" if of_vllm else "SpecDecode-Bench's JSONL"
        if not of_vllm:
            source.records += line_records(source, line, said)
            continue
        for row, decode in vllm_requests.read_request(source, line, said):
            reading.summaries.append(row)
            reading.decodes.append(decode)


def _whole(text: str) -> Optional[Dict[str, Any]]:
    """The file as one JSON object over several lines; None where it is none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def read(path: str) -> Reading:
    """Reads a file of any format of docs/IMPORT.md."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no text in UTF-8") from error
    lines = [(at, line) for at, line in enumerate(text.splitlines(keepends=True), 1)
             if line.strip() and not line.startswith("#")]
    reading = Reading(Source(path, ""))
    source = reading.source
    head = lines[0][1] if lines else ""
    whole = _whole(text) if head.lstrip().startswith("{") else None
    if whole is not None and profiles.holds(whole):
        source.format = "a speculation_profile.json"
        reading.summaries = profiles.read_profile(source, whole)
    elif whole is not None:
        _of_objects(reading, [(lines[0][0], text)])
    elif head.lstrip().startswith("{"):
        _of_objects(reading, lines)
    else:
        columns = head.strip().split(",")
        if "method" not in columns and "acceptance_lengths" not in columns:
            reading.summaries = read_log(source, lines)
        if not reading.summaries:
            source.format = "a CSV of acceptance lengths"
            source.records += csv_records(source, lines)
    if not source.records and not reading.summaries:
        raise DataError(f"{path}: there is no record")
    return reading
