"""`draftlab replay`: which estimators it shows, and in which form."""

CONFIG = """model = table
task = positions
drafter = self
verifier = chain
acceptance = speculative
estimator.sharp = confidence
[decode]
draft_length = 3
[run]
samples = 20
"""


def test_the_recorded_estimators_alone_in_markdown(tmp_path, program):
    (tmp_path / "a.ini").write_text(CONFIG, encoding="utf-8")
    program.ok("run", "a.ini", "--out", "a.h5")
    both = program.ok("replay", "a.h5")
    assert "sharp (logged)" in both and "\nsharp " in both
    logged = program.ok("replay", "a.h5", "--logged", "--format", "markdown")
    assert "| sharp (logged) |" in logged and "| sharp |" not in logged
    assert "\n\n| router | steps | verified | as logged |\n| --- |" in logged
