"""Acceptance lengths: what a step would commit at every position of texts that others decoded.

The CSV has a row for each request and proposer: task, request, prompt_tokens, generated_tokens,
method, acceptance_lengths. Entry i of the lengths, separated by spaces, is how many tokens the step
commits that begins after generated token i + 1 with drafts of any length: accepted drafts and one.
A line that begins with # is a comment; `draftlab import` writes there whose numbers these are.
"""

import csv
import math
from dataclasses import dataclass
from typing import Dict, Iterator, List, Sequence, Tuple

import numpy as np

from draftlab.audit.faults import DataError

COLUMNS = ("task", "request", "prompt_tokens", "generated_tokens", "method", "acceptance_lengths")


@dataclass(frozen=True)
class Request:
    """What is known of one request: its lengths by proposer, and the tokens of its prompt."""

    task: str
    name: str
    prompt: int
    lengths: Dict[str, np.ndarray]

    def generated(self, proposer: str) -> int:
        """The tokens that a simulation generates: as many as the proposer's list has entries."""
        return len(self.lengths[proposer])


def _count(path: str, line: int, key: str, text: str) -> float:
    if text == "NaN":
        return math.nan
    if not text.isdigit() or int(text) < 1:
        raise DataError(f"{path}:{line}: {key} = '{text}' has to be a whole number of at least 1, "
                        "or NaN")
    return int(text)


def _lengths(path: str, line: int, text: str) -> np.ndarray:
    words = text.split()
    if not words or not all(word.isdigit() and int(word) > 0 for word in words):
        raise DataError(f"{path}:{line}: acceptance_lengths have to be whole numbers of at least 1")
    return np.array([int(word) for word in words])


def _rows(path: str) -> Iterator[Tuple[int, Dict[str, str]]]:
    csv.field_size_limit(1 << 27)
    with open(path, encoding="utf-8", newline="") as file:
        numbered = [(at, line) for at, line in enumerate(file, 1) if not line.startswith("#")]
    reader = csv.DictReader(line for _, line in numbered)
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise DataError(f"{path}: the first line has to be {','.join(COLUMNS)}")
    for (line, _), row in zip(numbered[1:], reader):
        if None in row or None in row.values():
            raise DataError(f"{path}:{line}: a row has to have {len(COLUMNS)} fields")
        yield line, row


def read_acceptance(path: str) -> List[Request]:
    """Reads the requests in the order of the file."""
    found: Dict[Tuple[str, str], Request] = {}
    try:
        for line, row in _rows(path):
            prompt = _count(path, line, "prompt_tokens", row["prompt_tokens"])
            _count(path, line, "generated_tokens", row["generated_tokens"])
            lengths = _lengths(path, line, row["acceptance_lengths"])
            key = (row["task"], row["request"])
            if math.isnan(prompt):
                raise DataError(f"{path}:{line}: prompt_tokens is NaN, which the source did not "
                                "say; without it no step has a cost")
            request = found.setdefault(key, Request(*key, int(prompt), {}))
            if row["method"] in request.lengths or request.prompt != prompt:
                raise DataError(f"{path}:{line}: request '{row['request']}' of {row['task']} with "
                                f"method {row['method']} stands here again, or with another prompt")
            request.lengths[row["method"]] = lengths
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is no text in UTF-8") from error
    if not found:
        raise DataError(f"{path}: there is no request")
    return list(found.values())


def of_task(requests: Sequence[Request], task: str, proposer: str) -> List[Request]:
    """The requests of a task that the proposer's lengths are known of."""
    chosen = [r for r in requests if r.task == task and proposer in r.lengths]
    if not chosen:
        have = sorted({f"{r.task} by {m}" for r in requests for m in r.lengths})
        raise DataError(f"there is no request of {task} by {proposer}; the file has "
                        f"{', '.join(have)}")
    return chosen
