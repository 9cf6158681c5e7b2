"""All decisions of a log together: do the numbers, the tests and the tokens follow their laws?

Every bound holds for all numbers of decisions at once (log_sequence.py), so a log that grows may be
judged again and again. A token drawn from a known law becomes a uniform number by its
randomised rank in that law, so that tokens of all laws are tested together.
"""

from collections import Counter
from typing import Dict, List, Sequence, Tuple

import numpy as np

from draftlab.audit import log_sequence
from draftlab.audit.log_rules import Decision, draft_law, last_law

ALPHA = 1e-6
_DEEP = 8


class Fit:
    """Gathers what decisions say."""

    def __init__(self):
        self.ties = np.random.Generator(np.random.PCG64(1))
        self.numbers: List[float] = []
        # For each depth, what was accepted minus its probability.
        self.excess: Dict[int, List[float]] = {}
        self.ranks: Dict[str, List[Tuple[float, float]]] = {
            "drafts": [], "replacements": [], "bonus tokens": []}
        self.tests = 0
        self.decisions = 0
        self.other = 0
        self.without_u = self.without_rows = self.without_q_rows = 0

    def add(self, d: Decision) -> None:
        self.decisions += 1
        self.without_u += d.u is None
        self.without_rows += d.p_rows is None
        self.without_q_rows += d.q_rows is None and any(q is not None for q in d.q)
        self.other += d.rule != "ratio"
        self.tests += d.tests
        self.numbers += [u for u in (d.u or [])[: d.tests] if u is not None]
        if d.u_residual is not None:
            self.numbers.append(d.u_residual)
        if d.rule == "ratio":
            for i in range(d.tests):
                ratio = d.ratio(i)
                if ratio is not None:
                    self.excess.setdefault(min(i, _DEEP), []).append((i < d.accepted) - ratio)
        self._add_ranks(d)

    def _add_ranks(self, d: Decision) -> None:
        for i in range(d.tests):  # Later drafts depend on what came before, so none is left out.
            if d.q_rows is not None:
                self._rank("drafts", draft_law(d, i), d.drafts[i])
        law = last_law(d)
        if law is not None and len(d.tokens) == d.accepted + 1 and d.tokens[-1] < len(law):
            which = "bonus tokens" if d.accepted == len(d.drafts) else "replacements"
            self._rank(which, law, d.tokens[-1])

    def _rank(self, which: str, law: np.ndarray, token: int) -> None:
        """The token's rank among the ids, and among the probabilities, the largest first."""
        share = float(self.ties.random()) * float(law[token])
        by_id = float(law[:token].sum()) + share
        equal = np.flatnonzero(law == law[token])
        by_probability = float(law[law > law[token]].sum()) + share
        by_probability += float(law[token]) * int(np.count_nonzero(equal < token))
        self.ranks[which].append((by_id, by_probability))

    def conclusions(self) -> Tuple[List[str], List[str], List[str]]:
        """(what does not fit, what fits and how well that is known, what cannot be shown)."""
        misfits: List[str] = []
        fits: List[str] = []

        def say(bad: bool, text: str) -> None:
            (misfits if bad else fits).append(text)

        self._numbers(say)
        self._acceptance(say)
        for which, ranks in self.ranks.items():
            for order, values in zip(("id", "probability"), zip(*ranks)):
                distance, bound = _distance(values)
                say(distance > bound, f"{len(ranks):,} {which} against their law, by {order}: "
                    f"distance {distance:.3g}, {bound:.3g} is chance")
        return misfits, fits, self._silent()

    def _numbers(self, say) -> None:
        if not self.numbers:
            return
        distance, bound = _distance(self.numbers)
        say(distance > bound, f"{len(self.numbers):,} numbers against the uniform law: distance "
            f"{distance:.3g}, {bound:.3g} is chance")
        pairs = sum(n * (n - 1) // 2 for n in Counter(self.numbers).values())
        grid = 2.0**24 if all((u * 2**24) % 1 == 0 for u in self.numbers) else 2.0**53
        most = log_sequence.pairs_bound(len(self.numbers), grid, ALPHA)
        say(pairs > most, f"{pairs:,} pairs of equal numbers, {most:,} can be chance: "
            + ("a number is used again" if pairs > most else "none is used again"))

    def _acceptance(self, say) -> None:
        for depth, excess in sorted(self.excess.items()):
            mean = sum(excess) / len(excess)
            alpha = ALPHA / (_DEEP + 1)
            bound = log_sequence.mean_bound(len(excess), alpha)
            seen = log_sequence.seen(len(excess), alpha)
            name = f"depth {depth}" + (" and below" if depth == _DEEP else "")
            say(abs(mean) > bound, f"{len(excess):,} tests at {name}: accepted {mean:+.3g} more "
                f"often than min(1, p / q), {bound:.2g} is chance; {seen:.2g} would have been "
                f"seen with probability {log_sequence.POWER}")

    def _silent(self) -> List[str]:
        said = []
        if self.without_u:
            said.append("u is missing: whether single tests were decided rightly, and whether "
                        "numbers are used again")
        if self.without_rows:
            said.append("p_rows is missing: whether replacement and bonus follow their laws")
        if self.without_q_rows:
            said.append("q_rows is missing: whether drafts were drawn from the law they claim")
        if self.other:
            said.append(f"{self.other:,} decisions name another rule: their tests and tokens")
        said.append("whether p is the target's law at all: a log cannot know the model")
        return said


def _distance(values: Sequence[float]) -> Tuple[float, float]:
    """Kolmogorov's distance to the uniform law, and the largest that chance explains."""
    sorted_values = np.sort(np.asarray(values))
    count = len(sorted_values)
    steps = np.arange(count + 1) / count
    distance = max(float(np.max(steps[1:] - sorted_values)),
                   float(np.max(sorted_values - steps[:-1])))
    return distance, log_sequence.law_bound(count, ALPHA)
