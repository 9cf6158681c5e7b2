"""draftlab as a model of lm-evaluation-harness: likelihoods are those of the toy's table, texts are
the decoder's, and what cannot be answered is refused by name."""

import math
import re
import subprocess
import sys
from pathlib import Path

import lm_eval_interface
import numpy as np
import pytest
from conftest import ROOT
from lm_eval_interface import Instance

import draftlab as dl
from draftlab.harness import tokens
from draftlab.recheck.models.context import Context
from draftlab.recheck.models.table import Table
from draftlab.recheck.record import Settings

lm_eval_interface.install()
import draftlab.harness.model  # noqa: E402, F401

TOY = """
model = table
task = positions
frontier = left-to-right
drafter = self
[model.table]
kind = {kind}
vocabulary = 4
length = 6
[task.positions]
length = 6
prompt = 0:1
[decode]
draft_length = 3
temperature = 0.7
"""
STORIES = """
model = autoregressive
frontier = left-to-right
drafter = ngram
task = positions
[task.positions]
length = 8
prompt = 0:1
[model.autoregressive]
checkpoint = {root}/data/checkpoints/stories-ar
"""


def toy(program, kind="joint", more="", args=""):
    path = program.write("a.ini", TOY.format(kind=kind) + more)
    return lm_eval_interface.MODELS["draftlab"].create_from_arg_string(
        f"config={path},canvas=6{args}")


def table(kind):
    return Table(Settings(TOY.format(kind=kind), 4), "model")


def joint_law():
    weights = table("joint").joint
    return weights / weights.sum()


def asked(kind, *args):
    return [Instance(kind, each) for each in args]


def ids(text):
    return tuple(map(int, text.split()))


PAIRS = [("1", " 2 0"), ("1", " 0 3 2"), ("3 0", " 1"), ("2 1 0", " 3 3 1"), ("1", " 2 0")]


def test_likelihoods_are_those_of_the_joint_law(program):
    joint = joint_law()
    found = toy(program).loglikelihood(asked("loglikelihood", *PAIRS))
    for (context, continuation), (total, _greedy) in zip(PAIRS, found):
        both = ids(context) + ids(continuation)
        exact = math.log(joint[both].sum() / joint[ids(context)].sum())
        assert total == pytest.approx(exact, abs=1e-6)


def test_likelihoods_follow_the_order_and_know_what_is_greedy(program):
    law = table("ordered")
    pairs = [("1", f" {a} {b}") for a in range(4) for b in range(4)]
    found = toy(program, "ordered").loglikelihood(asked("loglikelihood", *pairs))
    greedy = []
    for (context, continuation), (total, is_greedy) in zip(pairs, found):
        given, path, exact, best = ((0, int(context)),), (), 0.0, True
        for position, token in enumerate(ids(continuation), 1):
            row = law.law(Context(given, (), path, 6, True, (0, 0)), position)
            exact += math.log(row[token])
            best &= bool(row.argmax() == token)
            path += ((position, token),)
        assert total == pytest.approx(exact, abs=1e-6)
        assert is_greedy is best
        greedy.append(is_greedy)
    assert sum(greedy) == 1


def test_documents_have_the_likelihood_of_all_their_tokens(program):
    joint = joint_law()
    model = toy(program)
    texts = ["1 2 0 3", "0", "2 2 1 0 3 1"]
    rolling = model.loglikelihood_rolling(asked("loglikelihood_rolling", *((t,) for t in texts)))
    assert rolling == pytest.approx([math.log(joint[ids(t)].sum()) for t in texts], abs=1e-6)
    whole = model.loglikelihood(asked("loglikelihood", *(("", t) for t in texts)))
    assert rolling == pytest.approx([total for total, _ in whole])


def test_a_long_document_is_scored_in_windows(program):
    joint = joint_law()
    text = "1 2 0 3 1 1"
    found = toy(program, args=",max_length=3").loglikelihood_rolling(
        asked("loglikelihood_rolling", (text,)))

    def given(before, after):
        return math.log(joint[before + after].sum() / joint[before].sum())

    exact = given((), (1, 2, 0)) + given((0,), (3, 1)) + given((3, 1), (1,))
    assert found == pytest.approx([exact], abs=1e-6)


@pytest.mark.parametrize("first", [[], [99]])
@pytest.mark.parametrize("size, longest", [(0, 4), (3, 4), (4, 4), (9, 4), (11, 2), (7, 0)])
def test_windows_hold_every_token_once(first, size, longest):
    made = tokens.windows(first, list(range(size)), longest)
    assert [token for part in made for token in part.continuation] == list(range(size))
    whole = first + list(range(size))
    for part in made:
        end = whole.index(part.continuation[-1]) + 1
        both = part.context + part.continuation
        assert both == whole[end - len(both):end] and (longest == 0 or len(both) <= longest)
        assert part.context or not first and part is made[0]
    if longest and len(whole) > longest:
        assert len(made[-1].context + made[-1].continuation) == longest


