"""With --model: every probability that a trace has of a model, asked again of a second program.

A step's state is what was given and what was committed before it. A draft's own law is that of the
drafter in this state, and the target's is that of the state with the drafts before it."""

from typing import Dict, List, Optional, Tuple

import numpy as np

from draftlab.recheck.agreement import Agreement, close
from draftlab.recheck.models import Model, model_of
from draftlab.recheck.models.context import Context
from draftlab.recheck.record import Record, Sample, Settings, Step

# These judge the drafts of a path, each given those before it.
_CAUSAL = ("chain", "k-seq", "own-draw", "block")
_BIDIRECTIONAL = ("tree",)
# Drafters that ask the target about the committed state, and whether causally.
_DRAFTERS = {"self": True, "denoise": False}
_ROUNDED = 2.0 ** -11  # Columns of 12 bits.


def shaped(law: np.ndarray, temperature: float, top_k: int, top_p: float) -> np.ndarray:
    """What is drawn from: temperature, then the k best, then the best whose mass reaches top_p."""
    if temperature == 0:
        return (np.arange(len(law)) == int(np.argmax(law))).astype(float)
    with np.errstate(divide="ignore"):
        weights = np.exp((np.log(law) - np.log(law.max())) / temperature)
    order = np.argsort(-weights, kind="stable")
    kept = len(order) if top_k == 0 else min(top_k, len(order))
    if top_p < 1:
        mass = np.cumsum(weights[order[:kept]])
        kept = int(np.searchsorted(mass, (top_p - 1e-12) * mass[-1])) + 1
    weights[order[kept:]] = 0
    return weights / weights.sum()


class _Laws:
    """The laws of one arm, and how they are compared with what was recorded."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.target, self.why = model_of(settings)
        self.temperature = settings.number("decode.temperature", 1)
        self.drawn_is_read = settings("decode.reads", "raw") == "drawn"
        self.ends_differ = (settings.number("decode.end_penalty", 0) > 0
                            or settings.number("decode.end_confidence", 1) < 1)

    def begin(self, made: int, positions: int) -> None:
        """Sets the temperature of a step that follows `made` others in a block of `positions`."""
        first = self.settings.number("decode.temperature", 1)
        last = self.settings.number("decode.temperature_last", -1)
        steps = int(self.settings.number("decode.steps", 0)) or positions
        left = max(0, steps - made) / steps
        self.temperature = first if last < 0 else last + (first - last) * left

    def shape(self, law: np.ndarray, temperature: Optional[float] = None) -> np.ndarray:
        return shaped(law, self.temperature if temperature is None else temperature,
                      int(self.settings.number("decode.top_k", 0)),
                      self.settings.number("decode.top_p", 1))

    def draft_temperature(self, step: Step, draft: int) -> float:
        own = self.settings.number("drafter.self.temperature", -1)
        hotter = self.settings("drafter") == "self" and own >= 0 and draft >= step.row["exact"]
        return own if hotter else self.temperature

    def room(self, model: Model) -> float:
        """How far a probability may be off: temperatures below 1 enlarge what is rounded."""
        return model.relative / min(max(self.temperature, 1e-3), 1.0)


def _same(found: Agreement, what: str, where: str, recorded: float, computed: float,
          relative: float) -> None:
    found.tell(what, close(recorded, computed, relative=relative, absolute=1e-7),
               f"{where}: {recorded:.7g} is recorded, and {computed:.7g} computed")


def _numbers(law: np.ndarray, token: int) -> Dict[str, float]:
    """What routers and estimators read of a law."""
    best = np.sort(law)[::-1]
    positive = law[law > 0]
    return {"confidence": float(law[token]), "margin": float(best[0] - best[1]),
            "entropy": float(-(positive * np.log(positive)).sum()),
            "renyi2": float((law ** 2).sum())}


def _drafts(laws: _Laws, context: Context, step: Step, found: Agreement) -> None:
    """What the drafter drew from, and what was read of it."""
    drafter, target = laws.settings("drafter"), laws.target
    assert target is not None
    if drafter not in _DRAFTERS:
        found.cannot(f"laws of drafter '{drafter}'", step.drafted)
        return
    asked = Context(context.given, context.committed, (), context.length, _DRAFTERS[drafter],
                    context.blocks, context.shown)
    for draft in range(step.drafted):
        token = int(step.drafts["id"][draft])
        law = target.law(asked, int(step.drafts["position"][draft]))
        if law is None:
            found.cannot(f"laws of drafter '{drafter}' that the second program does not know")
            continue
        drawn = laws.shape(law, laws.draft_temperature(step, draft))
        where = f"{step.where}: draft {draft}"
        _same(found, "probabilities of the drafter", where, float(step.drafts["q"][draft]),
              float(drawn[token]), laws.room(target))
        read = _numbers(drawn if laws.drawn_is_read else law, token)
        for column, number in read.items():
            recorded = float(step.drafts[column][draft])
            found.tell("summaries of drafts' laws",
                       close(recorded, number, relative=_ROUNDED + target.relative, absolute=1e-5),
                       f"{where}: {column} is {recorded:.6g}, and {number:.6g} computed")


def _path(step: Step) -> Optional[List[Tuple[int, int]]]:
    """The drafts as one path, None where some are siblings, whose parents no trace says."""
    if step.drafts["depth"].tolist() != list(range(step.drafted)):
        return None
    return list(zip(step.drafts["position"].tolist(), step.drafts["id"].tolist()))


def _judged(laws: _Laws, context: Context, step: Step, found: Agreement) -> None:
    """The target's probability of each draft that was judged."""
    verifier, target, path = laws.settings("verifier"), laws.target, _path(step)
    assert target is not None
    judged = [draft for draft in range(step.drafted)
              if not np.isnan(step.drafts["p"][draft]) and draft >= step.row["exact"]]
    if not judged:
        return
    known = verifier in _CAUSAL + _BIDIRECTIONAL
    if not known or path is None or laws.settings.true("verifier.chain.all_spans"):
        found.cannot(f"laws of the target in verifier '{verifier}'", len(judged))
        return

    for draft in judged:
        position, token = path[draft]
        asked = Context(context.given, context.committed, tuple(path[:draft]), context.length,
                        verifier in _CAUSAL, context.blocks, context.shown)
        law = target.law(asked, position)
        if law is None:
            found.cannot("laws of the target that the second program does not know")
            continue
        _same(found, "probabilities of the target",
              f"{step.where}: token {token} at position {position}",
              float(step.drafts["p"][draft]), float(laws.shape(law)[token]), laws.room(target))


