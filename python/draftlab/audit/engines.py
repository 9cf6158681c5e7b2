"""Adapters: calls an engine's batched sampler with one audited request among others.

    @dl.engine("theirs", drafts=3)
    def verify(call):
        return rejection_sample(call.drafts, call.counts, call.draft_probs, call.target_probs,
                                call.bonus)

`call` has the batch in every shape that engines use; what the function returns may be padded with
-1, ragged with counts, or a list of lists. The requests beside the audited one are decided in
advance, so that they cost nothing to enumerate: one drafts nothing, one has a draft that is
rejected, one is greedy and accepts. At temperature 0 the audited request is greedy, too, among
others that are not.
"""

import functools
from typing import List, Optional, Union

import numpy as np

from draftlab.audit.faults import SamplerFault, UsageError
from draftlab.audit.sampler import MARK, Sampler

PADDING = -1


class Call:
    """A batch of requests as an engine lays it out; arrays are made when they are read.

    B requests, K = the most drafts of one, T = all drafts together, V = vocabulary.
    """

    def __init__(self, requests, row: int, random, tensors: str):
        self._requests = requests  # (target [k + 1, V], drawn_from [k, V], drafts [k], greedy)
        self._row = row
        self._random = random
        self._tensors = tensors
        self.batch = len(requests)
        self.vocabulary = requests[row][0].shape[1]
        self._counts = [len(drafts) for _, _, drafts, _ in requests]
        self.most = max(self._counts)

    def _out(self, values):
        if self._tensors == "torch":
            import torch

            return torch.from_numpy(np.ascontiguousarray(values))
        return values

    def _padded(self, which: int, extra: int, fill) -> np.ndarray:
        first = np.asarray(self._requests[self._row][which])
        shape = (self.batch, self.most + extra) + first.shape[1:]
        values = np.full(shape, fill, dtype=first.dtype)
        for row, request in enumerate(self._requests):
            values[row, : len(request[which])] = request[which]
        return values

    # Padded: a row a request.
    @property
    def drafts(self):
        """[B, K] token ids, padded with -1."""
        return self._out(self._padded(2, 0, PADDING))

    @property
    def draft_probs(self):
        """[B, K, V]."""
        return self._out(self._padded(1, 0, 0.0))

    @property
    def target_probs(self):
        """[B, K + 1, V]: a row a draft, then the bonus's law at the request's own count."""
        return self._out(self._padded(0, 1, 0.0))

    @property
    def target_logits(self):
        """[B, K + 1, V]: logarithms of `target_probs`."""
        return self._out(_log(self._padded(0, 1, 0.0)))

    @property
    def draft_logits(self):
        """[B, K, V]: logarithms of `draft_probs`."""
        return self._out(_log(self._padded(1, 0, 0.0)))

    # Ragged: the requests one after another.
    @property
    def counts(self):
        """[B]: the drafts of each request."""
        return self._out(np.array(self._counts, dtype=np.int64))

    @property
    def cumulative(self):
        """[B]: running sums of `counts`, as vLLM's cu_num_draft_tokens."""
        return self._out(np.cumsum(self._counts))

    @property
    def offsets(self):
        """[B + 1]: 0, then the running sums, as an indptr."""
        return self._out(np.concatenate([[0], np.cumsum(self._counts)]))

    @property
    def flat_drafts(self):
        """[T]."""
        return self._out(np.concatenate([np.asarray(r[2]) for r in self._requests]))

    @property
    def flat_draft_probs(self):
        """[T, V]."""
        return self._out(np.concatenate([r[1] for r in self._requests]))

    @property
    def flat_target_probs(self):
        """[T, V]: the laws at the drafts, without the bonus's."""
        return self._out(np.concatenate([r[0][: len(r[2])] for r in self._requests]))

    @property
    def flat_target_logits(self):
        """[T + B, V]: logarithms, each request's bonus row after its drafts' rows."""
        return self._out(_log(np.concatenate([r[0] for r in self._requests])))

    # A request's own.
    @property
    def temperature(self):
        """[B]: 0 for greedy requests, 1 for the others (whose laws are processed already)."""
        return self._out(np.array([0.0 if r[3] else 1.0 for r in self._requests]))

    @property
    def greedy(self):
        """[B] of bool."""
        return self._out(np.array([r[3] for r in self._requests]))

    @property
    def bonus_probs(self):
        """[B, V]: the law of the token after all drafts."""
        return self._out(np.array([r[0][len(r[2])] for r in self._requests]))

    @property
    def bonus(self):
        """[B, 1]: tokens drawn from `bonus_probs` beforehand, where the engine is given them.

        The audited request's is V, which no vocabulary has: it is drawn when it comes out.
        """
        rows = [int(np.argmax(r[0][len(r[2])])) for r in self._requests]
        rows[self._row] = self.vocabulary
        return self._out(np.array(rows, dtype=np.int64)[:, None])

    def _settled(self, tokens: List[int]) -> List[int]:
        target = self._requests[self._row][0]
        law = target[len(self._requests[self._row][2])]
        if self._requests[self._row][3]:
            law = np.eye(self.vocabulary)[np.argmax(law)]
        return [self._random.draw(law) if t == self.vocabulary else t for t in tokens]

    def uniforms(self, width: Optional[int] = None):
        """[B, width or K + 1]: the numbers of the tests, where the engine is given them."""
        values = np.full((self.batch, width or self.most + 1), 0.5)
        values[self._row] = self._random.uniform(values.shape[1])
        return self._out(values)

    def final_uniforms(self):
        """[B]: the numbers of the last draws."""
        return self.uniforms(1).reshape(-1)

    @property
    def random(self):
        """The object that `dl.sampler`'s functions are handed: below, draw, uniform."""
        return self._random