def test_blanks_go_with_the_word_behind_them():
    assert tokens.texts_of("one ", "two") == ("one", "one two")
    assert tokens.texts_of("one", " two") == ("one", "one two")
    assert tokens.cut(tokens.Scored([1, 2, 3], [4]), 3) == tokens.Scored([2, 3], [4])


def test_texts_are_the_decoders(program):
    """Greedy decoding gives the text that is greedy; other temperatures give the run's."""
    model = toy(program)
    greedy, = model.generate_until(asked("generate_until", ("1 3 0", {"do_sample": False,
                                                                      "max_gen_toks": 3})))
    assert len(ids(greedy)) == 3
    (_, is_greedy), = model.loglikelihood(asked("loglikelihood", ("1 3 0", " " + greedy)))
    assert is_greedy
    cut, = model.generate_until(asked("generate_until", (
        "1 3 0", {"until": [greedy.split(" ", 1)[1]], "max_gen_toks": 3, "temperature": 0})))
    assert cut == greedy.split(" ", 1)[0] + " "
    many = [("1", {"max_gen_toks": 5, "temperature": t}) for t in (0.7, 1.5)] * 20
    drawn = model.generate_until(asked("generate_until", *many))
    assert len(set(drawn[::2])) > 5 and len(set(drawn[1::2])) > 5
    mine = model.generate_until(asked("generate_until", *[("1", {"max_gen_toks": 5})] * 20))
    assert mine == drawn[::2], "the config's own temperature"


def test_a_checkpoint_reads_and_writes_text(program):
    path = program.write("s.ini", STORIES.format(root=ROOT))
    model = lm_eval_interface.MODELS["draftlab"].create_from_arg_string(
        f"config={path}", {"batch_size": 4, "device": None})
    start = "Once upon a time, there was a"
    found = model.generate_until(asked(
        "generate_until", (start, {"until": ["."], "max_gen_toks": 24, "do_sample": False}),
        (start, {"until": "zebra", "max_gen_toks": 4, "do_sample": False})))
    assert len(found[0]) > 10 and "." not in found[0] and found[0].startswith(found[1])
    (long, is_greedy), (first, _), (rest, _), (likely, is_likely) = model.loglikelihood(asked(
        "loglikelihood", (start, " girl named Lily"), (start, " girl"),
        (start + " girl", " named Lily"), (start, " " + found[1])))
    assert long == pytest.approx(first + rest, abs=1e-4)
    assert long < likely < 0 and is_likely and not is_greedy
    rolling, = model.loglikelihood_rolling(asked("loglikelihood_rolling", (start,)))
    (whole, _), = model.loglikelihood(asked("loglikelihood", ("", start)))
    assert rolling == whole < 0


@pytest.mark.parametrize("given, name", [
    ({"num_beams": 4}, "a request sets 'num_beams'"),
    ({"max_gen_toks": 0}, "max_gen_toks = 0"),
    ({"temperature": -1}, "decode.temperature"),
])
def test_what_a_request_may_not_set_is_named(program, given, name):
    model = toy(program)
    with pytest.raises((dl.ConfigError, dl.DraftlabError), match=re.escape(name)):
        model.generate_until(asked("generate_until", ("1", given)))


@pytest.mark.parametrize("args, name", [
    (",colour=red", "model_args has 'colour'"),
    (",batch_size=auto", "batch_size = auto"),
    (",decode.draft_lenth=2", "did you mean"),
])
def test_what_an_argument_may_not_be_is_named(program, args, name):
    with pytest.raises((dl.ConfigError, dl.DraftlabError), match=re.escape(name)):
        toy(program, args=args)


def test_one_cell_is_evaluated(program):
    several = "[arm.one]\ndecode.draft_length = 1\n[arm.two]\ndecode.draft_length = 2\n"
    several += "[sweep]\narm = one, two\n"
    with pytest.raises(dl.ConfigError, match="has 2 cells"):
        toy(program, more=several)
    one = toy(program, more=several, args=",arm=two")
    assert np.isfinite(one.loglikelihood(asked("loglikelihood", ("1", " 2")))[0][0])


def test_a_model_without_text_is_asked_in_ids(program):
    with pytest.raises(dl.DraftlabError, match="token ids with blanks between"):
        toy(program).loglikelihood(asked("loglikelihood", ("1", "two")))
    with pytest.raises(dl.DraftlabError, match="adds no token"):
        toy(program).loglikelihood(asked("loglikelihood", ("1", "")))


def test_the_command_knows_the_model(program):
    here = str(Path(__file__).parent)
    start = f"import sys, runpy; sys.path[:0] = [{here!r}, {str(ROOT / 'python')!r}]\n"
    run = "runpy.run_module('draftlab.harness', run_name='__main__')"
    with_it = f"{start}import lm_eval_interface; lm_eval_interface.install()\n{run}"
    done = subprocess.run([sys.executable, "-c", with_it], capture_output=True, text=True)
    assert done.stdout.split() == ["draftlab"], done.stderr
    done = subprocess.run([sys.executable, "-c", start + run], capture_output=True, text=True)
    assert done.returncode == 69 and "'lm_eval' is not installed" in done.stderr
