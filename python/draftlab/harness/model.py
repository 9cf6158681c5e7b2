"""The model `draftlab` of lm-evaluation-harness: three kinds of requests, answered by a config."""

import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from draftlab import commands, parts
from draftlab.harness import asked, tokens
from draftlab.values import Prompt

# How the config calls what requests for a text may set.
_SHAPES = {"temperature": "decode.temperature", "top_p": "decode.top_p", "top_k": "decode.top_k"}
_RUN = ("device", "dtype", "threads", "seed")
# The least probability that a trace holds: a column of 32 bits.
_LEAST = float(np.finfo(np.float32).smallest_subnormal)


@register_model("draftlab")
class Draftlab(LM):
    """Answers by the decoder of a config.

    `config`: its file. `arm`: the cell that decodes, where it has several. `max_gen_toks`: how many
    tokens are generated where a request does not say it. `max_length`: the longest sequence in
    tokens; contexts lose their beginning and documents are scored in windows; 0: whatever is asked.
    `canvas`: positions of the canvas on which likelihoods are taken, for models that want a fixed
    number; 0: as many as there are tokens.
    `begin`: whether texts begin with the tokenizer's token for that. `plugin`: files of parts,
    separated by `;`. Others set keys of the config: `decode.block_size=8`.
    """

    def __init__(self, config: str, arm: str = "", batch_size: Any = 1,
                 max_batch_size: Any = None, max_gen_toks: int = 256, max_length: int = 0,
                 canvas: int = 0, begin: bool = True, plugin: str = "", **keys: Any) -> None:
        super().__init__()
        if not str(batch_size).isdigit() or int(batch_size) < 1:
            raise parts.ConfigError(f"batch_size = {batch_size} is no number of sequences that "
                                    "draftlab decodes side by side; give one from 1 on")
        self.config, self.max_gen_toks, self.max_length = config, max_gen_toks, max_length
        self.begin, self.canvas = begin, canvas
        self._settings: List[Tuple[str, Any]] = [("run.batch", int(batch_size))]
        self._settings += [("arm", arm)] if arm else []
        self._settings += [("plugin", file) for file in plugin.split(";") if file]
        for key, value in keys.items():
            if value is not None:
                self._settings.append((f"run.{key}" if key in _RUN else self._known(key), value))
        self._check()

    @staticmethod
    def _known(key: str) -> str:
        if "." not in key and key not in ("model", "frontier", "drafter", "verifier", "acceptance",
                                          "router", "estimator", "unmasker"):
            raise parts.ConfigError(f"model_args has '{key}', which is neither an argument of the "
                                    "model draftlab nor a key of a config (SECTION.KEY)")
        return key

    def _check(self) -> None:
        """The config is sound, and one cell of it decodes."""
        words = ["check", self.config]
        for key, value in self._settings:
            words += [f"--{key}", commands.text_of(value)]
        found = re.search(r": (\d+) cells?", commands.call(words, show=False))
        if found and int(found[1]) != 1:
            raise parts.ConfigError(f"{self.config} has {found[1]} cells, and one is evaluated; "
                                    "name it with arm=, or give the keys in which they "
                                    "differ, in model_args")

    # texts

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> List[str]:
        """The text that the config's decoder generates behind each context, up to the first of the
        request's `until`."""
        wanted = [_Wanted(request.args, self.max_gen_toks) for request in requests]
        texts: List[str] = [""] * len(wanted)
        for shape in sorted({each.shape for each in wanted}):
            chosen = [i for i, each in enumerate(wanted) if each.shape == shape]
            for i, text in zip(chosen, self._generate([wanted[i] for i in chosen], shape)):
                texts[i] = wanted[i].until_stop(text)
        return texts

    def _generate(self, wanted: Sequence["_Wanted"], shape: Sequence[Tuple[str, Any]]) -> List[str]:
        texts = [each.context for each in wanted]

        def make(said: Any) -> List[Prompt]:
            made = []
            for i, known in enumerate(tokens.encode(said, texts)):
                if said.begin >= 0 and self.begin or not known:
                    known = tokens.first_token(said, self.begin) + known
                room = self.max_length - wanted[i].longest if self.max_length else len(known)
                if room < 0:
                    raise parts.ConfigError(f"max_gen_toks = {wanted[i].longest} is more than "
                                            f"max_length = {self.max_length}")
                known = known[len(known) - min(room, len(known)):]
                made.append(Prompt(f"text-{i}", len(known) + wanted[i].longest,
                                   list(enumerate(known)), offset=len(known), ends=said.ends))
            return made

        batch = asked.Batch(texts, make)
        return list(asked.decode(self.config, [*self._settings, *shape], batch)["sample_text"])

    # likelihoods

    def loglikelihood(self, requests: Sequence[Any],
                      disable_tqdm: bool = False) -> List[Tuple[float, bool]]:
        """Of each continuation behind its context, and whether each of its tokens is the target's
        most probable one."""
        pairs = [tokens.texts_of(*request.args) for request in requests]
        texts = [text for pair in pairs for text in pair]

        def make(said: Any) -> List[List[tokens.Scored]]:
            known = tokens.encode(said, texts)
            made = []
            for i, (context, whole) in enumerate(zip(known[::2], known[1::2])):
                first = tokens.first_token(said, self.begin)
                if context and (said.begin < 0 or not self.begin):
                    first = []
                scored = tokens.split(whole, len(context), pairs[i][1])
                scored.context = first + scored.context
                made.append([tokens.cut(scored, self.max_length)])
            return made

        return self._score(texts, len(pairs), make)

    def loglikelihood_rolling(self, requests: Sequence[Any],
                              disable_tqdm: bool = False) -> List[float]:
        """Of each whole document, behind the token that begins a text."""
        texts = [request.args[0] for request in requests]

        def make(said: Any) -> List[List[tokens.Scored]]:
            first = tokens.first_token(said, self.begin)
            return [tokens.windows(first, known, self.max_length)
                    for known in tokens.encode(said, texts)]

        return [total for total, _ in self._score(texts, len(texts), make)]

    def _score(self, texts: Sequence[str], count: int, make: Any) -> List[Tuple[float, bool]]:
        """What `make` tells apart of each request is a prompt with one choice, so its cost is one
        evaluation; the choice is what the trace says to have been judged."""
        totals, greedy = np.zeros(count), np.ones(count, bool)
        owners: List[int] = []  # The request of each prompt.

        def prompts(said: Any) -> List[Prompt]:
            made = make(said)
            owners[:] = np.repeat(np.arange(count), [len(parts) for parts in made])
            return [self._to_score(f"text-{i}", part)
                    for i, part in enumerate(part for parts in made for part in parts)]

        if count:
            batch = asked.Batch(texts, prompts)
            columns = asked.decode(self.config, self._settings, batch)
            for owner, (total, best) in zip(owners, _judged(columns)):
                totals[owner] += total
                greedy[owner] &= best
        return list(zip(totals.tolist(), greedy.tolist()))

    def _to_score(self, name: str, part: tokens.Scored) -> Prompt:
        """A prompt whose one choice is the continuation."""
        known = len(part.context)
        return Prompt(name, max(known + len(part.continuation), self.canvas),
                      list(enumerate(part.context)), offset=known, choices=[part.continuation])


