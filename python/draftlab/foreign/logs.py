"""Reads what servers log of speculation: sums over the requests or the seconds since the last line.

vLLM: vllm-project/vllm, vllm/v1/spec_decode/metrics.py at 016a8587, "SpecDecoding metrics: Mean
acceptance length: ...", a line every few seconds, of all requests. The rate is accepted / drafted.

SGLang: sgl-project/sglang, python/sglang/srt/observability/scheduler_metrics_mixin.py at 00eef542,
"Decode batch, #running-req: ..., accept len: ..., accept rate: ..., gen throughput (token/s): ...",
a line every few steps, of all requests. The length counts the bonus token, and so does this rate,
which other versions define otherwise.

llama.cpp: ggml-org/llama.cpp, tools/server/server-context.cpp, "draft acceptance rate = ..." at
fb402660 and "draft acceptance = ..., mean len = ..." at 001d906a, of one request, below the times
of its prompt and of its tokens. The rate is accepted / drafted.
"""

import re
from typing import Callable, Dict, List, Optional, Tuple

from draftlab.foreign.records import Source
from draftlab.foreign.summaries import Summary

_N = r"(\d+(?:\.\d+)?|nan)"
_VLLM = re.compile(
    rf"SpecDecoding metrics: Mean acceptance length: {_N}, Accepted throughput: {_N} tokens/s, "
    rf"Drafted throughput: {_N} tokens/s, Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    rf"Per-position acceptance rate: ([\d., ]*), Avg Draft acceptance rate: {_N}%")
_SGLANG = re.compile(
    rf"Decode batch\b.*?#running-req: (\d+),.*? accept len: {_N}, (?:accept rate: {_N}, )?"
    rf".*?gen throughput \(token/s\): {_N}")
_LLAMA = re.compile(
    rf"draft acceptance(?: rate)? = {_N} \(\s*(\d+) accepted /\s*(\d+) generated\)"
    rf"(?:, mean len =\s*{_N})?")
_LLAMA_TASK = re.compile(r"print_timing: id\s+-?\d+ \| task (\d+) \|")
_LLAMA_TIMES = re.compile(
    rf"(?<!prompt) eval time =\s*{_N} ms /\s*(\d+) tokens \(.*?,\s*{_N} tokens per second\)")
# What begins a line of each of them; a line that goes on otherwise is of a version not known here.
_BEGINS = {"vLLM": "SpecDecoding metrics:", "SGLang": "accept len:",
           "llama.cpp": "draft acceptance"}


def _real(text: Optional[str], scale: float = 1) -> Optional[float]:
    return None if text is None or text == "nan" else round(float(text) / scale, 9)


def _of_vllm(line: int, text: str) -> Optional[Summary]:
    found = _VLLM.search(text)
    if not found:
        return None
    depths = [float(word) for word in found.group(6).replace(",", " ").split()]
    return Summary(line, draft_length=len(depths), drafted_tokens=int(found.group(5)),
                   accepted_tokens=int(found.group(4)), mean_length=_real(found.group(1)),
                   acceptance_rate=_real(found.group(7), 100), accepted_by_depth=depths)


def _of_sglang(line: int, text: str) -> Optional[Summary]:
    found = _SGLANG.search(text)
    if not found:
        return None
    return Summary(line, running_requests=int(found.group(1)), mean_length=_real(found.group(2)),
                   acceptance_rate=_real(found.group(3)), tokens_per_second=_real(found.group(4)))


class _OfLlama:
    """A request's numbers stand on several lines, of which the first ones name it and its times."""

    def __init__(self) -> None:
        self.task: Optional[str] = None
        self.times: Optional[Tuple[int, float]] = None

    def __call__(self, line: int, text: str) -> Optional[Summary]:
        task, times = _LLAMA_TASK.search(text), _LLAMA_TIMES.search(text)
        if task:
            self.times = self.times if task.group(1) == self.task else None
            self.task = task.group(1)
        if times:
            self.times = (int(times.group(2)), float(times.group(3)))
        found = _LLAMA.search(text)
        if not found:
            return None
        generated, speed = self.times or (None, None)
        row = Summary(line, request=self.task, drafted_tokens=int(found.group(3)),
                      accepted_tokens=int(found.group(2)), generated_tokens=generated,
                      mean_length=_real(found.group(4)), acceptance_rate=_real(found.group(1)),
                      tokens_per_second=speed)
        self.task = self.times = None
        return row


def read_log(source: Source, lines: List[Tuple[int, str]]) -> List[Summary]:
    """The lines that say something of speculation, all of one server; none: this is no such log."""
    readers: Dict[str, Callable[[int, str], Optional[Summary]]] = {
        "vLLM": _of_vllm, "SGLang": _of_sglang, "llama.cpp": _OfLlama()}
    rows: Dict[str, List[Summary]] = {}
    for line, text in lines:
        for server, reader in readers.items():
            row = reader(line, text)
            if row is None and _BEGINS[server] in text:
                raise source.fail(line, f"'{_BEGINS[server]}' stands here and not as {server} is "
                                        "known to go on (docs/IMPORT.md)")
            if row is not None:
                rows.setdefault(server, []).append(row)
    if len(rows) > 1:
        servers = list(rows)
        raise source.fail(rows[servers[1]][0].line, f"this line is of {servers[1]} and line "
                                                    f"{rows[servers[0]][0].line} of {servers[0]}")
    for server, found in rows.items():
        source.format = f"{server}'s log"
        return found
    return []
