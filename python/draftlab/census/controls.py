"""Negative controls: a sampler with one place broken, which an audit has to call biased.

Breaks are made on the syntax tree that was taken from the file, so nothing of it is written here.
A control is the name of a break and which of its places, counted through the definitions.
"""

import ast
import copy
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from draftlab.audit.catch import scripted
from draftlab.audit.episodes import Heart
from draftlab.audit.faults import DataError, TooLarge
from draftlab.audit.judge import draw, examine
from draftlab.audit.run import toys_of
from draftlab.audit.sampled import Plan
from draftlab.audit.sampler import sampler_of
from draftlab.audit.toys import Toy

_TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_TURNED_TEXT = {" < ": " > ", " <= ": " >= ", " > ": " < ", " >= ": " <= ", " == ": " != ",
                " != ": " == "}  # Operators of a text in C++.
_CLIPS = ("clamp", "clamp_", "clamp_min", "relu", "relu_", "maximum")
_SECONDS = 12.0  # Processor time for one control.
_SHARES = 6  # A law has this part of what is left of them, as often as it is looked at.
_RUNS = 60_000


def _ratio(node: ast.AST) -> Optional[ast.AST]:
    if isinstance(node, ast.Constant) and node.value == " / ":
        return ast.Constant(" * ")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return ast.BinOp(node.right, node.op, node.left)
    return None


def _test(node: ast.AST) -> Optional[ast.AST]:
    if isinstance(node, ast.Constant) and node.value in _TURNED_TEXT:
        return ast.Constant(_TURNED_TEXT[node.value])
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
        return ast.Compare(node.left, [_TURNED[type(node.ops[0])]()], node.comparators)
    return None


def _clip(node: ast.AST) -> Optional[ast.AST]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name, owner = node.func.attr, node.func.value
    library = isinstance(owner, ast.Name) and owner.id in ("torch", "F", "np", "tl")
    if name in _CLIPS and (not library or node.args):
        kept = node.args[0] if library else owner
    elif name == "where" and library and len(node.args) == 3:
        kept = node.args[1]
    else:
        return None
    return ast.Call(ast.Name("abs", ast.Load()), [kept], [])


def _residual(node: ast.AST) -> Optional[ast.AST]:
    if isinstance(node, ast.Constant) and node.value == " - ":
        return ast.Constant(" + 0 * ")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return node.left
    return None


def _row(node: ast.AST) -> Optional[ast.AST]:
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for at, part in enumerate(index):
        if not isinstance(part, (ast.Slice, ast.Tuple)) and not (
                isinstance(part, ast.Constant) and not isinstance(part.value, int)):
            moved = list(index)
            moved[at] = ast.BinOp(part, ast.Sub(), ast.Constant(1))
            whole = ast.Tuple(moved, ast.Load()) if len(moved) > 1 else moved[0]
            return ast.Subscript(node.value, whole, node.ctx)
    return None


def _kept(node: ast.AST) -> Optional[ast.AST]:
    zero = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) \
        and node.value.value in (0, 0.0) and isinstance(node.targets[0], ast.Subscript)
    return ast.Pass() if zero else None


BREAKS: Dict[str, Callable[[ast.AST], Optional[ast.AST]]] = {
    "ratio inverted": _ratio,  # a / b becomes b / a, in C++ a * b
    "test reversed": _test,  # < becomes >
    "residual not clipped": _clip,  # max(x, 0) becomes |x|
    "residual is the target": _residual,  # a - b becomes a
    "row before": _row,  # x[i] becomes x[i - 1]
    "rejected draft kept": _kept,  # x[i] = 0 is left out
}


class _Breaker(ast.NodeTransformer):
    """Breaks one place, and keeps the text of all of them."""

    def __init__(self, name: str, place: int):
        self.change, self.place = BREAKS[name], place
        self.texts: List[str] = []

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            node.annotation = ast.Constant(None)  # An annotation is never run, so it is no place.
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        changed = self.change(node)
        if changed is not None:
            self.texts.append(ast.unparse(node))
            if len(self.texts) == self.place + 1:
                return ast.copy_location(changed, node)
        return self.generic_visit(node)


def broken(definitions: List[Any], name: str, place: int) -> List[Any]:
    """A copy with that place broken; a DataError where there are fewer names those there are."""
    if name not in BREAKS:
        raise DataError(f"'{name}' is no break; there are {', '.join(BREAKS)}")
    breaker = _Breaker(name, place)
    made = [breaker.visit(copy.deepcopy(definition)) for definition in definitions]
    if len(breaker.texts) <= place:
        listed = "".join(f"\n  {number}  {text}" for number, text in enumerate(breaker.texts))
        raise DataError(f"'{name}' has no place {place}; it has {len(breaker.texts)}{listed}")
    return made


def every_control(definitions: List[Any]) -> List[Tuple[str, int]]:
    """All controls that can be made of these definitions."""
    found = []
    for name in BREAKS:
        breaker = _Breaker(name, -2)
        for definition in definitions:
            breaker.visit(copy.deepcopy(definition))
        found += [(name, place) for place in range(len(breaker.texts))]
    return found


def _size(toy: Toy) -> Tuple[int, int, int]:
    """The calls and the outcomes of a toy; of two that are alike the one comes first that is a
    later request of its batch, since there an offset can be wrong, too."""
    return toy.steps, toy.vocabulary ** (toy.drafts + 1), -toy.row


def verdict_of(row, definitions: List[Any], control: Tuple[str, int], hang: float = 5.0) -> str:
    """The worst verdict on the broken sampler, which ends at the first bias.

    Small laws come first. Each is walked in a share of the time that is left, and drawn from where
    that does not suffice.
    """
    try:
        sampler = sampler_of(row.sampler(broken(definitions, *control)))
    except (SyntaxError, ValueError) as error:
        return f"cannot be built: {error}"
    until = time.thread_time() + _SECONDS
    worst = "exact"
    with scripted(*sampler.holders()), Heart(hang):
        for toy in sorted(toys_of(sampler, "quick", seed=1), key=_size):
            share = (until - time.thread_time()) / _SHARES
            if share < 0.02:
                return worst if worst != "exact" else "not shown"
            try:
                found = examine(sampler, toy, _RUNS, share)
            except TooLarge:
                found = draw(sampler, toy, Plan(0.05, share, seed=1))
            if found.verdict == "biased":
                return "biased"
            if found.verdict != "exact" and worst == "exact":
                worst = found.verdict
    return worst
