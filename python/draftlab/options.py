"""Options of a part: a default, a range and a help text, declared once in the class."""

from typing import Any, Dict, List, Optional, Sequence

# The names of types as `draftlab describe` shows them.
_NAMES = {bool: "bool", int: "int", float: "float", str: "text"}


class Option:
    """A declared option: read by `draftlab`, and an attribute of every instance."""

    def __init__(
        self,
        default: Any,
        low: Optional[float],
        high: Optional[float],
        choices: Sequence[str],
        help: str,
    ) -> None:
        self.default, self.low, self.high = default, low, high
        self.choices, self.help = list(choices), help
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        wanted = owner.__dict__.get("__annotations__", {}).get(name)
        if wanted in (float, "float") and isinstance(self.default, int):
            self.default = float(self.default)

    def type(self) -> str:
        if isinstance(self.default, (list, tuple)):
            integers = all(type(item) is int for item in self.default)
            return "list of int" if integers and self.default else "list of float"
        if type(self.default) not in _NAMES:
            raise TypeError(
                f"option '{self.name}' has a default of type {type(self.default).__name__}; "
                "bool, int, float, str and lists of numbers can be options"
            )
        return _NAMES[type(self.default)]

    def check(self, value: Any) -> None:
        """Refuses a value outside of the range in one sentence."""
        kind = self.type()
        numbers = value if isinstance(value, (list, tuple)) else [value]
        for number in numbers if kind not in ("bool", "text") else ():
            below = self.low is not None and not number >= self.low
            above = self.high is not None and not number <= self.high
            if below or above:
                low = "-inf" if self.low is None else self.low
                high = "inf" if self.high is None else self.high
                raise ValueError(f"option {self.name} = {number} is not in [{low}, {high}]")
        if self.choices and value not in self.choices:
            raise ValueError(f"option {self.name} = {value} is none of {', '.join(self.choices)}")
        if not self.help:
            raise ValueError(f"option {self.name} has no help text")

    def announced(self) -> Dict[str, Any]:
        value = list(self.default) if isinstance(self.default, tuple) else self.default
        return {
            "name": self.name,
            "type": self.type(),
            "value": value,
            "low": self.low,
            "high": self.high,
            "choices": self.choices,
            "help": self.help,
        }


def option(
    default: Any,
    *,
    low: Optional[float] = None,
    high: Optional[float] = None,
    choices: Sequence[str] = (),
    help: str,
) -> Any:
    """Declares an option of a part.

        span: int = dl.option(2, low=1, high=4096, help="Shortest span worth verifying, in tokens.")

    The type is the default's: bool, int, float, str, or a list of numbers. `low` and `high` bound
    numbers, both inclusive; `choices` lists the words that a text may be.
    """
    return Option(default, low, high, choices, help)


def options_of(cls: type) -> List[Option]:
    """Returns the options of a class, those of its bases first, in order of declaration."""
    found: Dict[str, Option] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Option):
                found[name] = value
    return list(found.values())


def assign(instance: Any, values: Dict[str, Any]) -> None:
    """Sets every option of an instance: what `values` names, and defaults for the rest."""
    declared = options_of(type(instance))
    unknown = sorted(set(values) - {each.name for each in declared})
    if unknown:
        raise TypeError(f"{type(instance).__name__} has no option '{unknown[0]}'")
    for each in declared:
        value = values.get(each.name, each.default)
        each.check(value)
        setattr(instance, each.name, value)


_SENT: Dict[str, Any] = {"bool": bool, "int": int, "float": (int, float), "text": str}


def check_distant(cls: type, values: Dict[str, Any]) -> None:
    """Refuses options that a client on another machine may not set: a text may name a file of this
    one, and a value of another type may hide one."""
    for each in options_of(cls):
        value, kind = values.get(each.name, each.default), each.type()
        if kind == "text" and not each.choices and value != each.default:
            raise ValueError(
                f"option {each.name} = {value!r:.80} is a text, which may name a file; over TCP "
                "the server alone sets it, with --set"
            )
        numbers = value if kind.startswith("list of ") and isinstance(value, list) else [value]
        if not all(isinstance(number, _SENT.get(kind, (int, float))) for number in numbers):
            raise ValueError(f"option {each.name} = {value!r:.80} is no {kind}")


def preset(cls: type, name: str, text: str) -> None:
    """Gives an option of a class another default, written as on a command line."""
    found = next((each for each in options_of(cls) if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in options_of(cls)) or "none"
        raise ValueError(f"{cls.__name__} has no option '{name}'; it has {known}")
    made = Option(_read(found, text), found.low, found.high, found.choices, found.help)
    made.name = name
    made.check(made.default)
    setattr(cls, name, made)


def _read(option: Option, text: str) -> Any:
    kind = option.type()
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text]
        if kind.startswith("list of "):
            number = int if kind == "list of int" else float
            return [number(word) for word in text.split(",") if word.strip()]
        return {"int": int, "float": float, "text": str}[kind](text)
    except (KeyError, ValueError):
        raise ValueError(f"option {option.name} = {text} is no {kind}") from None
