"""What is walked or sampled: drafts are drawn, the sampler is called, its tokens come out."""

import math
import signal
import threading
import traceback
from typing import Callable, List, Optional, Tuple

import numpy as np

from draftlab.audit.catch import answered_by
from draftlab.audit.faults import SamplerFault, Unavailable
from draftlab.audit.numbers import Random
from draftlab.audit.sampler import Sampler
from draftlab.audit.sampling import processed
from draftlab.audit.toys import Toy


MOST_OUTCOMES = 4096  # A law that is compared has no more outcomes than this.


def whole_length(sampler: Sampler, toy: Toy) -> int:
    """The most tokens that come out of an episode."""
    if toy.steps > 1:
        return toy.steps
    return (len(sampler.tree) if sampler.tree else toy.drafts) + 1


def length_of(sampler: Sampler, toy: Toy, outcomes: int = MOST_OUTCOMES) -> int:
    """The number of tokens that the compared law is about, the first ones."""
    most = max(1, int(math.log(outcomes) / math.log(toy.vocabulary) + 1e-9))
    return min(most, whole_length(sampler, toy))


def episode_of(sampler: Sampler, toy: Toy, length: Optional[int] = None) -> Callable:
    """One call of the sampler, or as many as a sequence of `toy.steps` tokens takes; it returns the
    first `length` tokens, or those that `length_of` says."""
    length = length or length_of(sampler, toy)
    call = _tree_call if sampler.tree else _chain_call

    def episode(random) -> Tuple[int, ...]:
        instance = sampler.subject() if sampler.is_class else None
        tokens: Tuple[int, ...] = ()
        with answered_by(random):
            handed = Random(random)
            while True:
                tokens += call(sampler, instance, toy, tokens, handed)
                if toy.steps == 1 or len(tokens) >= toy.steps:
                    return tokens[:length]

    return episode


def _chain_call(sampler, instance, toy, context, random):
    drafts: List[int] = []
    claimed: List[np.ndarray] = []
    for _ in range(toy.drafts):
        law = toy.draft(context + tuple(drafts))
        if sampler.drafts_itself:
            answer = guarded(instance.draft, (law.copy(), random), {})
            token, law = answer if isinstance(answer, tuple) else (answer, law)
            drafts.append(_token(token, toy.vocabulary, "drafted"))
        else:
            drafts.append(toy.draw_draft(context + tuple(drafts), random))
        claimed.append(law)
    contexts = [context + tuple(drafts[:i]) for i in range(toy.drafts + 1)]
    tokens = _verify(sampler, instance, toy, contexts, claimed, drafts, random, {})
    return _checked(tokens, toy.drafts + 1, toy.vocabulary)


def _tree_call(sampler, instance, toy, context, random):
    drafts: List[int] = []
    parents: List[int] = []
    claimed: List[np.ndarray] = []
    paths: List[Tuple[int, ...]] = [context]
    level = [-1]
    for counts in sampler.tree:
        below = []
        for place, parent in enumerate(level):
            children = counts[place] if isinstance(counts, tuple) else counts
            path = paths[parent + 1]
            for law, token in _siblings(toy.draft(path), children, sampler.siblings, random):
                below.append(len(drafts))
                drafts.append(token)
                parents.append(parent)
                claimed.append(law)
                paths.append(path + (token,))
        level = below
    extra = {}
    if "parents" in sampler.extras:
        extra["parents"] = np.array(parents, dtype=np.int64)
    if "retrieve_indices" in sampler.extras:
        extra["retrieve_indices"] = retrieve_indices(parents)
    if sampler.tensors == "torch":
        extra = {name: _tensor(values) for name, values in extra.items()}
    tokens = _verify(sampler, instance, toy, paths, claimed, drafts, random, extra)
    return _checked(tokens, len(sampler.tree) + 1, toy.vocabulary)


def retrieve_indices(parents: List[int]) -> np.ndarray:
    """The paths of a tree from its root to each leaf, [leaves, longest path], padded with -1; the
    root, which is the context, is 0, and node i is i + 1."""
    paths = []
    for leaf in [i for i in range(len(parents)) if i not in parents] or [-1]:
        path = [leaf + 1]
        while path[0]:
            path.insert(0, parents[path[0] - 1] + 1)
        paths.append(path)
    longest = max(map(len, paths))
    return np.array([path + [-1] * (longest - len(path)) for path in paths], dtype=np.int64)


def _siblings(law, count, how, random):
    """(the law that it was drawn from, token) of each child of a node."""
    made = []
    best = np.argsort(-law, kind="stable")
    if how == "top":
        return [(_certain(len(law), token), int(token)) for token in best[:count]]
    if how == "greedy":
        sure = best[: count - 1]
        rest = law.copy()
        rest[sure] = 0
        if rest.sum() > 0:
            rest /= rest.sum()
            made.append((rest, random.draw(rest)))
        return made + [(_certain(len(law), token), int(token)) for token in sure]
    left = law.copy()
    for _ in range(count):
        if left.sum() <= 0:
            break
        left = left / left.sum()
        token = random.draw(left)
        made.append((left, token))
        if how == "without":
            left = left.copy()
            left[token] = 0
    return made


