"""The decoding loop of DiffusionGemma, written again in numpy from its description: an own law of
the toy, own random numbers, and every canvas and every text that the program decoded, token by
token."""

import h5py
import numpy as np
import pytest

from draftlab.recheck import recheck
from draftlab.recheck.models.context import Context
from draftlab.recheck.models.noisy_table import NoisyTable
from draftlab.recheck.random_numbers import uniform
from draftlab.recheck.record import Record

DRAFT, CANVAS = 0, 12  # Purposes of random numbers.

CONFIG = """
model = noisy-table
task = positions
frontier = blocks
drafter = denoise
router = never
unmasker = renoise
[model.noisy-table]
vocabulary = 4
length = 5
concentration = {concentration}
level = {level}
[task.positions]
length = 5
prompt = {prompt}
[decode]
steps = {steps}
temperature = {hot}
temperature_last = {cold}
reads = drawn
[unmasker.renoise]
bound = {bound}
entropy = {entropy}
stable = {stable}
fill = {fill}
[run]
samples = 40
seed = 5
"""

PUBLISHED = {"hot": 0.8, "cold": 0.4, "bound": 0.1, "entropy": 0.005, "stable": 1,
             "fill": "likeliest", "steps": 12, "level": 0.5, "prompt": "1:2",
             "concentration": 0.7}
VARIANTS = {
    "published": {},
    "ends early": {"concentration": 0.05, "level": 0.3},
    "accepts more": {"bound": 1.5, "entropy": 0.3, "prompt": ""},
    "two steps alike": {"stable": 2, "entropy": 0.5},
    "as many steps as positions": {"steps": 0, "entropy": 0},
    "appends draws": {"fill": "drawn", "entropy": 0.4},
}


class Loop:
    """What the description says: one canvas of random ids, and rounds over all of it."""

    def __init__(self, options, laws, draws, noise):
        self.options, self.laws, self.draws, self.noise = options, laws, draws, noise
        self.canvases = []  # Before each forward.

    def decode(self):
        o = self.options
        canvas, history = self.noise(0), []
        for left in range(o["steps"], 0, -1):
            made = o["steps"] - left
            self.canvases.append(canvas)
            temperature = o["cold"] + (o["hot"] - o["cold"]) * left / o["steps"]
            laws = self.laws(canvas) ** (1 / temperature)
            laws /= laws.sum(axis=1, keepdims=True)
            drawn = self.draws(laws, made)
            entropy = -np.where(laws > 0, laws * np.log(np.maximum(laws, 1e-300)), 0).sum(axis=1)
            ranked = np.argsort(entropy, kind="stable")
            sums = np.cumsum(entropy[ranked])
            accepted = np.zeros(len(canvas), dtype=bool)
            accepted[ranked[sums - entropy[ranked] <= o["bound"]]] = True
            best = laws.argmax(axis=1)
            stable = (o["stable"] == 0 or len(history) >= o["stable"] and
                      all((past == best).all() for past in history[-o["stable"]:]))
            if stable and entropy.mean() < o["entropy"]:
                break
            history.append(best)
            canvas = np.where(accepted, drawn, self.noise(made + 1))
        return best if o["fill"] == "likeliest" else drawn


def loop_of(sample, given, options):
    """The loop on the addresses of a sample's random numbers, over the positions not given."""
    known = dict(given)
    model = NoisyTable(sample.settings, "model")
    places = [place for place in range(5) if place not in known]
    options = {**options, "steps": options["steps"] or 5}

    def numbers(purpose, step):
        return [uniform(5, sample.sequence, place, purpose, step) for place in places]

    def laws(canvas):
        context = Context(given, (), (), 5, False, shown=tuple(zip(places, canvas.tolist())))
        return np.array([model.law(context, place) for place in places])

    def draws(laws, step):
        return (np.cumsum(laws, axis=1) <= np.array(numbers(DRAFT, step))[:, None]).sum(axis=1)

    def noise(step):
        return np.floor(4 * np.array(numbers(CANVAS, step))).astype(int)

    return Loop(options, laws, draws, noise)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_canvas_and_every_text_are_those_of_the_description(program, variant):
    options = {**PUBLISHED, **VARIANTS[variant]}
    path = f"{program.folder}/a.h5"
    program.ok("run", program.write("a.ini", CONFIG.format(**options)), "--trace.drafts", "all",
               "--out", path)
    record = Record(path)
    lengths, kept, lost = [], 0, 0
    for sample in record:
        loop = loop_of(sample, record.given(sample), options)
        text = loop.decode()
        assert len(sample.steps) == len(loop.canvases)
        for number, (step, canvas) in enumerate(zip(sample.steps, loop.canvases)):
            assert step.drafts["shown"].tolist() == canvas.tolist(), (variant, number)
            assert len(step.tokens["id"]) == (len(canvas) if step is sample.steps[-1] else 0)
            if number > 1:  # Accepted in the step before last, and noise now or kept.
                kept += int((canvas == loop.canvases[number - 1]).sum())
                lost += int((canvas != loop.canvases[number - 1]).sum())
        last = sample.steps[-1].tokens
        assert last["id"][np.argsort(last["position"])].tolist() == text.tolist()
        lengths.append(len(sample.steps))
    assert len(lengths) == 40
    limit = options["steps"] or 5
    assert max(lengths) <= limit
    if options["entropy"] == 0:
        assert set(lengths) == {limit}
    if variant == "ends early":
        assert min(lengths) < limit
    assert lost > 0 and kept > 0


def test_a_second_program_finds_the_laws_of_a_random_canvas(program):
    path = f"{program.folder}/a.h5"
    program.ok("run", program.write("a.ini", CONFIG.format(**PUBLISHED)), "--trace.drafts", "all",
               "--out", path)
    found = recheck(path, model=True)
    assert found.differ == 0, "\n".join(found.lines())
    assert found.counts["probabilities of the drafter"].agree > 100
    with h5py.File(path, "r+") as trace:  # Another canvas has other laws.
        shown = trace["draft_shown"]
        shown[...] = (shown[:] + 1) % 4
    assert recheck(path, model=True).differ > 100
