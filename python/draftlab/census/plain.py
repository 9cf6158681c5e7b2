"""A plain Monte Carlo of a biased finding, as a script that needs nothing of draftlab but itself.

It draws drafts, calls their function as the adapter does, and counts one event. The script is
printed with the finding, and what the census reports of it is what the script printed.
"""

import inspect
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from draftlab.census import theirs
from draftlab.census.rows import Row

_Z = 4.4  # An interval of these standard errors misses with probability 1e-5.
_FEWEST, _MOST = 4_000, 60_000
_SECONDS = 240

_LOOP = '''
# LAWS has, for each context of tokens: what the function is given, the law owed, the draft's law.
LAWS = {laws}
SAMPLING = types.SimpleNamespace(**{sampling})
random_state = numpy.random.default_rng({seed})
for library in (random, numpy.random):
    library.seed({seed})
torch.manual_seed({seed})


def draw(law):
    return int(random_state.choice(len(law), p=law))


hits = 0
for _ in range({draws}):
    drafts = []
    theirs = verify() if isinstance(verify, type) else None  # A class lives as long as a text.
    for _ in range({drafts}):
        law = LAWS[tuple(drafts)][2]
        drafts.append(theirs.draft(torch.tensor(law), None)[0] if hasattr(theirs, "draft")
                      else draw(law))
    contexts = [tuple(drafts[:i]) for i in range({drafts} + 1)]
    given = torch.tensor([LAWS[one][0] for one in contexts], dtype=torch.float64)
    drawn_from = torch.tensor([LAWS[one][2] for one in contexts[:-1]], dtype=torch.float64)
    call = theirs.verify if theirs else verify
    tokens = list(call(given, {drawn_from}, torch.tensor(drafts){more}))
    while len(tokens) < {length}:
        tokens.append(draw(LAWS[tuple(tokens)][1]))
    hits += tokens[:{length}] == {event}
print(hits)
'''


def script(row: Row, found: Any, draws: int, seed: int = 1) -> str:
    """The text of the script; its arguments are the files of `row.code`, in their order."""
    source = inspect.getsource(row.adapter)
    adapter = source[source.index("def ") :]
    event = list(found.event.tokens)
    loop = _LOOP.format(
        laws=_laws(row, found.toy, len(event)), draws=draws, drafts=found.toy.drafts, seed=seed,
        sampling=_sampling(found.toy), length=len(event), event=event,
        drawn_from="drawn_from.log()" if row.takes == "logits" else "drawn_from",
        more=", SAMPLING" if "sampling" in adapter.split("verify(", 1)[1].split(")")[0] else "")
    head = [f"# {row.function} of {row.repository} at {row.commit}, {draws} draws.",
            f"# Usage: python3 SCRIPT {' '.join(code.path for code in row.code)}"]
    return "\n".join([*head, inspect.getsource(theirs), "import sys", "", "import numpy",
                      "import torch", "", adapter,
                      _CODES.format(codes=repr(list(row.code)))]) + loop


_CODES = '''CODES = {codes}
definitions = [node for path, code in zip(sys.argv[1:], CODES)
               for node in parts(open(path, encoding="utf-8").read(), code)]
verify = ADAPTER(loaded(definitions, [name for code in CODES for name in code.needs]))
'''


def _sampling(toy: Any) -> Dict[str, Any]:
    return {name: getattr(toy.owed, name)
            for name in ("temperature", "top_k", "top_p", "min_p", "logit_bias")}


def _laws(row: Row, toy: Any, length: int) -> str:
    """The laws of all contexts that may come up."""
    contexts: List[Tuple[int, ...]] = [()]
    for _ in range(max(toy.drafts, length - 1)):
        contexts += [c + (t,) for c in contexts if len(c) == len(contexts[-1])
                     for t in range(toy.vocabulary)]
    lines = []
    for context in dict.fromkeys(contexts):
        owed = toy.target(context)
        with np.errstate(divide="ignore"):
            given = owed if row.takes != "logits" else np.log(owed)
        if row.takes == "logits" and not toy.owed.plain:
            given = toy.target_logits(context)
        lines.append(f"    {context!r}: ({_list(given)}, {_list(owed)}, "
                     f"{_list(toy.draft(context))}),")
    return "{\n" + "\n".join(lines) + "\n}"


def _list(values: Sequence[float]) -> str:
    return json.dumps([float(v) for v in values]).replace("-Infinity", "-math.inf")


def confirm(row: Row, texts: Sequence[str], found: Any) -> Dict[str, Any]:
    """Runs the script in a process of its own; the interval has to miss the law owed and to hold
    what the audit found. A run that fails or takes too long is said in its place."""
    gap = abs(found.event.found - found.event.target)
    chance = found.event.found
    wanted = int((2.5 * _Z / max(gap, 1e-3)) ** 2 * max(chance * (1 - chance), 0.01))
    draws = min(_MOST, max(_FEWEST, wanted))
    text = script(row, found, draws).replace("ADAPTER(", f"{row.adapter.__name__}(")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, content in enumerate(texts):
            paths.append(str(Path(folder, f"{number}.py")))
            Path(paths[-1]).write_text(content, encoding="utf-8")
        try:
            run = subprocess.run([sys.executable, "-I", "-c", text, *paths], capture_output=True,
                                 text=True, check=False, timeout=_SECONDS, cwd=folder)
            counted = interval(int(run.stdout), draws, found.event)
        except subprocess.TimeoutExpired:
            counted = _failed(f"{draws:,} draws took more than {_SECONDS:g} s")
        except ValueError:
            said = (run.stderr or run.stdout).strip().splitlines() or ["it printed no number"]
            counted = _failed(f"it ended with status {run.returncode}: {said[-1][:400]}")
    return {"plain": counted, "script": text}


def _failed(why: str) -> Dict[str, Any]:
    return {"agrees": False, "failed": why}


def interval(hits: int, draws: int, event: Any) -> Dict[str, Any]:
    """Wilson's interval of the event's probability, and whether it agrees with the audit."""
    share, z = hits / draws, _Z
    middle = (share + z * z / (2 * draws)) / (1 + z * z / draws)
    half = z / (1 + z * z / draws) * math.sqrt(share * (1 - share) / draws
                                               + z * z / (4 * draws * draws))
    low, high = middle - half, middle + half
    return {"draws": draws, "hits": hits, "share": share, "low": low, "high": high,
            "agrees": not low <= event.target <= high and low <= event.found <= high}
