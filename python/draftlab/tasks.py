"""Tasks: what a class hands out as prompts, and how it scores what was decoded."""

from typing import Any, Dict

from draftlab import instances, steps, values


def load(part: Any) -> Any:
    """Reads the data: how many prompts there are, and the digest of what was read."""
    if callable(getattr(part, "load", None)):
        part.load()
    size = len(part) if hasattr(part, "__len__") else part.size
    return [int(size), str(getattr(part, "digest", ""))]


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


CALLS = {"prompt": _prompt, "score": _score, "text": _text}
