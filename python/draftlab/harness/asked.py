"""The task whose prompts are the requests of a harness, and one run of the program over them."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

from draftlab import commands, options, parts, serving
from draftlab.tasks import Encoded
from draftlab.values import Prompt

# Makes the prompts once the tokens of the texts are known.
Make = Callable[[Encoded], List[Prompt]]


@dataclass
class Batch:
    """Texts whose tokens are wanted, and what makes prompts of them."""

    texts: Sequence[str]
    make: Make


# The batches of this process that are being decoded, by their number.
_BATCHES: Dict[int, Batch] = {}


@parts.task("asked-by-a-harness")
class Asked:
    """The requests of an evaluation harness."""

    batch: int = options.option(0, low=0, high=1 << 40, help="The number of the batch.")

    def __init__(self) -> None:
        self.of = _BATCHES[self.batch]
        self.texts = self.of.texts
        self.prompts: List[Prompt] = []
        self.has_text = False

    def __len__(self) -> int:
        return len(self.prompts)

    def encoded(self, said: Encoded) -> None:
        self.has_text = said.tokens is not None
        self.prompts = self.of.make(said)

    def prompt(self, index: int) -> Prompt:
        return self.prompts[index]

    def text(self, decoded: Any) -> str:
        """What was generated, up to the end of the text; ids where the model has no text."""
        if self.has_text:
            return str(decoded.text)
        tokens, order = decoded.canvas.tokens, sorted(decoded.canvas.order)
        return " ".join(str(tokens[position]) for position in order if tokens[position] >= 0)


def decode(config: str, settings: Sequence[Tuple[str, Any]], batch: Batch) -> Dict[str, Any]:
    """Runs the program over a batch and returns columns of its trace, by their names: those of
    samples are in the order of the prompts."""
    from draftlab.trace import Trace

    number = max(_BATCHES, default=0) + 1
    _BATCHES[number] = batch
    try:
        with serving.Temporary() as served, tempfile.TemporaryDirectory(prefix="draftlab-") as here:
            out = str(Path(here) / "a.h5")
            words = ["run", config, "--plugin", served.address, "--out", out]
            for key, value in [*settings, ("task", "asked-by-a-harness"),
                               ("task.asked-by-a-harness.batch", number), ("run.samples", 1),
                               ("run.limit", 0), ("run.first", 0), ("trace.drafts", "all"),
                               ("trace.top_k", 1)]:
                words += [f"--{key}", commands.text_of(value)]
            commands.call(words, show=False)
            trace = Trace(out)
            wanted = ("sample_text", "sample_first_step", "sample_n_steps", "step_first_draft",
                      "step_n_drafts", "draft_p", "draft_id", "draft_top_id1")
            found = {name: trace[name] for name in wanted if name in trace.file}
            trace.file.close()
            return found
    finally:
        del _BATCHES[number]
