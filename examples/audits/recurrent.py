"""Models with a state, and the mistakes that engines make when drafts are rejected: each class but
the first of a kind forgets to take back one thing.

    draftlab audit examples/audits/recurrent.py
"""

import numpy as np

import draftlab as dl

VOCABULARY, WIDTH, TAPS = 8, 6, 4
_numbers = np.random.default_rng(7)
EMBEDDING = _numbers.normal(size=(VOCABULARY, WIDTH))
HEAD = _numbers.normal(size=(VOCABULARY, WIDTH))
KERNEL = _numbers.normal(size=(TAPS, WIDTH))
KEY, VALUE, DECAY = _numbers.normal(size=(WIDTH, WIDTH)), _numbers.normal(size=(WIDTH, WIDTH)), 0.8


@dl.recurrent_model("token-shift", vocabulary=VOCABULARY)
class TokenShift:
    """Like RWKV: the row before is mixed in, and a matrix of keys and values decays."""

    def __init__(self):
        self.row, self.memory = np.zeros(WIDTH), np.zeros((WIDTH, WIDTH))

    def step(self, token):
        mixed = 0.6 * EMBEDDING[token] + 0.4 * self.row
        self.row = EMBEDDING[token]
        self.memory = DECAY * self.memory + np.outer(np.tanh(KEY @ mixed), VALUE @ mixed)
        return HEAD @ (np.tanh(mixed) @ self.memory)

    def snapshot(self):
        return {"row": self.row, "memory": self.memory}

    def restore(self, snapshot):
        self.row, self.memory = snapshot["row"], snapshot["memory"]


@dl.recurrent_model("shift-not-taken-back", vocabulary=VOCABULARY)
class ShiftKept(TokenShift):
    """The matrix goes back, the row before does not."""

    def restore(self, snapshot):
        self.memory = snapshot["memory"]


@dl.recurrent_model("one-token-too-few", vocabulary=VOCABULARY)
class OneTooFew(TokenShift):
    """The snapshot is of the state behind the first draft, not before it."""

    def step(self, token):
        logits = super().step(token)
        if getattr(self, "late", None) is not None:
            self.late.update(super().snapshot())
            self.late = None
        return logits

    def snapshot(self):
        self.late = super().snapshot()
        return self.late


@dl.recurrent_model("convolution", vocabulary=VOCABULARY)
class Convolution:
    """Like Mamba: the last rows are convolved, and the result drives a state."""

    def __init__(self):
        self.rows, self.state = np.zeros((TAPS, WIDTH)), np.zeros(WIDTH)

    def step(self, token):
        self.rows = np.vstack([self.rows[1:], EMBEDDING[token]])
        self.state = DECAY * self.state + np.tanh((KERNEL * self.rows).sum(0))
        return HEAD @ self.state

    def snapshot(self):
        return [self.rows, self.state]

    def restore(self, snapshot):
        self.rows, self.state = snapshot


@dl.recurrent_model("convolution-drifts", vocabulary=VOCABULARY)
class ConvolutionKept(Convolution):
    """The state goes back, the rows of the convolution do not: wrong until they have left it."""

    def restore(self, snapshot):
        self.state = snapshot[1]


@dl.recurrent_model("snapshot-in-place", vocabulary=VOCABULARY)
class InPlace(Convolution):
    """The snapshot is the memory that the next step writes into."""

    def step(self, token):
        self.rows[:-1] = self.rows[1:].copy()
        self.rows[-1] = EMBEDDING[token]
        self.state *= DECAY
        self.state += np.tanh((KERNEL * self.rows).sum(0))
        return HEAD @ self.state


@dl.recurrent_model("restored-once", vocabulary=VOCABULARY)
class RestoredOnce(InPlace):
    """A snapshot is a copy, but restoring hands out the copy itself, so it serves one branch."""

    def snapshot(self):
        return [self.rows.copy(), self.state.copy()]


@dl.recurrent_model("restored-in-place", vocabulary=VOCABULARY)
class RestoredInPlace(RestoredOnce):
    """Copied both ways: right again."""

    def restore(self, snapshot):
        self.rows, self.state = (part.copy() for part in snapshot)


@dl.recurrent_model("first-value", vocabulary=VOCABULARY)
class FirstValue:
    """Like RWKV-7: the second layer mixes in the value that the first has of the same token."""

    def __init__(self):
        self.memories = [np.zeros((WIDTH, WIDTH)) for _ in range(2)]
        self.first = None

    def step(self, token):
        row, self.first = EMBEDDING[token], None
        for layer, memory in enumerate(self.memories):
            row = row + self.attend(row, layer, memory)
        return HEAD @ row

    def attend(self, row, layer, memory):
        value = VALUE @ row
        if self.first is None:
            self.first = value
        self.memories[layer] = DECAY * memory + np.outer(np.tanh(KEY @ row), value + self.first)
        return np.tanh(row) @ self.memories[layer]

    def snapshot(self):
        return list(self.memories)

    def restore(self, snapshot):
        self.memories = list(snapshot)


@dl.recurrent_model("first-value-kept", vocabulary=VOCABULARY)
class FirstValueKept(FirstValue):
    """Behind a rollback the first layer's value is that of a rejected token, which no snapshot
    shows."""

    rejected = None

    def restore(self, snapshot):
        super().restore(snapshot)
        self.rejected = self.first

    def attend(self, row, layer, memory):
        if self.first is None:
            self.first, self.rejected = self.rejected, None
        return super().attend(row, layer, memory)
