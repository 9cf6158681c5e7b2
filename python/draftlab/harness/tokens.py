"""From texts to the tokens that a model is asked about: where a continuation begins, and windows of
a text that is longer than the model reads."""

from dataclasses import dataclass
from typing import List, Sequence, Tuple

from draftlab.tasks import Encoded


class NoTokens(ValueError):
    """A text cannot be what is asked: its message says why."""


@dataclass
class Scored:
    """The tokens of a `continuation`, whose likelihood behind those of `context` is wanted."""

    context: List[int]
    continuation: List[int]


def texts_of(context: str, continuation: str) -> Tuple[str, str]:
    """The two texts to be encoded, the context and both together. Blanks at the end of the context
    belong to the continuation, for tokens begin with the blank before a word."""
    kept = context.rstrip()
    return kept, kept + context[len(kept):] + continuation


def encode(said: Encoded, texts: Sequence[str]) -> List[List[int]]:
    """The tokens of each text; where the model has no text, a text is a list of token ids."""
    if said.tokens is not None:
        return said.tokens
    try:
        return [[int(word) for word in text.split()] for text in texts]
    except ValueError as error:
        raise NoTokens("the model has no tokenizer, so a text is token ids with blanks between "
                       f"them: {error}") from error


def first_token(said: Encoded, begin: bool) -> List[int]:
    """What stands before a text, and with nothing else what a text is conditioned on: the token
    that begins a text, or else the one that stands between documents."""
    if begin and said.begin >= 0:
        return [said.begin]
    return [said.separator] if said.separator >= 0 else []


def split(whole: Sequence[int], before: int, text: str) -> Scored:
    """Cuts the tokens of context and continuation after those of the context alone."""
    if before >= len(whole):
        raise NoTokens(f"the continuation of '{text[-60:]}' adds no token to its context")
    return Scored(list(whole[:before]), list(whole[before:]))


def cut(scored: Scored, longest: int) -> Scored:
    """Leaves out the beginning of a context that does not fit; 0: any length fits."""
    if longest == 0 or len(scored.context) + len(scored.continuation) <= longest:
        return scored
    room = longest - len(scored.continuation)
    if room < 0:
        raise NoTokens(f"a continuation of {len(scored.continuation)} tokens is longer than "
                       f"max_length = {longest}")
    return Scored(scored.context[len(scored.context) - room:], scored.continuation)


def windows(first: Sequence[int], tokens: Sequence[int], longest: int) -> List[Scored]:
    """Every token of a text once: windows of `longest` tokens follow one another, each behind one
    token of context. The last one is as long as the others, so its context is longer."""
    before = len(first)
    whole = [*first, *tokens]
    if longest == 0 or len(whole) <= longest:
        return [Scored(list(first), list(tokens))] if tokens else []
    made, at = [], before
    while at < len(whole):
        end = min(len(whole), max(at, 1) + longest - 1)
        begin = max(0, end - longest)
        made.append(Scored(whole[begin:at], whole[at:end]))
        at = end
    return made
