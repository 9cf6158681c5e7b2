"""Logs: what breaks the rule is found line by line, what drifts is found over all."""

import json

import numpy as np
import pytest

from draftlab.audit.faults import DataError
from draftlab.audit.log import judge_log

V, K = 4, 3


def decisions(count, seed, shared=False, drafts_of=lambda q: q, rows=True, numbers=True,
              accept=lambda ratio: ratio):
    """Decisions of an engine that follows the rule but for what the arguments change."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        p, q = random.dirichlet(np.ones(V), K + 1), random.dirichlet(np.ones(V), K)
        drafts = []
        for row in q:
            law = drafts_of(row)
            drafts.append(int(random.choice(V, p=law / law.sum())))
        used, accepted = [], 0
        for i, x in enumerate(drafts):
            used.append(random.random())
            if used[-1] >= accept(min(1, p[i][x] / q[i][x])):
                break
            accepted += 1
        rest = p[K] if accepted == K else np.maximum(p[accepted] - q[accepted], 0)
        last = used[-1] if shared else random.random()
        token = min(int(np.searchsorted(np.cumsum(rest / rest.sum()), last)), V - 1)
        line = {"drafts": drafts, "q": [q[i][x] for i, x in enumerate(drafts)],
                "p": [p[i][x] for i, x in enumerate(drafts)], "accepted": accepted,
                "tokens": drafts[:accepted] + [token]}
        if numbers:
            line |= {"u": used, "u_residual": last}
        if rows:
            line |= {"p_rows": p.tolist(), "q_rows": q.tolist()}
        yield line


def judged(tmp_path, lines):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return judge_log(str(path))


@pytest.mark.parametrize("seed", range(10))
def test_a_right_log_is_not_called_biased(tmp_path, seed):
    report = judged(tmp_path, decisions(300, seed))
    assert report.verdict == "not shown" and report.status == 2, str(report)


def test_a_shared_number_is_found_by_value_and_by_what_it_does(tmp_path):
    report = judged(tmp_path, decisions(300, 1, shared=True))
    assert report.counts["reuse"] > 200
    silent = judged(tmp_path, decisions(2500, 1, shared=True, numbers=False))
    assert silent.counts == {} and any("replacements" in text for text in silent.misfits)


def test_drafts_from_another_law_are_found(tmp_path):
    report = judged(tmp_path, decisions(1500, 2, drafts_of=lambda q: q**3))
    assert any("drafts against their law" in text for text in report.misfits)


def test_lenient_acceptance_is_found_without_numbers(tmp_path):
    report = judged(tmp_path, decisions(1500, 3, accept=lambda ratio: ratio**0.5, numbers=False,
                                        rows=False))
    assert any("at depth 0" in text for text in report.misfits)
    assert any("u is missing" in text for text in report.silent)


def test_lenient_acceptance_is_found_in_single_decisions_with_them(tmp_path):
    report = judged(tmp_path, decisions(50, 3, accept=lambda ratio: ratio**0.5))
    assert report.counts["acceptance"] > 0


def one(**changes):
    line = {"drafts": [1, 2], "q": [0.5, 0.4], "p": [0.25, 0.4], "accepted": 0, "tokens": [3],
            "u": [0.6]}
    return {**line, **changes}


@pytest.mark.parametrize("line, kind", [
    (one(u=[0.4]), "acceptance"),
    (one(accepted=1, tokens=[1, 0], u=[0.3, 0.9]), "acceptance"),
    (one(p=[0.0, 0.4], accepted=1, tokens=[1, 0], u=None, q=[0.5, 0.5]), "acceptance"),
    (one(accept=[0.7, None]), "acceptance"),
    (one(tokens=[1]), "replacement"),
    (one(tokens=[]), None),
    (one(tokens=[3, 3]), "tokens"),
    (one(accepted=1, tokens=[2, 0], u=[0.1, 0.2]), "tokens"),
    (one(u=[0.6], u_residual=0.6), "reuse"),
    (one(q=[0.0, 0.4]), "impossible draft"),
    (one(p_rows=[[0.25, 0.25, 0.25, 0.25]] * 3, q_rows=[[0.0, 0.5, 0.0, 0.5]] * 2), "replacement"),
    (one(p_rows=[[0.5, 0.1, 0.2, 0.2]] * 3), "rows"),
    (one(rule="other", u=[0.4], tokens=[1]), None),
    (one(), None),
])
def test_one_decision(tmp_path, line, kind):
    report = judged(tmp_path, [line])
    assert (kind in report.counts) if kind else not report.counts, str(report)


@pytest.mark.parametrize("text, said", [
    ("", "no decision"), ("{", "no JSON"), ("[]", "is an object"),
    ('{"drafts": [1]}', "'p' is missing"),
    (json.dumps(one(accepted=3)), "accepted = 3 must be in [0, 2]"),
    (json.dumps(one(p=[0.1])), "'p' must be a list of 2 numbers"),
    (json.dumps(one(q=[0.1, 7])), "holds 7, which is not in [0, 1]"),
    (json.dumps(one(drafts=[-1, 2])), "'drafts' must be a list of token ids"),
    (json.dumps(one(rule="block")), "must be one of ratio, other"),
    (json.dumps(one(p_rows=[[1.0]])), "'p_rows' must be 3 rows"),
    (json.dumps(one(p_rows=[[0.2, 0.2]] * 3)), "is no law"),
])
def test_a_bad_line_is_refused_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "bad.jsonl"
    path.write_text(text + "\n")
    with pytest.raises(DataError, match=said.replace("[", r"\[").replace("(", r"\(")):
        judge_log(str(path))
