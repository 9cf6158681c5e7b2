"""The census as text, JSON, a table in Markdown, and drafts of reports for maintainers."""

from typing import Any, Dict, List

_HEAD = ("| sampler | repository, commit | function | claim | verdict | TV | smallest "
         "counterexample | controls caught | s | not covered |\n|---|---|---|---|---|---|---|---|"
         "---|---|")


def verdict_text(result: Dict[str, Any]) -> str:
    """Two lines in one: the rule, and what the arithmetic adds."""
    if result["verdict"] == "missing":
        return f"missing: {result['missing']}"
    text = result["verdict"]
    if result["verdict"] == "exact":
        text += f" on {result['walked']} laws"
        if result["drawn"]:
            text += f", {result['drawn']} drawn (TV {result['detectable']:.2g} would show)"
        if result["unseen"]:
            text += f", {result['unseen']} not looked at"
    if result["verdict"] == "crashes":
        text += f": {result['fault']}"
    if result["forbidden"]:
        text += f"; arithmetic: a forbidden token passes, {result['forbidden']:.2g}"
    return text


def to_text(result: Dict[str, Any]) -> str:
    """A row for the terminal."""
    lines = [f"{result['name']}: {verdict_text(result)}"]
    if result["verdict"] == "missing":
        return lines[0]
    lines.append(f"  source    {result['repository']} {result['commit'][:12]} "
                 f"{result['paths'][0]}, {result['function']}; {result['claim']}")
    if "case" in result:
        lines.append(f"  case      {_case(result)}")
        lines.append(f"  plain     {plain_text(result)}")
    for name, place, verdict in result["controls"]:
        lines.append(f"  control   {name} ({place}): {verdict}")
    if not result["as_expected"]:
        lines.append(f"  differs   this commit was known as {result['expected']}, its controls as "
                     "caught, and its plain Monte Carlo as agreeing")
    lines.append(f"  not seen  {result['not_covered']}")
    lines.append(f"  seconds   {result['seconds']}")
    return "\n".join(lines)


def plain_text(result: Dict[str, Any]) -> str:
    """What the Monte Carlo counted."""
    plain = result["plain"]
    return (f"{plain['hits']:,} of {plain['draws']:,} draws, {plain['share']:.4f} in "
            f"[{plain['low']:.4f}, {plain['high']:.4f}]; "
            + ("it agrees" if plain["agrees"] else "it does not agree"))


def _case(result: Dict[str, Any]) -> str:
    case = result["case"]
    return (f"V {case['vocabulary']}, k {case['drafts']}, {case['laws']}: {case['event']}, "
            f"TV {case['tv']:.4g}")


def to_markdown(results: List[Dict[str, Any]]) -> str:
    """The table of docs/results/census.md."""
    lines = [_HEAD]
    for result in results:
        caught = sum(verdict == "biased" for _, _, verdict in result.get("controls", []))
        controls = result.get("controls", [])
        cells = [f"`{result['name']}`", f"{result['repository']} `{result['commit'][:7]}`",
                 f"`{result['function']}` in `{result['paths'][0]}`", result["claim"],
                 verdict_text(result), f"{result['tv']:.3g}" if result.get("tv") else "",
                 _case(result) if "case" in result else "",
                 f"{caught} of {len(controls)}" if controls else "",
                 str(result.get("seconds", "")), result["not_covered"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def seeds_text(result: Dict[str, Any]) -> str:
    """A row that was judged with several seeds."""
    if "missing" in result:
        return f"{result['name']}: missing: {result['missing']}"
    return (f"{result['name']}: {_counted(result)}, {result['expected']} expected; "
            f"{result['walked']} laws walked, {result['drawn']} drawn, largest TV "
            f"{result['tv']:.3g}, {result['seconds']} s")


def seeds_markdown(results: List[Dict[str, Any]]) -> str:
    """The table of seeds of docs/results/census.md."""
    lines = ["| sampler | expected | found, seeds | laws walked | laws drawn | largest TV | s |\n"
             "|---|---|---|---|---|---|---|"]
    for result in results:
        if "missing" in result:
            lines.append(f"| `{result['name']}` | {result['expected']} | missing | | | | |")
            continue
        lines.append(f"| `{result['name']}` | {result['expected']} | {_counted(result)} | "
                     f"{result['walked']} | {result['drawn']} | {result['tv']:.3g} | "
                     f"{result['seconds']} |")
    return "\n".join(lines)


def _counted(result: Dict[str, Any]) -> str:
    return ", ".join(f"{verdict} {count}" for verdict, count in result["verdicts"].items())


def to_report(result: Dict[str, Any]) -> str:
    """A draft of a report for the maintainers of what is biased."""
    case = result["case"]
    url = f"https://github.com/{result['repository']}"
    return f"""# Draft of a report: {result['name']}

To the maintainers of {url}. This draft was not sent.

While checking public samplers against the law that they are meant to keep, we found a case in
`{result['function']}` (`{result['paths'][0]}`, commit `{result['commit']}`) in which the tokens do
not follow it.

**The case.** {case['vocabulary']} tokens, {case['drafts']} drafts, with these laws at the empty
context (p the target's, q the draft's): {case['laws']}. {case['event']}; the total variation to the
target's law is {case['tv']:.4g}.

**Why, as far as we can see.** {result['because']}

**An independent count.** Without our tool: {plain_text(result)} (the interval has 4.4 standard
errors). `draftlab census {result['name']} --sources DIR --format script` prints the script, which
needs numpy, torch and the file named above.

**What was not looked at:** {result['not_covered']}.

We may have misunderstood how the function is called; if so, we would be glad to learn it.
"""
