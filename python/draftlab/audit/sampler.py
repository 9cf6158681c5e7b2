"""What is audited: a function or a class that `dl.sampler` has marked, and how it is called."""

import copy
import functools
import inspect
import types
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

from draftlab.audit.faults import UsageError

_EXTRAS = ("random", "parents", "retrieve_indices", "sampling")
SIBLINGS = ("iid", "without", "top", "greedy")
CUTS = ("target", "draft", "both")  # The laws from which top-k, top-p and min-p cut tokens.
MARK = "_draftlab_sampler"
_LARGEST = 1 << 26  # A larger array (in bytes) is not put back between calls.


@dataclass
class Sampler:
    """A sampler and its contract.

    `subject` is the function, or a class whose instances live as long as a sequence and have
    `verify`, and `draft` where the sampler draws its own drafts.
    """

    name: str
    subject: Any
    drafts: Optional[int] = None
    takes: str = "probabilities"
    tensors: str = "numpy"
    tree: Optional[Tuple[Any, ...]] = None
    siblings: str = "iid"
    rows: Tuple[int, ...] = (0,)
    published: str = ""
    cuts: str = "target"
    raw_greedy: bool = False  # An engine's greedy requests come with the laws of temperature 1.

    def __post_init__(self):
        method = self.subject.verify if self.is_class else self.subject
        names = list(inspect.signature(method).parameters.values())[1 if self.is_class else 0 :]
        self.extras = tuple(name.name for name in names[3:])
        if len(names) == 4 and names[3].name not in _EXTRAS:
            self.extras = ("random",)  # This is the contract's fourth argument under another name.
            self.by_position = True
        else:
            self.by_position = False
            unknown = [p.name for p in names[3:]
                       if p.name not in _EXTRAS and p.default is inspect.Parameter.empty]
            if len(names) < 3 or unknown:
                raise UsageError(
                    f"sampler '{self.name}' takes ({', '.join(p.name for p in names)}), but is "
                    "called with (target, drawn_from, drafts) and, where it names them, "
                    f"{', '.join(_EXTRAS)}")
            self.extras = tuple(name for name in self.extras if name in _EXTRAS)

    @functools.cached_property
    def is_class(self) -> bool:
        return inspect.isclass(self.subject)

    @functools.cached_property
    def asks(self) -> bool:
        """Says whether it asks the audit for its numbers; else they are caught or sampled."""
        return "random" in self.extras

    @functools.cached_property
    def drafts_itself(self) -> bool:
        return self.is_class and hasattr(self.subject, "draft")

    def functions(self) -> List[types.FunctionType]:
        if not self.is_class:
            return [self.subject] if isinstance(self.subject, types.FunctionType) else []
        members = vars(self.subject).values()
        return [member for member in members if isinstance(member, types.FunctionType)]

    def holders(self) -> List[Any]:
        """What leads to everything that the sampler can reach."""
        return [*self.functions(), *([self.subject] if self.is_class else [])]


def sampler(name: str, drafts: Optional[int] = None, *, takes: str = "probabilities",
            tensors: str = "numpy", tree=None, siblings: str = "iid",
            published: str = "", cuts: str = "target") -> Callable:
    """Marks a function, or a class with `verify`, as a sampler to audit.

    drafts: the most drafts it takes (None: any number). takes: "probabilities", or "logits"
    (then raw logits where the function has a parameter `sampling`, processed ones otherwise).
    tensors: "numpy" or "torch". tree: children of a node on each level, such as (2, 1), or of each
    node of a level, such as (2, (2, 0)); siblings: how they are drawn: "iid", "without"
    replacement, "top" (the most probable ones, as point masses), "greedy" (one drawn, the rest the
    most probable). cuts: the laws from which a request's top-k, top-p and min-p cut tokens: that of
    the "target", of the "draft", or "both".
    """
    _one_of(name, "takes", takes, ("probabilities", "logits"))
    _one_of(name, "tensors", tensors, ("numpy", "torch"))
    _one_of(name, "siblings", siblings, SIBLINGS)
    _one_of(name, "cuts", cuts, CUTS)
    if drafts is not None and not (isinstance(drafts, int) and 1 <= drafts <= 16):
        raise UsageError(f"sampler '{name}': drafts = {drafts!r} must be in [1, 16]")
    if tree is not None and not all(map(_is_level, tree)):
        raise UsageError(f"sampler '{name}': tree = {tree!r} must be numbers in [1, 4], or tuples "
                         "with a number in [0, 4] for each node of a level")

    def mark(subject):
        made = Sampler(name, subject, drafts, takes, tensors, tuple(tree) if tree else None,
                       siblings, published=published, cuts=cuts)
        setattr(subject, MARK, made)
        return subject

    return mark


def _is_level(counts) -> bool:
    if isinstance(counts, tuple):
        return sum(counts) > 0 and all(isinstance(n, int) and 0 <= n <= 4 for n in counts)
    return isinstance(counts, int) and 1 <= counts <= 4


def _one_of(name, key, value, allowed):
    if value not in allowed:
        raise UsageError(f"sampler '{name}': {key} = {value!r} must be one of {', '.join(allowed)}")


def sampler_of(subject) -> Sampler:
    """The mark of `subject`; an unmarked function is a sampler of its own name."""
    if isinstance(subject, Sampler):
        return subject
    found = getattr(subject, MARK, None)
    if found is not None:
        return found
    if callable(subject):
        return Sampler(getattr(subject, "__name__", "sampler"), subject)
    raise UsageError(f"{subject!r} is no sampler: pass a function, or a class with verify")


def samplers_of(module) -> List[Sampler]:
    """Returns every marked sampler of a module, in the order in which they were written."""
    found = [getattr(value, MARK) for value in vars(module).values() if hasattr(value, MARK)]
    return list({id(made): made for made in found}.values())


class State:
    """The data that a sampler's functions can see, as it was before anything was called."""

    def __init__(self, made: Sampler):
        self.functions = made.functions()
        self.saved = [self._copies(function) for function in self.functions]
        self.attributes = _plain_data(vars(made.subject)) if made.is_class else {}
        self.subject = made.subject

    def _copies(self, function):
        cells = function.__closure__ or ()
        contents = {i: cell.cell_contents for i, cell in enumerate(cells) if _has(cell)}
        return (_plain_data(function.__globals__), _plain_data(contents),
                copy.deepcopy(function.__defaults__), _plain_data(vars(function)))

    def restore(self) -> None:
        """Puts that data back, so that the next call is the first one again."""
        for function, (names, cells, defaults, own) in zip(self.functions, self.saved):
            function.__globals__.update(copy.deepcopy(names))
            for i, value in copy.deepcopy(cells).items():
                function.__closure__[i].cell_contents = value
            function.__defaults__ = copy.deepcopy(defaults)
            vars(function).update(copy.deepcopy(own))
        for name, value in copy.deepcopy(self.attributes).items():
            setattr(self.subject, name, value)


def _has(cell) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _plain_data(names) -> dict:
    """Returns those of `names` that hold data: numbers, text, containers, arrays and generators."""
    kept = {}
    for name, value in names.items():
        if isinstance(name, str) and name.startswith("__"):
            continue
        if isinstance(value, (types.ModuleType, types.FunctionType, type, property, classmethod,
                              staticmethod, Sampler)) or callable(value):
            continue
        # An array as large as this holds weights, not state.
        if getattr(value, "nbytes", 0) > _LARGEST:
            continue
        try:
            kept[name] = copy.deepcopy(value)
        except Exception:  # What cannot be copied cannot be put back either.
            continue
    return kept