def _judged(columns: Dict[str, Any]) -> List[Tuple[float, bool]]:
    """Of each sample the log-likelihood of its drafts, and whether each is the most probable."""
    rows = []
    for step in columns["sample_first_step"]:
        first = int(columns["step_first_draft"][step])
        drafts = slice(first, first + int(columns["step_n_drafts"][step]))
        p = np.maximum(columns["draft_p"][drafts].astype(np.float64), _LEAST)
        best = columns["draft_top_id1"][drafts] == columns["draft_id"][drafts]
        rows.append((float(np.log(p).sum()), bool(best.all())))
    return rows


class _Wanted:
    """One request for a text: its context, how many tokens at most, what ends it, and the keys of
    the config (`shape`) that it sets."""

    def __init__(self, args: Tuple[str, Dict[str, Any]], longest: int) -> None:
        context, rest = args[0], dict(args[1])
        until: Optional[Any] = rest.pop("until", None)
        self.context = context
        self.until: List[str] = [until] if isinstance(until, str) else list(until or [])
        self.longest = int(rest.pop("max_gen_toks", longest))
        if self.longest < 1:
            raise parts.ConfigError(f"a request has max_gen_toks = {self.longest}, and a text has "
                                    "at least one token")
        sample = rest.pop("do_sample", None)
        if sample is False:
            rest["temperature"] = 0
        shape = [(_SHAPES[key], value) for key, value in rest.items() if key in _SHAPES]
        self.shape = tuple(sorted(shape))
        for key in rest:
            if key not in _SHAPES:
                raise parts.ConfigError(f"a request sets '{key}', which no part of the config "
                                        f"reads; it may set until, max_gen_toks, do_sample, "
                                        f"{', '.join(_SHAPES)}")

    def until_stop(self, text: str) -> str:
        found = [text.find(stop) for stop in self.until if stop and stop in text]
        return text[:min(found)] if found else text
