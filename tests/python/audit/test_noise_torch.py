"""Noise in torch: races are choices, and what looks at the numbers draws them."""

import pytest

torch = pytest.importorskip("torch")

from draftlab.audit.catch import answered_by, scripted  # noqa: E402
from draftlab.audit.faults import TooLarge  # noqa: E402
from draftlab.audit.walk import Budget, walk  # noqa: E402

W = torch.tensor([0.2, 0.0, 0.5, 0.3], dtype=torch.float64)


def walked(function):
    def episode(random):
        with answered_by(random):
            return (int(function()),)

    with scripted():
        return walk(episode, Budget(100_000, 60))


def noise(*shape):
    return torch.empty(*shape, dtype=torch.float64).exponential_()


def batched():
    """As in an engine: one row of noise a request, repeated for its tokens, with guards."""
    q = torch.empty((2, 4), dtype=torch.float32)
    q.exponential_()
    rows = q[torch.tensor([0, 1, 1])]
    safe = torch.where(rows == 0, torch.tensor(1e-10), rows)
    return torch.argmax(torch.stack([W, W, W]).float() / safe, dim=-1)[0]


def in_place():
    probs = W.clone()
    return probs.div_(noise(4)).argmax(dim=-1).view(-1)[0]


@pytest.mark.parametrize("race", [
    lambda: torch.argmax(W / noise(4)), lambda: (noise(4) / W).argmin(dim=-1),
    lambda: torch.argmax(W.log() - noise(4).log(), dim=-1, keepdim=True)[0],
    lambda: (torch.log(W) - torch.log(-torch.log(torch.rand(4, dtype=torch.float64)))).argmax(),
    lambda: (W[None, :] / noise(1, 4).clamp_min(1e-20)).argmax(-1).item(),
    batched, in_place])
def test_a_race_is_a_choice(race):
    found = walked(race)
    assert found.races and not found.numbers
    assert found.law == pytest.approx({(0,): 0.2, (2,): 0.5, (3,): 0.3}, abs=1e-7)


@pytest.mark.parametrize("look, first", [
    (lambda: noise(3)[1] < 1.0, 1 - 0.36787944), (lambda: noise(1).item() < 1.0, 1 - 0.36787944),
    (lambda: torch.rand(2)[0] < 0.25, 0.25), (lambda: noise(2).numpy()[0] < 1.0, 1 - 0.36787944),
    (lambda: float(noise(2).tolist()[1]) < 1.0, 1 - 0.36787944),
    (lambda: torch.cat([noise(1), noise(1)])[0] < 1.0, 1 - 0.36787944),
    (lambda: torch.empty(2, 2, dtype=torch.float64)[0].exponential_()[1] < 1, 1 - 0.36787944)])
def test_noise_that_is_looked_at_is_numbers(look, first):
    found = walked(look)
    assert found.numbers and found.law[1,] == pytest.approx(first, abs=1e-6)


def test_a_row_that_is_filled_fills_its_array():
    def look():
        rows = torch.zeros(2, 3, dtype=torch.float64)
        rows[1].exponential_()
        return (rows[1] < 1.0)[2]

    assert walked(look).law[1,] == pytest.approx(1 - 0.36787944, abs=1e-6)


def test_a_third_use_is_not_taken_for_independent():
    def thrice():
        q = noise(2)
        return q.argmin() + 2 * (q / W[2:]).argmin() + 4 * (q * 3 < 1)[0]

    with pytest.raises(TooLarge, match="used again"):
        walked(thrice)