def _log(law) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(law)


def engine(name: str, drafts: Optional[int] = None, *, batch: int = 4,
           greedy_rows: Union[bool, str] = True, tensors: str = "numpy", published: str = ""):
    """Marks a function of a `Call` as a sampler; it is judged in three rows of the batch.

    batch: requests a call. greedy_rows: whether there are requests of temperature 0, and what
    their laws are: True: the most probable token alone, "raw": those of temperature 1, of which the
    engine has to take it.
    """
    if greedy_rows not in (True, False, "raw"):
        raise UsageError(f"engine '{name}': greedy_rows = {greedy_rows!r} must be True, False or "
                         "'raw'")
    if not (isinstance(batch, int) and 1 <= batch <= 64):
        raise UsageError(f"engine '{name}': batch = {batch!r} must be in [1, 64]")
    if tensors not in ("numpy", "torch"):
        raise UsageError(f"engine '{name}': tensors = {tensors!r} must be numpy or torch")

    def mark(function):
        def verify(target, drawn_from, tokens, random, row=0, greedy=False):
            request = (target, drawn_from, tokens, bool(greedy and greedy_rows))
            others = [_other(i, target.shape[1], len(tokens), greedy_rows, target.dtype)
                      for i in range(batch - 1)]
            requests = others[:row] + [request] + others[row:]
            call = Call(requests, row, random, tensors)
            return call._settled(row_of(function(call), row, batch))

        made = Sampler(name, verify, drafts, published=published,
                       rows=tuple(sorted({0, batch // 2, batch - 1})),
                       raw_greedy=greedy_rows == "raw")
        setattr(function, MARK, made)
        return function

    return mark


@functools.lru_cache(maxsize=None)
def _other(i: int, vocabulary: int, most: int, greedy_rows: Union[bool, str], dtype):
    """A request whose outcome is certain: see the top of this file."""
    count = (most, 0, max(1, most - 1))[i % 3]
    token = i % vocabulary
    target = np.zeros((count + 1, vocabulary), dtype=dtype)
    target[:, token] = 1
    greedy = bool(greedy_rows) and i % 3 == 2
    if greedy and greedy_rows == "raw":
        target = (0.5 * target + 0.5 / vocabulary).astype(dtype)
    drafted = token if greedy or i % 2 else (token + 1) % vocabulary
    drawn_from = np.zeros((count, vocabulary), dtype=dtype)
    drawn_from[:, drafted] = 1
    return target, drawn_from, np.full(count, drafted, dtype=np.int64), greedy


def row_of(answer, row: int, batch: int) -> List[int]:
    """The tokens of one request, of whatever shape the engine returns its batch in."""
    counts = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, counts = answer
        counts = np.asarray(counts).reshape(-1)
    if not isinstance(answer, (list, tuple)):
        answer = np.asarray(answer)
        if answer.ndim == 1 and counts is not None:
            ends = np.cumsum(counts)
            return answer[ends[row] - counts[row] : ends[row]].tolist()
    if len(answer) != batch:
        raise SamplerFault("wrong length", f"returned {len(answer)} rows for {batch} requests")
    tokens = np.asarray(answer[row]).reshape(-1).tolist()
    if counts is not None:
        return tokens[: int(counts[row])]
    end = tokens.index(PADDING) if PADDING in tokens else len(tokens)
    if any(token != PADDING for token in tokens[end:]):
        raise SamplerFault("wrong shape", f"returned {tokens}: tokens after the padding")
    return tokens[:end]