def _blocks(sample: Sample) -> Tuple[int, int]:
    size = int(sample.settings.number("decode.block_size", 0))
    if sample.settings("frontier") != "blocks" or size == 0:
        return (0, 0)
    to_prompt = sample.settings("decode.align", "absolute") == "prompt"
    return (size, int(sample.row["prompt_tokens"]) % size if to_prompt else 0)


def _shown(step: Step) -> Tuple[Tuple[int, int], ...]:
    if "shown" not in step.drafts:  # Older traces.
        return ()
    pairs = zip(step.drafts["position"].tolist(), step.drafts["shown"].tolist())
    return tuple((position, token) for position, token in pairs if token >= 0)


def check_laws(record: Record, sample: Sample, known: Dict[int, _Laws], found: Agreement) -> None:
    """Asks the arm's model again about every step of a sample."""
    run = int(sample.row["run_index"])
    laws = known.setdefault(run, _Laws(sample.settings))
    if laws.target is None:
        found.cannot(f"samples of arm '{record.arms[run]}', because {laws.why}")
        return
    given = record.given(sample)
    if given is None:
        found.cannot("samples whose prompts the trace does not hold (trace.prompts)")
        return
    if any(step.sources("edited", "taken-back").any() for step in sample.steps):
        found.cannot("samples of which tokens were edited or taken back")
        return
    if laws.ends_differ:
        found.cannot("samples decoded with decode.end_penalty or decode.end_confidence")
        return
    committed: List[Tuple[int, int]] = []
    made, block = 0, -1
    for step in sample.steps:
        context = Context(given, tuple(committed), (), int(sample.row["length"]), False,
                          _blocks(sample), _shown(step))
        made = made + 1 if step.row["block"] == block else 0
        block = int(step.row["block"])
        if step.drafted:
            first, end = context.block(int(step.drafts["position"][0]))
            laws.begin(made, end - first)
        if not step.is_choice and step.drafted:
            _drafts(laws, context, step, found)
            _judged(laws, context, step, found)
        committed += zip(step.tokens["position"].tolist(), step.tokens["id"].tolist())
