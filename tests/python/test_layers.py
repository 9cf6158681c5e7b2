"""Layers are counted by the model that goes through them: a user's own drafter that asks the first
layers is counted as the built-in one is."""

from conftest import ROOT

from draftlab import Trace

DRAFTER = """
import draftlab as dl


@dl.drafter("first-layers")
class FirstLayers:
    \"\"\"The target's first layers draft one token.\"\"\"

    asks = ["shallow"]

    def propose(self, step):
        positions = step.window[:1]
        answer = yield step.ask(positions, shallow=True)
        drawn = [law.drawn() for law in answer]
        tokens = yield step.draw(drawn, positions)
        return dl.Proposal.path(tokens, drawn_from=drawn, raw=answer)
"""


def test_a_drafter_of_ones_own_is_counted_by_the_layers_it_asks(program):
    (program.folder / "data").symlink_to(ROOT / "data")  # The config's checkpoints are there.
    program.write("mine.py", DRAFTER)
    layers = []
    for words in (["--drafter", "shallow"], ["--drafter", "first-layers", "--plugin", "mine.py"]):
        program.ok("run", ROOT / "configs/baselines/early-exit.ini", "--arm", "trained-exit",
                   "--sweep.baseline", "", "--model.autoregressive.exit_layers", 2, "--limit", 3,
                   "--decode.draft_length", 1, "--out", f"{words[1]}.h5", *words,
                   timeout=300)  # fmt: skip
        trace = Trace(str(program.folder / f"{words[1]}.h5"))
        prefill, shallow = trace["sample_nfe_prefill"], trace["sample_nfe_draft"]
        nfe = prefill + shallow + trace["sample_nfe_verify"]
        assert (shallow > 0).all()
        # Three layers in all, two of them for a draft; the prompt's forward belongs to no step.
        assert (trace["sample_layers"] == 3 * nfe - shallow).all()
        assert trace["step_layers"].sum() == trace["sample_layers"].sum() - 3 * prefill.sum()
        layers.append(trace["sample_layers"].tolist())
    assert layers[0] == layers[1]
