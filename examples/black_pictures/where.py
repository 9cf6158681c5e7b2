"""Does a model of pictures know where it is? where.py TRACE, of a run of the task super-resolution
without drafts, over temperatures. A picture is black when its levels have less than 1.6 bits of
entropy. For black pictures the table has the median confidence of what was decided, where the
picture that was wanted is bright and where it is dark.
"""

import re
import sys

import numpy as np

from draftlab.trace import Trace, config_keys

BLACK_BITS, BRIGHT, DARK = 1.6, 12, 4  # Entropy in bits; levels of 32.


def wanted_levels(trace):
    """The level that each draft should have had."""
    sample = trace["step_sample_index"][trace["draft_step_index"]]
    references = [[int(level) for level in re.findall("[0-9]+", text)]
                  for text in trace["sample_reference"]]
    begins = trace["sample_length"] - np.array([len(levels) for levels in references])
    places = trace["draft_position"] - begins[sample]
    return sample, np.array([references[s][place] for s, place in zip(sample, places)])


def main():
    trace = Trace(sys.argv[1])
    sample, wanted = wanted_levels(trace)
    runs, black = trace["sample_run_index"], trace["sample_entropy_bits"] < BLACK_BITS
    print("| decode.temperature | pictures | black | confidence where bright | where dark |")
    print("|---|---|---|---|---|")
    for run, keys in enumerate(map(config_keys, trace["run_config"])):
        here = (black & (runs == run))[sample]
        medians = [f"{np.median(trace['draft_confidence'][here & at]):.2f} of {(here & at).sum()}"
                   if (here & at).any() else "-" for at in (wanted >= BRIGHT, wanted < DARK)]
        counts = [(runs == run).sum(), (black & (runs == run)).sum()]
        print("|", " | ".join(map(str, [keys["decode.temperature"], *counts, *medians])), "|")


if __name__ == "__main__":
    main()
