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
                            ("<=", ">") if b"<" in text else ("-", "*"))]

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