def _certain(vocabulary, token):
    law = np.zeros(vocabulary)
    law[token] = 1.0
    return law


def _verify(sampler, instance, toy, contexts, claimed, drafts, random, extra):
    known = None if sampler.drafts_itself else (tuple(contexts), tuple(drafts), sampler.takes)
    if known is None:
        target, drawn_from = _arrays(sampler, toy, contexts, claimed)
    else:
        if known not in toy.cache:
            toy.cache[known] = _arrays(sampler, toy, contexts, claimed)
        target, drawn_from = (values.copy() for values in toy.cache[known])
    tokens = np.array(drafts, dtype=np.int64)
    if sampler.tensors == "torch":
        target, drawn_from, tokens = (_tensor(values) for values in (target, drawn_from, tokens))
    if "sampling" in sampler.extras:
        extra["sampling"] = toy.owed
    arguments: Tuple = (target, drawn_from, tokens)
    if sampler.by_position:
        arguments += (random,)
    elif sampler.asks:
        extra["random"] = random
    if len(sampler.rows) > 1:
        extra.update(row=toy.row, greedy=toy.sampling.temperature == 0)
    return guarded(instance.verify if instance is not None else sampler.subject, arguments, extra)


def _arrays(sampler, toy, contexts, claimed):
    """(target, drawn_from) as the sampler takes them."""
    if sampler.takes == "logits":
        with np.errstate(divide="ignore"):
            if toy.precision != "float64":
                rows = [np.log(toy.target(context)) for context in contexts]
            else:
                rows = [toy.target_logits(context) for context in contexts]
            if "sampling" not in sampler.extras:
                rows = [processed(row, toy.owed) for row in rows]
            target = np.array(rows)
            drawn_from = np.log(np.array(claimed)) if claimed else np.empty((0, toy.vocabulary))
    else:
        law = toy.before_greedy if sampler.raw_greedy else toy.target
        target = np.array([law(context) for context in contexts])
        drawn_from = np.array(claimed) if claimed else np.empty((0, toy.vocabulary))
    if toy.precision == "bf16":
        target, drawn_from = target.astype(np.float32), drawn_from.astype(np.float32)
    return target, drawn_from


def _tensor(values):
    try:
        import torch
    except ImportError as missing:
        raise Unavailable("this sampler takes torch tensors, and torch is not installed") \
            from missing
    return torch.from_numpy(values)


def guarded(function, arguments, extra):
    """Calls the sampler; what it throws is a fault of its own, with the line that threw it."""
    Heart.silent = 0
    try:
        return function(*arguments, **extra)
    except _Ended as ended:
        raise SamplerFault("hang", str(ended)) from None
    except (SamplerFault, Unavailable):
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
        raise SamplerFault("exception", f"{type(error).__name__}: {error} ({where})") from error
    finally:
        Heart.silent = None


def _token(value, vocabulary: int, verb: str) -> int:
    if isinstance(value, float) and not value.is_integer():
        kind = "not a number" if math.isnan(value) else "not a token"
        raise SamplerFault(kind, f"{verb} {value}, which is no token")
    try:
        token = int(value)
    except (TypeError, ValueError) as error:
        raise SamplerFault("not a token", f"{verb} {value!r}, which is no token") from error
    if token < 0:
        raise SamplerFault("negative", f"{verb} the token {token}")
    if token >= vocabulary:
        raise SamplerFault("out of range", f"{verb} the token {token} of {vocabulary}")
    return token


def _checked(tokens, most: int, vocabulary: int) -> Tuple[int, ...]:
    if tokens is None:
        raise SamplerFault("wrong length", "returned None instead of tokens")
    values = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if not 1 <= len(values) <= most:
        raise SamplerFault("wrong length",
                           f"returned {len(values)} tokens, where 1 to {most} are possible")
    return tuple(_token(value, vocabulary, "returned") for value in values)


class _Ended(BaseException):
    """Thrown into a call that does not return; no `except Exception` of a sampler holds it."""


class Heart:
    """Ends a call that does not return. It works in the main thread, where signals arrive.

    A call is ended after ten ticks within it: a process that was stopped or starved sees few.
    """

    silent: Optional[int] = None  # The ticks of the present call; None between calls.
    _TICKS = 10

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __enter__(self):
        self.works = threading.current_thread() is threading.main_thread()
        if self.works:
            every = self.seconds / Heart._TICKS
            self.before = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, every, every)
        return self

    def _tick(self, *_):
        if Heart.silent is None:
            return
        Heart.silent += 1
        if Heart.silent >= Heart._TICKS:
            raise _Ended(f"a call did not return within {self.seconds:g} s")

    def __exit__(self, *_):
        if self.works:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
