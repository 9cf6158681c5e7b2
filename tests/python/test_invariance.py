"""`draftlab invariance` says how much answers depend on how they are computed."""

import json

from conftest import BLOCKS, ORDERED, ROOT

# Each of two sums of 50 numbers up to 0.1 is off by at most 49 roundings of 5. Total variation is
# no more than the largest change of a logit.
TWO_ORDERS = 2 * 49 * 5 * 2.0**-24

PLANTED = '''
import numpy as np
import draftlab as dl


@dl.model("planted")
class Planted(dl.Model):
    """Adds the terms of a logit up from the other end where a forward has several rows."""

    wrong: bool = dl.option(False, help="Answers of several rows are another position's.")
    vocabulary, mask = 4, 3
    view = "bidirectional"

    def logits(self, ids, allowed, positions, asked):
        several = len(asked[0]) > 1
        made = np.zeros((len(asked[0]), self.vocabulary), dtype=np.float32)
        for law, position in zip(made, asked[1]):
            for token in range(3):
                at = position + (self.wrong and several)
                terms = np.sin(np.arange(50) * (token + 3) + 7 * at).astype(np.float32) / 10
                for term in terms[::-1] if several else terms:
                    law[token] += term
        return made
'''


def ways(program, text, *words):
    config = program.write("a.ini", text)
    program.ok("invariance", config, "--out", "a.json", *words)
    arms = json.loads((program.folder / "a.json").read_text())
    return {way["way"]: way for way in arms[0]["models"][0]["ways"]}


def test_a_toy_has_the_same_bits_in_every_way(program):
    for text in (ORDERED, BLOCKS):
        found = ways(program, text, "--prompts", "2", "--batch", "3")
        assert set(found) == {"row by row", "batch 3", "threads 2", "bf16"}
        for way in found.values():
            assert way["rows"] == way["same_bits"] > 0
        assert found["batch 3"]["rows"] == 3 * found["row by row"]["rows"]


def test_a_checkpoint_s_rows_do_not_depend_on_each_other(program):
    said = program.ok("invariance", str(ROOT / "configs" / "quickstart.ini"), "--prompts", "1",
                      "--threads", "1", "--out", "a.json")
    assert "as asked, on one thread, in f32, against" in said
    for arm in json.loads((program.folder / "a.json").read_text()):
        found = {way["way"]: way for way in arm["models"][0]["ways"]}
        for name in ("row by row", "batch 8", "threads 1"):
            assert found[name]["same_bits"] == found[name]["rows"] > 0
        assert found["bf16"]["faults"] == 0


def test_bf16_rounds_weights_that_are_stored_in_f32(program):
    # Weights that are stored in bf16 have the same products on a processor without such products.
    program.ok("invariance", ROOT / "configs/base/levels.ini", "--prompts", "1", "--threads", "1",
               "--batch", "2", "--out", "a.json")
    ways = json.loads((program.folder / "a.json").read_text())[0]["models"][0]["ways"]
    bf16, = (way for way in ways if way["way"] == "bf16")
    assert 1e-5 < bf16["total_variation"] < 0.25
    assert bf16["faults"] == 0


def test_another_order_of_a_sum_is_found_in_a_model_in_python(program):
    program.write("planted.py", PLANTED)
    words = ("--plugin", "planted.py", "--model", "planted", "--frontier", "left-to-right",
             "--prompts", "1")
    found = ways(program, ORDERED.replace("2:1", "0:1"), *words)
    assert found["row by row"]["same_bits"] < found["row by row"]["rows"]
    assert 0 < found["row by row"]["total_variation"] < TWO_ORDERS
    assert found["row by row"]["faults"] == found["threads 2"]["faults"] == 0
    assert found["threads 2"]["same_bits"] == found["threads 2"]["rows"]

    wrong = program.run("invariance", "a.ini", *words, "--model.planted.wrong", "true")
    assert wrong.returncode == 1
    assert "a fault: prompt" in wrong.stdout


def test_vectors_are_refused(program):
    said = program.fails(78, "invariance", str(ROOT / "configs" / "cspd" / "exact.ini"))
    assert "are vectors" in said
