"""One logged decision: its fields, and what of it breaks the rule of speculative sampling."""

import math
from dataclasses import dataclass
from typing import Any, List, Optional

import numpy as np

from draftlab.audit.faults import DataError

RULES = ("ratio", "other")
_TOLERANCE = 1e-4  # A probability logged in single precision has such an error.


@dataclass(frozen=True)
class Violation:
    """A decision that the rule does not allow."""

    line: int
    kind: str
    what: str


@dataclass
class Decision:
    """One line of a log; docs/AUDIT.md has the schema."""

    line: int
    drafts: List[int]
    q: List[Optional[float]]
    p: List[Optional[float]]
    accepted: int
    tokens: List[int]
    u: Optional[List[float]] = None
    u_residual: Optional[float] = None
    accept: Optional[List[Optional[float]]] = None
    p_rows: Optional[np.ndarray] = None
    q_rows: Optional[np.ndarray] = None
    rule: str = "ratio"
    sequence: Any = None

    @property
    def tests(self) -> int:
        """The number of drafts that were tested: those accepted, and the one that was not."""
        return min(self.accepted + 1, len(self.drafts))

    def ratio(self, i: int) -> Optional[float]:
        """min(1, p / q) of a draft; a q of null is a draft that was certain."""
        p, q = self.p[i], self.q[i]
        if p is None:
            return None
        q = 1.0 if q is None else q
        return min(1.0, p / q) if q > 0 else None

    @classmethod
    def read(cls, value: Any, where: str, line: int) -> "Decision":
        if not isinstance(value, dict):
            raise DataError(f"{where}: a decision is an object")
        for key in ("drafts", "p", "accepted", "tokens"):
            if key not in value:
                raise DataError(f"{where}: '{key}' is missing")
        drafts = _integers(value, "drafts", where)
        count = len(drafts)
        tokens = _integers(value, "tokens", where)
        accepted = value["accepted"]
        if not _whole(accepted) or not 0 <= accepted <= count:
            raise DataError(f"{where}: accepted = {accepted!r} must be in [0, {count}]")
        rule = value.get("rule", "ratio")
        if rule not in RULES:
            raise DataError(f"{where}: rule = {rule!r} must be one of {', '.join(RULES)}")
        number = value.get("u_residual")
        return cls(
            line, drafts, _numbers(value, "q", where, count) or [None] * count,
            _numbers(value, "p", where, count) or [], accepted, tokens,
            _numbers(value, "u", where, None),
            None if number is None else _number(number, "u_residual", where),
            _numbers(value, "accept", where, count), _rows(value, "p_rows", where, count + 1),
            _rows(value, "q_rows", where, count), rule, value.get("sequence"))


def _whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integers(value, key, where) -> List[int]:
    found = value[key]
    if not isinstance(found, list) or not all(_whole(v) and v >= 0 for v in found):
        raise DataError(f"{where}: '{key}' must be a list of token ids")
    return found


def _number(value, key, where) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1 + 1e-6:
        raise DataError(f"{where}: '{key}' holds {value!r}, which is not in [0, 1]")
    return float(value)


def _numbers(value, key, where, count) -> Optional[List[Optional[float]]]:
    found = value.get(key)
    if found is None:
        return None
    if not isinstance(found, list) or (count is not None and len(found) != count):
        raise DataError(f"{where}: '{key}' must be a list of {count if count is not None else ''} "
                        "numbers, one a draft".replace("of  ", "of "))
    return [None if v is None else _number(v, key, where) for v in found]


