"""`draftlab inspect`: the tables of AR-ness and of the course of decodes, and their form."""

CONFIG = """model = table
task = positions
drafter = self
verifier = chain
acceptance = speculative
[decode]
draft_length = 3
[run]
samples = 20
"""


def test_ar_ness_and_the_course_in_markdown(tmp_path, program):
    (tmp_path / "a.ini").write_text(CONFIG, encoding="utf-8")
    program.ok("run", "a.ini", "--out", "a.h5")
    aligned = program.ok("inspect", "a.h5", "--ar")
    assert "|" not in aligned and "AR-ness, k = 1 2 3 4  " in aligned
    tables = program.ok("inspect", "a.h5", "--ar", "--format", "markdown").strip().split("\n\n")
    assert [table.split("\n")[0].split(" | ")[0] for table in tables] == [
        "| AR-ness, k = 1 2 3 4", "| course, in tenths of the steps"]
    assert [row.split(" | ")[1] for row in tables[1].split("\n")[2:]] == [
        "confidence", "entropy", "tokens", "accepted"]


def test_a_form_goes_with_the_tables(tmp_path, program):
    (tmp_path / "a.ini").write_text(CONFIG, encoding="utf-8")
    program.ok("run", "a.ini", "--out", "a.h5")
    assert "it goes with --ar" in program.fails(64, "inspect", "a.h5", "--format", "markdown")
