"""Commands from Python, as a notebook calls them: classes and instances for names of parts."""

import importlib
import os
import sys

import pytest
from conftest import BLOCKS, ORDERED, ROOT

import draftlab as dl

sys.path.insert(0, str(ROOT / "examples/python"))
from learning import LearnedGain, TwoRounds  # noqa: E402

FILE = ROOT / "examples/python/learning.py"


@dl.router("as-in-a-notebook")
class Notebook:
    span: int = dl.option(1, low=0, high=9, help="Shortest span that is verified.")

    def decide(self, step):
        return step.span.length >= self.span


Notebook.__module__ = "__main__"  # where a notebook's classes are


def test_a_class_of_a_notebook_decides_as_its_instance_says(program):
    path = program.write("a.ini", BLOCKS)
    made = [
        dl.run(path, router=Notebook(span=span), out=program.folder / f"{span}.h5", show=False)
        for span in (1, 9)
    ]
    assert all(trace["step_verified"].mean() == share for trace, share in zip(made, (1, 0)))


def test_a_sweep_has_the_class_of_a_file_and_its_options(program):
    path = program.write("a.ini", ORDERED + "[sweep]\ndecode.temperature = 0.7, 1\n")
    swept = dl.sweep(
        path, drafter=TwoRounds(first=1, second=3), router=LearnedGain, jobs=2,
        out=program.folder / "s", show=False, options={"run.samples": 5},
        plugin=os.path.relpath(FILE),  # the file of the classes, by another path
    )  # fmt: skip
    configs = swept.configs()
    assert set(configs["drafter.two-rounds.second"]) == {"3"} and len(configs) == 2
    assert (swept.samples().nfe_draft > swept.samples().nfe_verify).all()


def test_what_a_sweep_cannot_load_is_said_in_words_of_a_notebook(program):
    path = program.write("a.ini", BLOCKS)
    with pytest.raises(TypeError, match="from files; write Notebook into one and import it"):
        dl.sweep(path, router=Notebook, out=program.folder / "s", show=False)
    assert not (program.folder / "s").exists()


def test_a_command_that_fails_raises_its_sentence_and_status(program):
    path = program.write("a.ini", ORDERED)
    assert "1 cell" in dl.check(path, options={"decode.draft_length": 4})
    with pytest.raises(dl.DraftlabError, match="did you mean") as raised:
        dl.check(path, options={"decode.draft_lenth": 4})
    assert raised.value.status == 78
    with pytest.raises(TypeError, match="config keys stand in options="):
        dl.run(path, draft_length=4)
    with pytest.raises(TypeError, match="is no class that @draftlab.router decorates"):
        dl.run(path, router=TwoRounds)


def test_describe_and_certify_know_the_parts_of_a_file(program):
    assert "rate = 0.2" in dl.describe("router.learned-gain", plugin=FILE)
    config = ROOT / "configs/certify/assd/assd-self-k3.ini"
    free = {"certify.worst_nfe": 0}  # a step that asks twice costs more forwards than is claimed
    for words in (dict(router=LearnedGain(worth=2.2)), dict(drafter=TwoRounds, options=free)):
        found = dl.certify(config, **words)
        assert found.holds and found.tv < 1e-12, str(found)
    assert not dl.certify(config, drafter=TwoRounds).holds


@pytest.mark.parametrize("name", ["audit", "census", "recheck"])
def test_the_program_takes_every_flag_that_its_python_part_knows(program, name):
    parser = importlib.import_module(f"draftlab.{name}.command")._parser()
    said = program.ok(name, "--help")
    known = [flag for action in parser._actions for flag in action.option_strings]
    assert len(known) > 2
    assert [flag for flag in known if flag.startswith("--") and f"  {flag} " not in said] == []