def _rows(value, key, where, count) -> Optional[np.ndarray]:
    found = value.get(key)
    if found is None:
        return None
    try:
        rows = np.array(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: '{key}' must be {count} rows of one length") from error
    if count == 0 and rows.size == 0:
        return None
    if rows.ndim != 2 or len(rows) != count:
        raise DataError(f"{where}: '{key}' must be {count} rows of one length")
    if not np.all(rows >= 0) or not np.all(np.abs(rows.sum(axis=1) - 1) < 0.02):
        raise DataError(f"{where}: a row of '{key}' is no law: it has to sum to 1")
    return rows / rows.sum(axis=1, keepdims=True)


def violations(d: Decision) -> List[Violation]:
    """Returns what of a decision cannot happen under the rule that it names."""
    found: List[Violation] = []

    def broken(kind: str, what: str) -> None:
        found.append(Violation(d.line, kind, what))

    if d.tokens[: d.accepted] != d.drafts[: d.accepted]:
        broken("tokens", f"accepted {d.accepted} of {d.drafts}, but committed {d.tokens}")
    if not d.accepted <= len(d.tokens) <= d.accepted + 1:
        broken("tokens", f"committed {len(d.tokens)} tokens after accepting {d.accepted}")
    if d.rule == "ratio":
        _tests(d, broken)
    _last_token(d, broken)
    _rows_agree(d, broken)
    _reuse(d, broken)
    return found


def _tests(d: Decision, broken) -> None:
    for i in range(d.tests):
        ratio, passed = d.ratio(i), i < d.accepted
        if ratio is None:
            if d.p[i] is not None:
                broken("impossible draft", f"draft {i} has q = 0 under the law it was drawn from")
            continue
        if d.accept is not None and d.accept[i] is not None \
                and abs(d.accept[i] - ratio) > _TOLERANCE:
            broken("acceptance", f"draft {i} was accepted with {d.accept[i]:.6g}, where "
                   f"min(1, p / q) is {ratio:.6g}")
        if passed and ratio == 0:
            broken("acceptance", f"draft {i} was accepted, though p = 0")
        if not passed and ratio >= 1 - 1e-9:
            broken("acceptance", f"draft {i} was rejected, though p >= q")
        u = d.u[i] if d.u is not None and i < len(d.u) else None
        if u is not None and passed and u > ratio + _TOLERANCE:
            broken("acceptance", f"draft {i} was accepted at u = {u:.6g}, above p / q = "
                   f"{ratio:.6g}")
        if u is not None and not passed and u < ratio - _TOLERANCE:
            broken("acceptance", f"draft {i} was rejected at u = {u:.6g}, below p / q = "
                   f"{ratio:.6g}")


def _last_token(d: Decision, broken) -> None:
    if len(d.tokens) != d.accepted + 1:
        return
    token, k = d.tokens[-1], len(d.drafts)
    if d.accepted < k and d.rule == "ratio" and token == d.drafts[d.accepted]:
        broken("replacement", f"draft {d.accepted} was rejected, and token {token} put in its "
               "place again, where nothing of it is left")
        return
    law = last_law(d)
    if law is not None and (token >= len(law) or law[token] < 1e-7):
        kind = "replacement" if d.accepted < k else "bonus"
        broken(kind, f"the {kind} is token {token}, of which nothing is left")


def last_law(d: Decision) -> Optional[np.ndarray]:
    """The law of the last token: the residual's after a rejection, else the bonus's."""
    if d.p_rows is None or d.rule != "ratio":
        return None
    if d.accepted == len(d.drafts):
        return d.p_rows[d.accepted]
    q = draft_law(d, d.accepted)
    if q is None:
        return None
    left = np.maximum(d.p_rows[d.accepted] - q, 0)
    return left / left.sum() if left.sum() > 1e-6 else None


def draft_law(d: Decision, i: int) -> Optional[np.ndarray]:
    """The law that draft i was drawn from, where the log says it."""
    if d.q_rows is not None:
        return d.q_rows[i]
    if d.q[i] is None and d.p_rows is not None and d.drafts[i] < d.p_rows.shape[1]:
        certain = np.zeros(d.p_rows.shape[1])
        certain[d.drafts[i]] = 1
        return certain
    return None


def _rows_agree(d: Decision, broken) -> None:
    for name, rows, values in (("p", d.p_rows, d.p), ("q", d.q_rows, d.q)):
        for i in range(d.tests if rows is not None else 0):
            value, token = values[i], d.drafts[i]
            if value is None or math.isnan(value):
                continue
            of_row = rows[i][token] if token < rows.shape[1] else 0.0
            if abs(of_row - value) > 0.01 * max(of_row, value) + 1e-4:
                broken("rows", f"draft {i} has {name} = {value:.6g}, but its row says "
                       f"{of_row:.6g}: another position's, or another temperature's")


def _reuse(d: Decision, broken) -> None:
    numbers = [u for u in (d.u or [])[: d.tests] if u is not None]
    if d.u_residual is not None and d.u_residual in numbers:
        broken("reuse", f"the number {d.u_residual:.9g} of a test also chose the last token")
    if len(set(numbers)) < len(numbers):
        broken("reuse", "two tests of one decision used the same number")
