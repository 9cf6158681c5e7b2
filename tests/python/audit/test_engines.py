"""The shapes of a batch agree with one another, and answers of every shape are read."""

import numpy as np
import pytest

import draftlab as dl
from draftlab.audit.engines import Call, _other, row_of
from draftlab.audit.faults import SamplerFault, UsageError
from draftlab.audit.numbers import Script
from draftlab.audit.run import Only


def call(row=1):
    target = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    drawn_from = np.array([[0.6, 0.4], [0.3, 0.7]])
    others = [_other(i, 2, 2, True, target.dtype) for i in range(3)]
    requests = others[:row] + [(target, drawn_from, np.array([1, 0]), False)] + others[row:]
    return Call(requests, row, Script([], [0.25]), "numpy")


def test_padded_and_ragged_say_the_same():
    made = call()
    assert made.counts.tolist() == [2, 2, 0, 1]
    assert made.cumulative.tolist() == [2, 4, 4, 5]
    assert made.offsets.tolist() == [0, 2, 4, 4, 5]
    assert made.drafts.shape == (4, 2) and made.drafts[2].tolist() == [-1, -1]
    assert made.drafts[made.drafts >= 0].tolist() == made.flat_drafts.tolist()
    for row in range(4):
        start, end = made.offsets[row], made.offsets[row + 1]
        count = end - start
        assert np.array_equal(made.flat_draft_probs[start:end], made.draft_probs[row, :count])
        assert np.array_equal(made.flat_target_probs[start:end], made.target_probs[row, :count])
        with_bonus = np.exp(made.flat_target_logits[start + row : end + row + 1])
        assert np.allclose(with_bonus, made.target_probs[row, : count + 1])
        assert np.array_equal(made.bonus_probs[row], made.target_probs[row, count])
    assert np.allclose(np.exp(made.target_logits), made.target_probs)
    assert made.greedy.tolist() == [False, False, False, True]
    assert made.temperature.tolist() == [1, 1, 1, 0]


def test_only_the_audited_request_asks_for_numbers():
    made = call()
    numbers = made.uniforms()
    assert numbers.shape == (4, 3)
    assert numbers[1].tolist() == [0.25] * 3 and set(numbers[[0, 2, 3]].ravel()) == {0.5}
    assert made.random.asked == [None] * 3
    assert made.bonus[1, 0] == 2  # It is drawn when it comes out.


@pytest.mark.parametrize("answer", [
    np.array([[5, -1], [3, 4], [7, -1]]),
    [[5], [3, 4], [7]],
    (np.array([[5, 9], [3, 4], [7, 9]]), np.array([1, 2, 1])),
    (np.array([5, 3, 4, 7]), [1, 2, 1]),
])
def test_answers_of_every_shape(answer):
    assert [row_of(answer, row, 3) for row in range(3)] == [[5], [3, 4], [7]]


def test_answers_that_are_none():
    with pytest.raises(SamplerFault, match="2 rows for 3"):
        row_of([[1], [2]], 0, 3)
    with pytest.raises(SamplerFault, match="after the padding"):
        row_of(np.array([[1, -1, 2]]), 0, 1)


def mixed(call, is_greedy):
    """Raw laws in; the most probable token is taken where `is_greedy` says so of a row."""
    answer = []
    for row in range(call.batch):
        laws, drafts = call.target_probs[row], call.drafts[row][call.drafts[row] >= 0]
        made = []
        for i, x in enumerate(drafts):
            p, q = laws[i], call.draft_probs[row, i]
            accept = x == np.argmax(p) if is_greedy(call, row) else \
                call.random.below(min(1.0, p[x] / q[x]))
            if accept:
                made.append(int(x))
                continue
            made.append(int(np.argmax(p)) if is_greedy(call, row) else
                        call.random.draw(np.maximum(p - q, 0)))
            break
        else:
            made.append(int(call.bonus[row, 0]))
        answer.append(made)
    return answer


@pytest.mark.parametrize("is_greedy, verdict", [
    (lambda call, row: call.greedy[row], "exact"),
    (lambda call, row: call.greedy.all(), "biased"),  # One path for the whole batch.
])
def test_greedy_requests_among_others(is_greedy, verdict):
    @dl.engine("mixed", drafts=1, greedy_rows="raw")
    def verify(call):
        return mixed(call, is_greedy)

    report = dl.audit(verify, seconds=60, only=Only("temperature 0"))
    assert report.verdict == verdict


def test_what_greedy_rows_may_be():
    with pytest.raises(UsageError, match="greedy_rows = 'some' must be True, False or 'raw'"):
        dl.engine("mine", greedy_rows="some")
