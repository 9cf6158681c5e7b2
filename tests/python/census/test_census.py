"""The census on a repository that the test makes: loading, controls, Monte Carlo, the table."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="the census needs torch")

from draftlab.audit.faults import DataError, OutOfTime, UsageError  # noqa: E402
from draftlab.audit.toys import Toy  # noqa: E402
from draftlab.census import Code, Piece, controls, plain, rows, table  # noqa: E402
from draftlab.census.run import judge, over_seeds, spent  # noqa: E402
from draftlab.census.theirs import loaded, parts  # noqa: E402
from draftlab.census.triton import Kernel, Language  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]

THEIRS = '''
import a_library_that_nobody_has
from a_library_that_nobody_has import jit, WEIGHTS

@jit(WEIGHTS)
def left_over(p, q):
    return torch.clamp(p - q, min=0)

class Engine:
    @staticmethod
    def other():
        return WEIGHTS

    def verify(self, p, q, drafts: WEIGHTS):
        for i, x in enumerate(drafts):
            accept = p[i, x] / q[i, x]
            if torch.rand((), dtype=torch.float64) >= accept:
                left = left_over(p[i], q[i])
                return drafts[:i] + [int(torch.multinomial(left, 1, pin_memory=True))]
        return drafts + [int(torch.multinomial(p[len(drafts)], 1, pin_memory=True))]

def long_loop(stop):
    before = a_library_that_nobody_has.start()
    while before:
        total = 0
        for step in range(stop):
            total = total + step
        before.finish(total)
'''

ADAPTER = '''
import torch
from draftlab.census import Code, row

@row("mine", repository="somebody/theirs", commit="{commit}", function="Engine.verify", drafts=1,
     code=Code("engine.py", ("Engine.verify", "left_over"), without=(", pin_memory=True",)),
     expected="{expected}", controls={controls}, not_covered="nothing", because="It is so.")
def adapter(their):
    def verify(target, drawn_from, drafts):
        return their.verify(None, target, drawn_from, [int(token) for token in drafts])
    return verify
'''


def commit_of(folder, text):
    """A repository with one file, and its commit."""
    folder.mkdir(parents=True)
    (folder / "engine.py").write_text(text)

    def git(*words):
        return subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c",
                               "user.email=a@b", *words], check=True, capture_output=True,
                              text=True).stdout.strip()

    git("init", "-q")
    git("add", "engine.py")
    git("commit", "-qm", "theirs")
    return git("rev-parse", "HEAD")


def census_of(tmp_path, text=THEIRS, expected="exact", places="()"):
    """The row of an adapter for that text, and the folder of checkouts."""
    commit = commit_of(tmp_path / "sources" / "theirs", text)
    file = tmp_path / "adapter.py"
    file.write_text(ADAPTER.format(commit=commit, expected=expected, controls=places))
    (row,) = rows.rows_of([str(file)])
    return row, str(tmp_path / "sources")


def test_functions_are_taken_without_what_the_file_imports():
    code = Code("engine.py", ("Engine.verify", "left_over"), without=(", pin_memory=True",))
    their = loaded(parts(THEIRS, code))
    assert their.left_over(torch.tensor([0.7, 0.3]), torch.tensor([0.2, 0.8])).tolist() == \
        pytest.approx([0.5, 0.0])
    assert not hasattr(their, "Engine")
    certain = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert their.verify(None, certain, certain, [1]) == [1, 0]


def test_a_piece_is_a_function_of_the_statements_between_two_names():
    piece = Piece("summed", "long_loop", "total", "total", ("stop",), ("total",))
    assert loaded(parts(THEIRS, Code("engine.py", pieces=(piece,)))).summed(4) == (6,)
    with pytest.raises(LookupError, match="engine.py has no 'nowhere'"):
        parts(THEIRS, Code("engine.py", ("nowhere",)))


def test_an_exact_sampler_and_its_controls(tmp_path):
    places = "(('ratio inverted', 0), ('test reversed', 0), ('residual is the target', 0)," \
        " ('residual not clipped', 0))"
    row, sources = census_of(tmp_path, places=places)
    result = judge(row, sources, 2.0, 1)
    assert (result["verdict"], result["as_expected"], result["tv"]) == ("exact", True, 0.0)
    assert [verdict for _, _, verdict in result["controls"]] == ["biased"] * 4
    assert "exact on" in table.to_text(result) and "4 of 4" in table.to_markdown([result])


def test_a_control_that_is_not_caught_is_not_as_expected(tmp_path):
    text = THEIRS.replace("accept = ", "unused = p[i, x] / q[i, x]\n            accept = ")
    row, sources = census_of(tmp_path, text, places="(('ratio inverted', 0),)")
    result = judge(row, sources, 2.0, 1)
    assert result["controls"] == [["ratio inverted", 0, "exact"]]
    assert not result["as_expected"] and "differs" in table.to_text(result)


def test_a_biased_sampler_is_confirmed_by_a_script_of_its_own(tmp_path):
    text = THEIRS.replace("left = left_over(p[i], q[i])", "left = p[i]")
    row, sources = census_of(tmp_path, text, expected="biased")
    result = judge(row, sources, 2.0, 1)
    assert result["verdict"] == "biased" and result["as_expected"]
    plain = result["plain"]
    assert plain["agrees"] and plain["low"] <= plain["share"] <= plain["high"]
    assert "import draftlab" not in result["script"] and "from draftlab" not in result["script"]
    *_, found = table.to_markdown([result]).splitlines()
    assert found.startswith(f"- **`mine`** (lossless). It is so. {result['case']['event']}. Plain")
    report = table.to_report(result)
    assert "was not sent" in report and result["case"]["event"] in " ".join(report.split())
    assert max(map(len, report.splitlines())) <= 100 and " 1 draft, " in report
    run = subprocess.run([sys.executable, "-I", "-c", result["script"],
                          str(tmp_path / "sources" / "theirs" / "engine.py")],
                         capture_output=True, text=True, check=True)
    assert int(run.stdout) == plain["hits"]


def test_a_control_whose_walk_is_out_of_time_is_drawn_from(tmp_path, monkeypatch):
    """Each law has a share of the time, so the first one cannot take all of it."""
    row, sources = census_of(tmp_path)
    shares = []

    def slow(sampler, toy, runs, seconds):
        shares.append(seconds)
        raise OutOfTime("the law takes too long to enumerate")

    monkeypatch.setattr(controls, "examine", slow)
    definitions = row.definitions(row.texts(sources))
    assert controls.verdict_of(row, definitions, ("residual is the target", 0)) == "biased"
    monkeypatch.setattr(controls, "_SECONDS", 1.5)
    monkeypatch.setattr(row, "definitions", lambda texts: definitions)
    monkeypatch.setattr(controls, "broken", lambda definitions, name, place: definitions)
    shares.clear()
    assert controls.verdict_of(row, definitions, ("residual is the target", 0)) == "not shown"
    # How many laws the time suffices for depends on the machine.
    assert len(shares) >= 3 and max(shares) < 0.3


def test_controls_begin_with_small_laws_and_later_requests():
    wanted = [(2, 1, 0, 1), (3, 1, 3, 1), (3, 1, 0, 1), (3, 2, 0, 1), (2, 1, 0, 2)]
    toys = [Toy("", size, drafts, None, None, row=row, steps=steps)
            for size, drafts, row, steps in sorted(wanted)]
    assert [(t.vocabulary, t.drafts, t.row, t.steps)
            for t in sorted(toys, key=controls._size)] == wanted


def test_annotations_are_no_places():
    text = "def verify(p: list[int]) -> list[int]:\n    x: list[int] = p[0]\n    return x"
    assert controls.every_control(parts(text, Code("engine.py", ("verify",)))) == [
        ("row before", 0)]


@pytest.mark.parametrize("change, why", [
    (("_SECONDS", 0.01), "draws took more than 0.01 s"),
    (("_LOOP", "raise ValueError('it broke')"), "it ended with status 1: ValueError: it broke"),
    (("_LOOP", "print('no number')"), "it ended with status 0: no number")])
def test_a_monte_carlo_that_fails_is_a_sentence_in_its_row(tmp_path, monkeypatch, change, why):
    text = THEIRS.replace("left = left_over(p[i], q[i])", "left = p[i]")
    row, sources = census_of(tmp_path, text, expected="biased")
    monkeypatch.setattr(plain, *change)
    result = judge(row, sources, 2.0, 1)
    assert result["verdict"] == "biased" and not result["as_expected"]
    said = table.to_text(result)
    assert "the Monte Carlo counted nothing: " in said and why in said
    assert why in " ".join(table.to_report(result).split())
    assert "| biased |" in table.to_markdown([result])
    json.dumps(result, allow_nan=False)


def test_seconds_are_those_of_the_processes_of_a_row_too():
    before = spent()
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert spent() - before > 0.05


def test_the_commit_counts_and_not_what_lies_in_the_folder(tmp_path):
    row, sources = census_of(tmp_path)
    (tmp_path / "sources" / "theirs" / "engine.py").write_text("nothing of it")
    assert row.texts(sources) == [THEIRS]
    row.commit = "0" * 40
    with pytest.raises(rows.Missing, match="0000000 of https://github.com/somebody/theirs"):
        row.texts(sources)
    with pytest.raises(rows.Missing, match="no checkout theirs of https://github.com/somebody"):
        row.texts(str(tmp_path))


def test_a_break_has_as_many_places_as_the_text():
    definitions = parts(THEIRS, Code("engine.py", ("Engine.verify", "left_over")))
    assert {("ratio inverted", 0), ("test reversed", 0), ("residual not clipped", 0),
            ("residual is the target", 0)} <= set(controls.every_control(definitions))
    with pytest.raises(DataError) as refused:
        controls.broken(definitions, "test reversed", 1)
    assert str(refused.value).splitlines() == [
        "'test reversed' has no place 1; it has 1",
        "  0  torch.rand((), dtype=torch.float64) >= accept"]
    with pytest.raises(DataError, match="'ratio turned' is no break; there are ratio inverted, "):
        controls.broken(definitions, "ratio turned", 0)


def test_a_control_that_is_not_there_ends_the_command_before_the_audit(tmp_path):
    _, sources = census_of(tmp_path, places="(('ratio inverted', 3),)")
    run = subprocess.run(
        [sys.executable, "-m", "draftlab.census", str(tmp_path / "adapter.py"), "--sources",
         sources], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True,
        text=True, check=False)
    assert (run.returncode, run.stdout) == (65, "")
    assert run.stderr.splitlines() == [
        "row 'mine': control 'ratio inverted' has no place 3; it has 1",
        "  0  p[i, x] / q[i, x]"]


def test_every_adapter_loads_and_says_what_it_has_to():
    every = rows.rows_of([])
    names = [row.name for row in every]
    assert len(set(names)) == len(names) >= 16
    for row in every:
        assert len(row.commit) == 40 and row.not_covered and row.function
        assert row.expected in ("exact", "biased", "crashes")
        assert row.controls or row.expected != "exact", row.name
        assert row.because or row.expected != "biased", row.name
    with pytest.raises(UsageError, match="'nobody' is no row of the census"):
        rows.rows_of(["nobody"])
    with pytest.raises(DataError, match="there is no such file"):
        rows.rows_of(["nobody.py"])


@pytest.mark.parametrize("made, inner", [(rows.Row, ("name", "adapter", "file")), (Code, ()),
                                         (Piece, ())])
def test_every_field_is_documented(made, inner):
    page = (ROOT / "docs" / "CENSUS.md").read_text(encoding="utf-8")
    (begun,) = [part for part in page.split("| field of ")
                if part.lower().startswith(f"`{made.__name__.lower()}`")]
    lines = begun.split("\n\n")[0].splitlines()[2:]
    documented = [name for line in lines for name in re.findall("`([a-z_]+)`", line.split("|")[1])]
    wanted = [one.name for one in dataclasses.fields(made) if one.name not in inner]
    assert sorted(documented) == sorted(wanted)


CPP = """
static int left(int a) {
  if (a < 0) { return 0; }
  return a - 1;
}
int left(int a, int b) { return a - b; }
void main_loop() {
  int total = 0;
  // here it begins
  total += 3;
  // and here it ends
}
"""


def test_definitions_and_lines_are_taken_out_of_cpp():
    code = Code("engine.cpp", ("left",), (Piece("add", "main_loop", "here it begins",
                                                "here it ends"),))
    their = loaded(parts(CPP, code))
    assert their.left.count("int left(") == 2 and their.add.strip().endswith("total += 3;")
    library = their.compiled(f"namespace {{ {their.left} }}\n" 'extern "C" int both(int a) '
                             f"{{ int total = left(a) + left(a, 2); {their.add} return total; }}")
    assert library.both(5) == 4 + 3 + 3
    for name in ("right", "lef"):
        with pytest.raises(LookupError, match=f"engine.cpp has no '{name}'"):
            parts(CPP, Code("engine.cpp", (name,)))
    with pytest.raises(LookupError, match="no lines from 'nowhere' to 'here it ends'"):
        parts(CPP, Code("engine.cpp", (), (Piece("no", "", "nowhere", "here it ends"),)))
    with pytest.raises(SyntaxError, match="error"):
        their.compiled("int")


def test_operators_of_cpp_are_broken_one_at_a_time():
    definitions = parts(CPP, Code("engine.cpp", ("left",)))
    assert controls.every_control(definitions) == [
        ("test reversed", 0), ("residual is the target", 0), ("residual is the target", 1)]
    broken = loaded(controls.broken(definitions, "residual is the target", 1)).left
    assert "return a - 1;" in broken and "return a + 0 * b;" in broken
    assert "a > 0" in loaded(controls.broken(definitions, "test reversed", 0)).left


OWN_DRAFTS = '''
import torch
from draftlab.census import Code, row

@row("own", repository="somebody/theirs", commit="{commit}", function="Engine.verify", drafts=1,
     code=Code("engine.py", ("Engine.verify", "left_over"), without=(", pin_memory=True",)),
     expected="biased", not_covered="nothing", because="It is so.")
def adapter(their):
    class Greedy:
        def draft(self, law, random):
            return int(law.argmax()), law

        def verify(self, target, drawn_from, drafts):
            return their.verify(None, target, drawn_from, [int(token) for token in drafts])
    return Greedy
'''


def test_a_sampler_with_drafts_of_its_own_is_confirmed_with_them(tmp_path):
    commit = commit_of(tmp_path / "sources" / "theirs", THEIRS)
    file = tmp_path / "own.py"
    file.write_text(OWN_DRAFTS.format(commit=commit))
    (row,) = rows.rows_of([str(file)])
    result = judge(row, str(tmp_path / "sources"), 2.0, 1)
    assert (result["verdict"], result["as_expected"]) == ("biased", True)
    assert result["plain"]["agrees"]


def test_verdicts_over_seeds_are_counted(tmp_path):
    row, sources = census_of(tmp_path)
    result = over_seeds(row, sources, 0.5, range(1, 4))
    assert result["verdicts"] == {"exact": 3} and result["as_expected"] and result["walked"] > 3
    assert "| exact 3 |" in table.seeds_markdown([result])
    row.expected = "biased"
    assert not over_seeds(row, sources, 0.5, range(1, 3))["as_expected"]
    missing = over_seeds(row, str(tmp_path), 0.5, range(1, 3))
    assert "no checkout theirs" in table.seeds_text(missing)


def test_false_alarms_and_what_was_missed_are_counted():
    def judged(expected, **verdicts):
        return {"name": "mine", "expected": expected, "verdicts": verdicts, "walked": 1, "drawn": 0,
                "tv": 0.0, "seconds": 1.0}

    table_of = table.seeds_markdown([
        judged("exact", exact=5, biased=2, crashes=1, **{"not shown": 2}),
        judged("biased", biased=9, exact=1), {"name": "far", "expected": "exact", "missing": "no"}])
    assert table_of.splitlines()[-1] == \
        "Of 10 audits of exact samplers 3 were a false alarm; of 10 audits of biased ones 1 " \
        "found no bias."


def test_sums_of_a_kernel():
    language = Language()
    values = torch.tensor([1.0, 2.0, 4.0])
    assert language.sum(values) == 7 and language.cumsum(values, axis=0).tolist() == [1, 3, 7]
    assert language.argmax(torch.tensor([False, True, True]), axis=0) == 1


def test_kernels_run_program_after_program():
    language = Language()

    def add(out, one, count, BLOCK):
        at = language.program_id(0) * BLOCK + language.arange(0, BLOCK)
        inside = at < count
        language.store(out + at, language.load(one + at, inside, 0.0) + 1, mask=inside)

    values = torch.arange(5, dtype=torch.float64)
    out = torch.zeros(5, dtype=torch.float64)
    Kernel(add, language)[(3,)](out, values, 5, BLOCK=2)
    assert out.tolist() == [1, 2, 3, 4, 5]


def test_the_command_names_what_is_missing_and_fetches_nothing(tmp_path):
    words = [sys.executable, "-m", "draftlab.census", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    run = subprocess.run([*words, "--sources", str(tmp_path), "jetspec"], env=environment,
                         capture_output=True, text=True, check=False)
    (result,) = json.loads(run.stdout)
    assert run.returncode == 2 and result["verdict"] == "missing"
    assert "hao-ai-lab/JetSpec, commit 2c7b3fa" in result["missing"]
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 64 and "--sources = ''" in run.stderr


@pytest.mark.skipif("DRAFTLAB_CENSUS_SOURCES" not in os.environ,
                    reason="DRAFTLAB_CENSUS_SOURCES names no folder with checkouts")
@pytest.mark.parametrize("name", ["jetspec", "dflash", "specinfer", "triforce-middle"])
def test_public_samplers(name):
    (row,) = rows.rows_of([name])
    assert judge(row, os.environ["DRAFTLAB_CENSUS_SOURCES"], 2.0, 1)["as_expected"]
