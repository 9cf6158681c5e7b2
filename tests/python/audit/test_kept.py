"""An audit that ended too early says so at once, and a later one goes on where it ended."""

import json

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit import kept
from draftlab.audit.command import main
from draftlab.audit.run import Only
from parts import inverse, residual

SAMPLER = '''
import numpy as np
import draftlab as dl

@dl.sampler("mine", drafts=1)
def verify(target, drawn_from, drafts, random):
    x = drafts[0]
    if random.uniform() < target[0][x] / drawn_from[0][x]:
        return [x, random.draw(target[1])]
    return [random.draw(np.maximum(target[0] - drawn_from[0], 0))]
'''


@dl.sampler("counted", drafts=1)
def counted(target, drawn_from, drafts, random):
    x = drafts[0]
    if random.uniform() < target[0][x] / drawn_from[0][x]:
        return [x, random.draw(target[1])]
    return [random.draw(residual(target[0], drawn_from[0]))]


@dl.sampler("biased", drafts=1)
def biased(target, drawn_from, drafts, random):
    x = drafts[0]
    if random.below(target[0][x] / drawn_from[0][x]):
        return [x, random.draw(target[1])]
    return [random.draw(target[0])]


@dl.sampler("product", drafts=1)
def product(target, drawn_from, drafts, random):
    if random.uniform() * random.uniform() < 0.3:
        return [random.draw(target[0])]
    return [inverse(target[0], random.uniform())]


def test_what_was_walked_is_not_walked_again():
    told = []
    first = dl.audit(counted, seed=3, seconds=0.05, tell=told.append)
    assert first.verdict == "not shown" and first.unseen
    assert told == [one for one in told if one.startswith("counted: will be not shown at best")]
    assert len(told) == 1 and "--continue FILE" in told[0]
    walked = {kept.place_of(one.toy): one for one in first.findings if kept.settled(one)}
    second = dl.audit(counted, seconds=60, earlier=first)
    assert (second.verdict, second.seed, second.unseen) == ("exact", 3, [])
    again = {kept.place_of(one.toy): one for one in second.findings}
    assert walked and all(again[place] is one for place, one in walked.items())
    assert second.seconds > first.seconds
    assert dl.audit(counted, earlier=first).allowed == pytest.approx(0.1)


def test_a_report_survives_being_kept(tmp_path):
    file, at = tmp_path / "mine.py", str(tmp_path / "kept.json")
    file.write_text(SAMPLER)
    for sampler, only in ((biased, Only()), (product, Only("reversed"))):
        report = dl.audit(sampler, seed=3, seconds=1, only=only)
        kept.write(at, str(file), report)
        again = dl.audit(sampler, earlier=kept.read(at, str(file), report.name), seconds=1e-9,
                         only=only)
        again.seconds, again.allowed = report.seconds, report.allowed
        if sampler is biased:
            assert str(again) == str(report)
            assert again.to_dict() == report.to_dict()
        assert again.findings[0].drawn is None or again.findings[0].drawn.draws > 0
    assert set(json.loads(open(at).read())["files"][str(file)]["samplers"]) == {"biased",
                                                                               "product"}


def test_the_command_goes_on_until_it_is_exact(tmp_path, capsys):
    file, at = tmp_path / "mine.py", str(tmp_path / "kept.json")
    file.write_text(SAMPLER)
    words = [str(file), "--continue", at]
    assert main([*words, "--seconds", "0.05"]) == 2
    printed = capsys.readouterr()
    assert "mine: will be not shown at best" in printed.err and "--continue FILE" in printed.out
    assert main([*words, "--seconds", "60"]) == 0
    assert main([*words, "--seconds", "0.01"]) == 0  # Nothing is left to be done.
    assert main([*words, "--random-seed", "7777"]) == 64
    assert "goes on with no other" in capsys.readouterr().err
    assert main([*words, "--battery", "full"]) == 64
    assert main([*words, "--toy", "reversed"]) == 64
    file.write_text(SAMPLER + "\n")
    capsys.readouterr()
    assert main(words) == 65
    assert "was changed since; remove" in capsys.readouterr().err
    (tmp_path / "kept.json").write_text("{}")
    assert main(words) == 65
    assert "keeps no audit" in capsys.readouterr().err


def test_what_cannot_be_walked_is_said_at_once():
    told = []
    report = dl.audit(product, seed=3, seconds=2, tell=told.append)
    assert report.verdict == "not shown" and len(told) == 1
    assert "cannot be walked" in told[0]
    assert not np.isnan(report.tv)
