"""`mechanical.py --list` says which mutants a seed would draw, and breaks nothing."""

import pathlib
import sys

import pytest

MUTANTS = pathlib.Path(__file__).resolve().parents[1] / "mutants"
SOURCES = {"core/one.cc": b"int a;\nif (a < b)\n  go();\n", "core/two.cc": b"\n\nx = y + 1;\n"}


@pytest.fixture
def mechanical(monkeypatch, tmp_path):
    """The program with two small files for its sources, and a reader that needs no clang."""
    monkeypatch.syspath_prepend(str(MUTANTS))
    import mechanical as program
    import syntax

    (tmp_path / "core").mkdir()
    for name, text in SOURCES.items():
        (tmp_path / name).write_bytes(text)

    def sites(file, *_):
        text = SOURCES[file]
        sign = text.index(b"<" if b"<" in text else b"+")
        return [syntax.Site("comparison" if b"<" in text else "sign", sign, sign + 1,
                            ("<=", ">") if b"<" in text else ("-", "*"), (sign - 2, sign + 3))]

    monkeypatch.setattr(program, "CHECKOUT", tmp_path)
    monkeypatch.setattr(program, "FOLDERS", ["core"])
    monkeypatch.setattr(program.syntax, "sites", sites)
    return program


def listed(program, monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["mechanical.py", "--list", *words])
    assert program.main() == 0
    return capsys.readouterr().out.splitlines()


def test_list_prints_the_lines_of_a_seed_in_the_order_of_the_draw(mechanical, monkeypatch, capsys):
    lines = listed(mechanical, monkeypatch, capsys, "--seed", "5", "--draw", "4")
    assert lines[0] == "seed 5"
    assert sorted(lines[1:]) == [
        "line 2 of core/one.cc: if (a < b) => if (a <= b)  [comparison]",
        "line 2 of core/one.cc: if (a < b) => if (a > b)  [comparison]",
        "line 3 of core/two.cc: x = y + 1; => x = y * 1;  [sign]",
        "line 3 of core/two.cc: x = y + 1; => x = y - 1;  [sign]"]
    drawn = [mutant.key() for _, mutant in zip(range(4), mechanical.Draw(5))]
    assert [line.split(" of ")[1].split("  [")[0] for line in lines[1:]] == drawn
    assert listed(mechanical, monkeypatch, capsys, "--seed", "5", "--draw", "2") == lines[:3]
    orders = {tuple(listed(mechanical, monkeypatch, capsys, "--seed", str(seed), "--draw", "4")[1:])
              for seed in range(1, 9)}
    assert len(orders) > 1


def test_list_breaks_and_copies_nothing(mechanical, monkeypatch, capsys, tmp_path):
    def never(*_):
        raise AssertionError("a list needs no copy")

    monkeypatch.setattr(mechanical.mutants, "copy_checkout", never)
    listed(mechanical, monkeypatch, capsys, "--draw", "4")  # The seed of the day.
    assert {name: (tmp_path / name).read_bytes() for name in SOURCES} == SOURCES
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["core", "one.cc", "two.cc"]


def test_mutants_of_a_file_sleep_side_by_side(mechanical):
    import switched

    first, *others = (m for _, m in zip(range(4), mechanical.Draw(5)) if m.file == "core/one.cc")
    assert len(switched.rounds([first, *others])) == 2  # Both break one expression.
    text = switched.File(SOURCES["core/one.cc"], "", [(7, first)]).text.decode()
    broken = first.replacement
    assert f"if ((draftlab_broken(7) ? (a {broken} b) : (a < b)))" in text
    assert "  go();" in text


def test_a_statement_sleeps_behind_an_if(mechanical):
    import switched
    import syntax

    site = syntax.Site("statement", 20, 25, ("",), (20, 25))
    assert SOURCES["core/one.cc"][20:25] == b"go();"
    mutant = mechanical.Mutant("core/one.cc", site, "")
    text = switched.File(SOURCES["core/one.cc"], "", [(3, mutant)]).text.decode()
    assert "if (!draftlab_broken(3)) go();" in text


def test_cases_look_at_what_they_reach_the_quickest_first(mechanical, monkeypatch):
    import suites

    def run(suite, words, left, **variables):
        with open(variables["DRAFTLAB_MUTANTS_REACHED"], "w") as file:
            file.write("1 7\n1 8\ncase 1 0.5\n2 7\ncase 2 0.1\n-1 9\n")
        return "", 0

    monkeypatch.setattr(suites, "run", run)
    (quick, slow), once = suites.cases("test_core", 60)
    assert once == {8, 9}  # Initialisers run once a process, wherever it stands.
    assert (quick.words, quick.reached) == ("-f=2 -l=2", {7})
    assert (slow.words, slow.reached) == ("-f=1 -l=1", {7, 8})


def test_a_mutant_is_noticed_by_the_first_suite_of_which_a_case_fails(mechanical, monkeypatch):
    import suites

    first, second, third = (mutant for _, mutant in zip(range(3), mechanical.Draw(5)))

    def cases(suite, left):
        case = suites.Case(suite, 1)
        case.reached = {1, 2}
        return [case], {3}

    def fails(suite, words, seconds, number):
        noticed = (suite, words, number) in [("test_plugins", "-f=1 -l=1", 2), ("test_core", "", 3)]
        return "a test" if noticed else None

    monkeypatch.setattr(suites, "cases", cases)
    monkeypatch.setattr(suites, "fails", fails)
    judged = list(suites.Suites(1, 0).judge_asleep([(1, first), (2, second), (3, third)]))
    assert [(mutant, what, by) for mutant, what, by, _ in judged] == [
        (third, "noticed", "a test"), (second, "noticed", "a test"),
        (first, "survived", "4 cases looked")]


def test_what_survives_in_sweeps_is_used_as_its_users_do(mechanical, monkeypatch):
    import suites

    inside, outside = (mutant for _, mutant in zip(range(2), mechanical.Draw(5)))
    inside.file = "experiments/sweep/one.cc"
    used = []

    def noticed_by(suite, *_, DRAFTLAB_MUTANT, **__):
        used.append((suite, DRAFTLAB_MUTANT))
        return "a complaint" if DRAFTLAB_MUTANT == "1" else None

    monkeypatch.setattr(suites, "cases", lambda *_: ([], set()))
    monkeypatch.setattr(suites.mutants, "noticed_by", noticed_by)
    judged = list(suites.Suites(1, 0).judge_asleep([(1, inside), (2, outside)]))
    assert [(mutant, what, by) for mutant, what, by, _ in judged] == [
        (inside, "noticed", "a complaint"), (outside, "survived", "0 cases looked")]
    assert used == [("python", "0"), ("python", "1")]
