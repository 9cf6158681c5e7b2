"""Does AR-ness predict what verification gains? predicts.py TRACE, of configs/s2d2/ar-ness.ini.
A cell is a checkpoint, with its task, at one block size. Its AR-ness is that of static decoding,
the mean over texts. Always verifying gains the difference of its share of right answers from that
of dynamic decoding, and the ratio of dynamic decoding's NFE to its own. A correlation is Spearman's
in a group of cells or of prompts, the mean over the groups in which both differ. Its 95 % interval
has the percentiles over resampled prompts, which are the same in all cells of a task.
"""

import sys

import numpy as np

from draftlab.trace import COUNTED, Trace, config_keys

RESAMPLED = 1000
COLUMNS = ["AR-ness local", "AR-ness global", "dynamic", "always", "gain in accuracy", "NFE ratio"]


def cells_of(trace):
    """{(checkpoint, block size, task): AR-ness local and global, right answers of dynamic decoding
    and of always verifying, and NFE of both, a column a prompt}."""
    nfe = np.sum([trace[f"sample_nfe_{kind}"].astype(float) for kind in COUNTED], axis=0)
    found = {}
    for run, keys in enumerate(map(config_keys, trace["run_config"])):
        arm = "always" if keys["router"] == "always" else keys["unmasker"]
        rows = np.flatnonzero(trace["sample_run_index"] == run)
        checkpoint = keys["model.block-diffusion.checkpoint"].split("/")[-1]
        cell = found.setdefault((checkpoint, int(keys["decode.block_size"]), keys["task"]), {})
        cell[arm] = rows[np.argsort(trace["sample_prompt_index"][rows])]
    right = trace["sample_score_correct"]
    columns = [("static", trace["sample_ar_local"]), ("static", trace["sample_ar_global"]),
               ("threshold", right), ("always", right), ("threshold", nfe), ("always", nfe)]
    return {cell: np.array([column[arms[arm]] for arm, column in columns])
            for cell, arms in sorted(found.items())}


def gains(rows):  # What COLUMNS say, of prompts or of their means.
    return np.array([*rows[:4], rows[3] - rows[2], rows[4] / rows[5]])


def ranks(values):
    """Ranks, where equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def spearman(x, y):
    """The correlation of the ranks; NaN where either is the same everywhere."""
    a, b = (ranks(values) - (len(values) + 1) / 2 for values in (x, y))
    return a @ b / np.sqrt((a @ a) * (b @ b)) if a.any() and b.any() else np.nan


def groups_of(cells):
    """{what is compared: groups of columns}."""
    means = {cell: gains(rows.mean(axis=1)) for cell, rows in cells.items()}
    alike = [[np.transpose([row for cell, row in means.items() if cell[at] == value])
              for value in sorted({cell[at] for cell in means})] for at in (0, 1)]
    return {"all cells": [np.transpose(list(means.values()))],
            "the block sizes of a checkpoint": alike[0],
            "the checkpoints at a block size": alike[1],
            "the prompts of a cell": [gains(rows) for rows in cells.values()]}


def correlations(cells):
    """{what is compared: the correlations of both AR-nesses with both gains}."""
    return {what: [np.nanmean([spearman(group[x], group[y]) for group in groups])
                   for x in (0, 1) for y in (4, 5)]
            for what, groups in groups_of(cells).items()}


def resampled(cells, chance):
    """The cells with prompts drawn again."""
    drawn = {task: chance.integers(rows.shape[1], size=rows.shape[1])
             for (_, _, task), rows in cells.items()}
    return {cell: rows[:, drawn[cell[2]]] for cell, rows in cells.items()}


def show(head, rows):
    for cells in (head, ["---"] * len(head), *rows):
        print("|", " | ".join(map(str, cells)), "|")
    print()


def main(path):
    cells, chance = cells_of(Trace(path)), np.random.default_rng(1)
    many = [correlations(resampled(cells, chance)) for _ in range(RESAMPLED)]
    show(["checkpoint", "block", "task", *COLUMNS],
          [[*cell, *(f"{value:.3f}" for value in gains(rows.mean(axis=1)))]
           for cell, rows in cells.items()])
    rows = []
    for what, values in correlations(cells).items():
        ends = np.nanquantile([one[what] for one in many], (0.025, 0.975), axis=0)
        rows.append([what, *map("{:+.2f} [{:+.2f}, {:+.2f}]".format, values, *ends)])
    show(["correlation over", *(f"{x} with {y}" for x in COLUMNS[:2] for y in COLUMNS[4:])], rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
