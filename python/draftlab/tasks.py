"""Tasks: what a class hands out as prompts, and how it scores what was decoded."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence

from draftlab import instances, steps, values


def load(part: Any) -> Any:
    """Reads the data: how many prompts there are, the digest of what was read, and the texts whose
    tokens the method `encoded` wants to know."""
    if callable(getattr(part, "load", None)):
        part.load()
    # Where `encoded` makes the prompts, they are counted after it.
    size = 0 if callable(getattr(part, "encoded", None)) else _size(part)
    return [size, str(getattr(part, "digest", "")), [str(t) for t in getattr(part, "texts", ())]]


def _size(part: Any) -> int:
    return int(len(part) if hasattr(part, "__len__") else part.size)


@dataclass
class Encoded:
    """What the model's tokenizer says: the `tokens` of each of the task's `texts`; `begin` (-1: a
    text begins with nothing), `separator` and `ends`, the tokens that end a text. The `tokens` of a
    model without text are None."""

    tokens: Optional[List[List[int]]] = None
    begin: int = -1
    separator: int = -1
    ends: Sequence[int] = ()


def _encoded(part: Any, header: Dict[str, Any], arrays: Any) -> Any:
    part.encoded(Encoded(**{name: header[name] for name in vars(Encoded()) if name in header}))
    return _size(part)


def _prompt(part: Any, header: Dict[str, Any], arrays: Any) -> Any:
    given = part.prompt(header["index"])
    if not isinstance(given, values.Prompt):
        raise instances.wrong("prompt", given, "it returns a Prompt")
    return given.packed()


class Decoded:
    """What was decoded: `prompt` (its id), `canvas`, `text` (of the generated tokens)."""

    def __init__(self, header: Dict[str, Any], arrays: Any) -> None:
        self.prompt, self.text = header["prompt"], header["generated"]
        self.canvas = steps.canvas_of(header, arrays)


def _score(part: Any, header: Dict[str, Any], arrays: Any) -> Any:
    scores = part.score(Decoded(header, arrays))
    if not isinstance(scores, dict):
        raise instances.wrong("score", scores, "it returns a dict of names and numbers")
    return [[str(name), float(value)] for name, value in scores.items()]


def _text(part: Any, header: Dict[str, Any], arrays: Any) -> Any:
    return str(part.text(Decoded(header, arrays)))


CALLS = {"encoded": _encoded, "prompt": _prompt, "score": _score, "text": _text}
