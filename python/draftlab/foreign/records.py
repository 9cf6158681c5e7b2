"""Reads acceptance lengths from the records of others. What a record does not say is None here."""

import csv
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

from draftlab.audit.faults import DataError

# The keys of SpecDecode-Bench's lines that hold lengths, and what drafted there.
_PROPOSERS = {"acc_eagle": "eagle3", "acc_ngram": "ngram"}
LARGEST = 2**31 - 1  # The largest count, place and token id that a trace holds.


def plain(text: str) -> str:
    """The text as a file can hold it: NUL, and what is no character, are question marks."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


@dataclass
class Record:
    """The lengths of one request by one proposer; `line` is where the record stands."""

    line: int
    lengths: List[int]
    method: str
    task: Optional[str] = None
    request: Optional[str] = None
    prompt_tokens: Optional[int] = None
    generated_tokens: Optional[int] = None
    prompt_ids: Optional[List[int]] = None
    ids: Optional[List[int]] = None


@dataclass
class Source:
    """A file of others."""

    path: str
    format: str
    records: List[Record] = field(default_factory=list)

    def fail(self, line: int, why: str) -> DataError:
        return DataError(f"{self.path}:{line}: {why}")

    def not_said(self) -> List[str]:
        """The columns that at least one record says nothing of."""
        return [key for key in ("task", "request", "prompt_tokens", "generated_tokens")
                if any(getattr(record, key) is None for record in self.records)]


def _lengths(source: Source, line: int, key: str, values: Any) -> List[int]:
    if not isinstance(values, list) or not values or \
            any(type(value) is not int or value < 1 for value in values):
        raise source.fail(line, f"'{key}' has to be a list of whole numbers of at least 1, the "
                                "tokens that a step commits")
    return values


def line_records(source: Source, line: int, said: Dict[str, Any]) -> Iterator[Record]:
    """The records of a line of SpecDecode-Bench's JSONL."""
    tokens: Dict[str, Optional[List[int]]] = {}
    for key in ("prompt_token_ids", "generated_token_ids"):
        tokens[key] = said.get(key)
        if key in said and (not isinstance(said[key], list) or
                            any(type(token) is not int or not 0 <= token <= LARGEST
                                for token in said[key])):
            raise source.fail(line, f"'{key}' has to be a list of token ids, whole numbers of at "
                                    "least 0")
    prompt, generated = tokens["prompt_token_ids"], tokens["generated_token_ids"]
    found = [key for key in _PROPOSERS if key in said]
    if not found:
        raise source.fail(line, f"none of {', '.join(_PROPOSERS)} is there")
    for key in found:
        values = said[key].get("acc_len") if isinstance(said[key], dict) else None
        yield Record(line, _lengths(source, line, f"{key}.acc_len", values), _PROPOSERS[key],
                     request=plain(str(said["id"])) if "id" in said else None,
                     prompt_tokens=None if prompt is None else len(prompt),
                     generated_tokens=None if generated is None else len(generated),
                     prompt_ids=prompt, ids=generated)


def _number(source: Source, line: int, row: Dict[str, str], key: str) -> Optional[int]:
    text = row.get(key) or "NaN"
    if text == "NaN":
        return None
    if not text.isdecimal() or len(text) > 10 or not 1 <= int(text) <= LARGEST:
        raise source.fail(line, f"{key} = '{text}' has to be a whole number from 1 to {LARGEST}, "
                                "or NaN")
    return int(text)


def csv_records(source: Source, lines: List[Tuple[int, str]]) -> Iterator[Record]:
    """The records of a CSV with at least the columns method and acceptance_lengths."""
    csv.field_size_limit(1 << 27)
    for line, text in lines:
        if "\0" in text:
            raise source.fail(line, "a CSV has no NUL")
    reader = csv.DictReader(text for _, text in lines)
    for key in ("method", "acceptance_lengths"):
        if key not in (reader.fieldnames or ()):
            raise source.fail(lines[0][0] if lines else 1, f"there is no column '{key}', and no "
                              "other format of docs/IMPORT.md is found here")
    for (line, _), row in zip(lines[1:], reader):
        words = (row["acceptance_lengths"] or "").split()
        lengths = _lengths(source, line, "acceptance_lengths",
                           [int(word) if word.isdigit() else None for word in words])
        yield Record(line, lengths, row["method"], row.get("task") or None,
                     row.get("request") or None, _number(source, line, row, "prompt_tokens"),
                     _number(source, line, row, "generated_tokens"))
